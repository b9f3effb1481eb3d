"""The grammar of all time rules, and parsing a text with it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from typing import NamedTuple

from recollect.text.dates.holiday_names import WordTest, indicates_holiday
from recollect.text.dates.rules import (
    rules_of_clocks,
    rules_of_days,
    rules_of_feasts,
    rules_of_numbers,
    rules_of_offsets,
    rules_of_periods,
    rules_of_recurrence,
    rules_of_spans,
    rules_of_weekdays,
)
from recollect.text.dates.time_conditions import CONDITIONS
from recollect.text.dates.time_values import Now, When
from recollect.text.declared_rules import Grammar, Lexeme, Match, Reading, Rule, lexemes
from recollect.text.lexicon import word_set
from recollect.text.recent_texts import cached_for_short
from recollect.text.tokenizer import Tokens, tokenise

_MODULES = (
    rules_of_numbers,
    rules_of_days,
    rules_of_weekdays,
    rules_of_periods,
    rules_of_offsets,
    rules_of_clocks,
    rules_of_feasts,
    rules_of_recurrence,
    rules_of_spans,
)
#: The kinds whose longest matches are returned; a match of "none" suppresses those inside it.
_WANTED = frozenset({"day", "again", "none"})
#: Every expression contains a word of one of these classes.
_TRIGGERING = (
    "month", "weekday", "weekdays", "near", "unit", "number", "tens", "ordinal", "season",
    "daypart", "adverb", "times",
)  # fmt: skip
_TRIGGERS = word_set("weekend midnight noon midday ides eod eow eom eoy bom boy half")
_LIGHT = word_set("one second sec may am")
#: Triggers that count only if the whole text has at most `_FEW` tokens.
_ALONE, _FEW = word_set("now moment time second sec lunch school afternoon morning evening"), 5
#: The tokens before and after a trigger that are parsed.
_BEFORE, _AFTER = 10, 14
_PART = re.compile(r"[a-z]+|\d")


def all_rules() -> tuple[Rule, ...]:
    """Return the declared rules."""
    return tuple(rule for module in _MODULES for rule in module.RULES)


_disabled: frozenset[str] = frozenset()


def disable_rules(ids: Iterable[str]) -> None:
    """Disable the rules with these ids in this process, and enable all others.

    Raises:
        ValueError: one of the ids belongs to no rule; the message suggests a similar id.
    """
    global _disabled
    wanted = frozenset(ids)
    if wanted:
        known = {rule.id for rule in all_rules()}
        for unknown in sorted(wanted - known):
            near = get_close_matches(unknown, known, 1)
            suggestion = f"; did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"there is no rule {unknown!r}{suggestion}")
    _disabled = wanted


@cache
def _grammar(disabled: frozenset[str]) -> Grammar:
    """Return the grammar of time, without some rules."""
    classes: dict[str, frozenset[str]] = {}
    for module in _MODULES:
        classes |= module.CLASSES
    terminals = {"feast": rules_of_feasts.feasts_at}
    return Grammar(all_rules(), classes=classes, conditions=CONDITIONS, terminals=terminals,
                   disabled=disabled)  # fmt: skip


def _is_trigger(lower: str) -> bool:
    parts = _PART.findall(lower)
    return any(part in _words() or part[0].isdigit() for part in parts) or indicates_holiday(lower)


@cache
def _words() -> frozenset[str]:
    found = set(_TRIGGERS)
    for module in _MODULES:
        for name in _TRIGGERING:
            found |= module.CLASSES.get(name, frozenset())
    return frozenset(found) - _LIGHT | {"may"}


_TRIGGER = WordTest(_is_trigger)


class Expression(NamedTuple):
    """A time expression in a text, with the value that the rules computed."""

    match: Match
    words: list[Lexeme]

    @property
    def when(self) -> When:
        """The meaning of the expression."""
        value: When = self.match.value
        return value

    @property
    def start(self) -> int:
        """The first character."""
        return self.words[self.match.left].start

    @property
    def end(self) -> int:
        """The character after the last."""
        return self.words[self.match.right - 1].end

    def day(self) -> Expression:
        """Return the day without its time: "Friday" for "Friday at ten"."""
        part = self._day_part()
        return self if part is None else Expression(part, self.words).day()

    def time(self) -> Expression | None:
        """Return the time without its day: "ten" for "Friday at ten"; None if there is no day."""
        day = self._day_part()
        others = [part for part in self.match.parts if part is not day]
        if day is None or day.value.clock is not None or not others:
            return None if day is None else Expression(day, self.words).time()
        left, right = min(part.left for part in others), max(part.right for part in others)
        return Expression(self.match._replace(left=left, right=right), self.words)

    def _day_part(self) -> Match | None:
        """Return the part of an expression that gives the day."""
        if self.when.clock is None or self.when.kind != "day":
            return None
        days = (part for part in self.match.parts if part.kind == "day")
        return next((part for part in days if part.value.kind == "day"), None)


def expressions(tokens: Tokens, now: Now) -> Sequence[Expression]:
    """Return the time expressions of a text, in order."""
    return _expressions(tokens.text, now.today, now.minute, _disabled)


@cached_for_short
def _expressions(
    text: str, today: int, minute: int, disabled: frozenset[str]
) -> Sequence[Expression]:
    tokens = tokenise(text)
    now = Now(today, minute, tokens)
    parsed: list[Expression] = []
    short = len(tokens.lowers) <= _FEW
    triggers = [
        index
        for index, lower in enumerate(tokens.lowers)
        if _TRIGGER[lower] or (short and lower in _ALONE)
    ]
    at = 0
    while at < len(triggers):
        first = last = triggers[at]
        while at < len(triggers) and triggers[at] <= last + _AFTER + _BEFORE:
            last = triggers[at]
            at += 1
        start = tokens.starts[max(first - _BEFORE, 0)]
        end = tokens.ends[min(last + _AFTER, len(tokens.ends) - 1)]
        # Punctuation after the last token counts too: "(Friday)".
        start = start if first > _BEFORE else 0
        words = lexemes(text, start, min(end + 3, len(text)))
        reading = Reading(_grammar(disabled), text, words, now)
        parsed += (Expression(match, words) for match in reading.best(_WANTED))
    return parsed
