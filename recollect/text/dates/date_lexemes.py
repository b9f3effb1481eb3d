"""What dates are read from: the words, marks and numbers of a text, and the parts of a date."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Literal, NamedTuple

from recollect.text.dates.calendar_days import Days
from recollect.text.lexicon import NUMBER_WORDS, ORDINALS, word_set
from recollect.text.recent_texts import cached_for_short

_LEXEME = re.compile(r"\d+|[^\W\d_]+(?:['’][^\W\d_]+)*|[^\w\s]")
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
RANGE_WORDS = word_set("to through thru till until untill -  – —")

#: "composed" of several parts; "counted" from today ("two weeks ago"); "plain": a day or a period
#: whose tense or year other rules may know better; "guarded": one that often means no certain days
#: ("Monday", "May", "last week"); "time": when on a day, not on which.
Kind = Literal["composed", "counted", "plain", "guarded", "time"]


class Part(NamedTuple):
    """A part of a date up to lexeme `right`.

    `grain` is how long it is: a unit, or "time" for a time of the day. `open` lacks the year or the
    week; `sure` needs no word before it.
    """

    right: int
    days: Days
    grain: str = "day"
    open: bool = False
    sure: bool = True
    kind: Kind = "composed"


class Lexeme(NamedTuple):
    start: int
    end: int
    lower: str
    spaced: bool  # white space stands before it


@cached_for_short
def lexemes_of(text: str) -> Sequence[Lexeme]:
    """Return the lexemes of a text, in order."""
    lexemes: list[Lexeme] = []
    end = 0
    for found in _LEXEME.finditer(text):
        start = found.start()
        lower = found[0].lower().replace("’", "'")
        lexemes.append(Lexeme(start, found.end(), lower, start > end))
        end = found.end()
    return lexemes


class DateLexemes:
    """The lexemes of a text that was written on day `today`, and the numbers among them."""

    def __init__(self, text: str, today: int) -> None:
        self._lexemes = lexemes_of(text)
        self._text = text
        self._today = today
        self._here = date.fromordinal(today)

    def _is(self, place: int, *words: str) -> bool:
        return 0 <= place < len(self._lexemes) and self._lexemes[place].lower in words

    def _lower(self, place: int) -> str:
        return self._lexemes[place].lower if 0 <= place < len(self._lexemes) else ""

    def _written(self, place: int) -> str:
        """Return a word with its capitals."""
        word = self._lexemes[place]
        return self._text[word.start : word.end]

    def _skip(self, place: int, *words: str) -> int:
        while self._is(place, *words):
            place += 1
        return place

    def _longest(self, place: int, *rules: Callable[[int], Part | None]) -> Part | None:
        best: Part | None = None
        for rule in rules:
            found = rule(place)
            if found is not None and (best is None or found.right > best.right):
                best = found
        return best

    # Numbers

    def _number(self, place: int) -> tuple[int, int] | None:
        """Read a count: 12, twelve, twenty-one, a couple of, a."""
        lower = self._lower(place)
        if (
            lower.isdecimal()
            and len(lower) <= 4
            and not self._is(place + 1, "th", "st", "nd", "rd")
        ):
            return place + 1, int(lower)
        if lower in TENS:
            unit = self._skip(place + 1, "-")
            if NUMBER_WORDS.get(self._lower(unit), 99) < 10:
                return unit + 1, TENS[lower] + NUMBER_WORDS[self._lower(unit)]
            return place + 1, TENS[lower]
        if lower in NUMBER_WORDS:
            return place + 1, NUMBER_WORDS[lower]
        if lower in ("a", "an", "the"):
            if self._is(place + 1, "couple", "pair"):
                return self._skip(place + 2, "of"), 2
            return (place + 1, 1) if lower != "the" else None
        if lower in ("couple", "pair"):
            return self._skip(place + 1, "of"), 2
        return None

    def _ordinal(self, place: int) -> tuple[int, int] | None:
        """Read 1st, first, twenty-first."""
        lower = self._lower(place)
        if lower.isdecimal() and len(lower) <= 2:
            after = place + 1
            if self._is(after, "th", "st", "nd", "rd") and not self._lexemes[after].spaced:
                return after + 1, int(lower)
            return None
        if lower in TENS:
            unit = self._skip(place + 1, "-")
            if 1 <= ORDINALS.get(self._lower(unit), 99) < 10:
                return unit + 1, TENS[lower] + ORDINALS[self._lower(unit)]
            return None
        return (place + 1, ORDINALS[lower]) if lower in ORDINALS else None

    def _day_number(self, place: int) -> tuple[int, int] | None:
        """Read the day of a month: 4, 4th, fourth."""
        found = self._ordinal(place) or self._number(place)
        if found is None or not 1 <= found[1] <= 31 or self._lower(place) in ("a", "an", "couple"):
            return None
        return found

    def _year_number(self, place: int, *, short: bool = False) -> tuple[int, int] | None:
        lower = self._lower(place)
        if short and lower == "'" and len(self._lower(place + 1)) == 2:
            place, lower = place + 1, self._lower(place + 1)
        if lower.isdecimal() and len(lower) == 4 and 1000 <= int(lower) < 2200:
            if self._is(place + 1, ":", "h"):
                return None
            return place + 1, int(lower)
        if (
            short
            and lower.isdecimal()
            and len(lower) == 2
            and not self._is(place + 1, ":", "h", "am", "pm", "a", "p", ".")
        ):
            return place + 1, (1900 if int(lower) > 60 else 2000) + int(lower)
        return None
