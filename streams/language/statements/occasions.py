"""On what occasion something is said: the subject of a mail, what a talk began with, a question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from recollect.streams.language.grammar.analysis import Statement
from recollect.streams.language.grammar.clauses import Span, after_lead_in
from recollect.streams.language.references.standing_alone import left_open
from recollect.streams.language.statements.plain_words import without_marks
from recollect.streams.language.worth.worth import count_words
from recollect.streams.language.worth.worth_words import LISTENER
from recollect.text.dates.found_dates import DateReference
from recollect.text.dates.resolved_dates import in_numbers, with_days
from recollect.text.lexicon import word_set
from recollect.text.sentences import sentences
from recollect.text.tokenizer import tokenise

#: So many sentences of a message may tell what it is about; so many of their words must tell.
_SENTENCES, _LEAST_TELLING = 4, 2
#: In words: a sentence, and a question with the sentence before it.
_LONGEST, _LONGEST_TWO = 26, 18
#: In characters: what is told, and the message that it is of.
_LONGEST_TOLD, _LONGEST_TEXT = 240, 2_000
#: Of fewer words a statement hardly tells enough by itself.
FEW_WORDS = 14
#: "Re: Fwd: AW: The roof"
_REPLIED = re.compile(r"\A(?:(?:re|fwd?|aw|wg|sv|tr|rv|antw)(?:\[\d+\])?:\s*)+", re.IGNORECASE)
_QUOTES = str.maketrans({'"': "'", "“": "'", "”": "'", "„": "'", "«": "'", "»": "'"})
#: What may mean a thing that was named before; at the beginning it does.
_POINTING = word_set("this that these those it its it's that's they they're them")
_QUOTED = r'"[^"]*"'
_ANSWERED = rf"Asked {_QUOTED}, [^\"]{{1,200}} answered"
_ASKED_AND_ANSWERED = re.compile(rf"\A{_ANSWERED}: ")
_BEFORE_OWN = re.compile(
    rf"\A(?:On {_QUOTED}|[^\"]{{1,200}} on {_QUOTED}|{_ANSWERED}|"
    rf"After (?:[^\"]{{1,200}})?{_QUOTED}(?:, [^\"]{{1,200}} said)?): "
)


@dataclass(frozen=True)
class Occasion:
    """What a message was written on, in words from outside of it.

    Without a `number` they came with it, as the subject of a mail does; with one it is the event
    whose words they are: what the sender began the talk with, or, where it has a name in `said_by`,
    what somebody else said just before.
    """

    text: str
    number: int | None = None
    said_by: str | None = None

    def may_be_lacked(self, *, unsure: bool) -> bool:
        """Whether a statement may lack what the words tell; `unsure`: it tells little by itself.

        Of what somebody else said a statement that tells enough lacks only a question.
        """
        return unsure or self.said_by is None or "?" in self.text

    @cached_property
    def told(self) -> ToldOccasion | None:
        """What of the words is told with a statement; None where they tell nothing.

        A long text is about too much.
        """
        if len(self.text) > _LONGEST_TEXT:
            return None
        if self.number is None:
            words = " ".join(_REPLIED.sub("", self.text.strip()).split())
            fits = _telling(words) > 0 and _is_short(words)
        else:
            words = _asked(self.text) if self.said_by is not None else ""
            words = words or _telling_most(self.text, of_another=self.said_by is not None)
            fits = bool(words)
        return ToldOccasion(words.translate(_QUOTES), self.number, self.said_by) if fits else None


class ToldOccasion(NamedTuple):
    """The words of an occasion that are told with a statement, and whose they are.

    `dates` are those of the words, where their days are told too.
    """

    words: str
    number: int | None
    said_by: str | None
    dates: tuple[DateReference, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether somebody asked with these words."""
        return self.said_by is not None and self.words.endswith("?")

    def is_lacked(self, statement: Statement, *, unsure: bool) -> bool:
        """Whether a statement lacks what the words tell; `unsure`: it tells little by itself."""
        if self.said_by is None:
            return True
        tokens = tokenise(statement.sentence)
        count = len(tokens.words)
        if self.asks:
            few = unsure or count < FEW_WORDS
            return few or left_open(tokens, 0, count, statement.mentions, 0) != "nothing"
        return unsure and not _POINTING.isdisjoint(tokens.lowers[:1])

    def before(self, said: str, speaker: str, *, in_third_person: bool) -> str:
        """Return what `speaker` said with the words before it."""
        if self.number is None:
            opening = "On" if in_third_person else f"{speaker} on"
            return f'{opening} "{self.words}": {said}'
        whose = f"{self.said_by}'s " if self.said_by else ""
        opening = f"After {self.said_by} asked " if self.asks else f"After {whose}"
        own = "" if in_third_person else f", {speaker} said"
        return f'{opening}"{self.words}"{own}: {said}'


def about_corrected(
    text: str, span: Span, dates: Sequence[DateReference], number: int, said_by: str | None
) -> ToldOccasion | None:
    """Return the words of an earlier message that say what a value is of that was taken back since.

    They are its sentence `span` with the days that it means, and one before it where it leaves open
    what it speaks of; `dates` are those of the message. `number` and `said_by` are as an occasion
    has them. None where that is too much.
    """

    def said(each: Span) -> str:
        start = after_lead_in(text, *each)
        return without_marks(with_days(text, start, each[1], dates, in_numbers)).rstrip(" .!:;,")

    spans = [span]
    tokens = tokenise(said(span))
    if left_open(tokens, 0, len(tokens.words), (), 0) in ("part", "thing"):
        before = (each for each in reversed(sentences(text)) if each[1] <= span[0])
        telling = (each for each in before if _telling(_words(text, each)) >= _LEAST_TELLING)
        spans = [*islice(telling, 1), span]
    words = ". ".join(map(said, spans))
    if not _is_short(words, 2 * _LONGEST):
        return None
    of_words = (
        each
        for each in dates
        if any(start <= each.start and each.end <= end for start, end in spans)
    )
    return ToldOccasion(words.translate(_QUOTES), number, said_by, tuple(of_words))


def is_told_as_answer(told: str) -> bool:
    """Whether a fact is told with the question that it answers."""
    return _ASKED_AND_ANSWERED.match(told) is not None


def without_occasion(told: str) -> str:
    """Return what a fact tells without the words of an occasion, or of a question, before it."""
    return _BEFORE_OWN.sub("", told, count=1)


def _asked(text: str) -> str:
    """Return the last question of a message, with the sentence before it where that says what it
    asks about, "That plate is new! Did you make it?", or asks too; "" without one.
    """
    found = sentences(text) if "?" in text else []
    last = next((at for at in reversed(range(len(found))) if _asks(text, found[at])), None)
    if last is None:
        return ""
    question = _words(text, found[last])
    tokens = tokenise(question)
    is_open = left_open(tokens, 0, len(tokens.words), (), 0) in ("part", "thing")
    open_or_two = is_open or not _telling(question) or (last and _asks(text, found[last - 1]))
    if last and open_or_two and _telling(_words(text, found[last - 1])):
        both = f"{_words(text, found[last - 1])} {question}"
        if _is_short(both, _LONGEST_TWO):
            return both
    return question if _telling(question) and _is_short(question) else ""


def _asks(text: str, span: Span) -> bool:
    return text[span[0] : span[1]].endswith("?")


def _words(text: str, span: Span) -> str:
    """Return what a sentence says, without what leads to it and the marks of formatting."""
    start, end = span
    return " ".join(without_marks(text[after_lead_in(text, start, end) : end]).split())


def _telling_most(text: str, *, of_another: bool) -> str:
    """Return the sentence of a message that tells most; "" where none tells enough.

    What another says to whoever speaks now, or only exclaims, is no occasion.
    """
    found: list[tuple[int, str]] = []
    for span in sentences(text)[:_SENTENCES]:
        said = _words(text, span)
        if of_another and (said.endswith("!") or not LISTENER.isdisjoint(tokenise(said).lowers)):
            continue
        telling = _telling(said)
        if telling >= _LEAST_TELLING and _is_short(said):
            found.append((telling, said.rstrip(" .!:;,")))
    return max(found, key=lambda each: each[0])[1] if found else ""


def _is_short(said: str, longest: int = _LONGEST) -> bool:
    return len(said) <= _LONGEST_TOLD and len(said.split()) <= longest


def _telling(said: str) -> int:
    tokens = tokenise(said)
    return count_words(tokens, 0, len(tokens.words), ()).telling
