"""What a proposed fact gives besides its sentence: a slot value, its days, what it retracts.

Each is checked against the words that the model was shown, and against what the rules and the date
engine read in the same words. A contradiction is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, NamedTuple

from msgspec import Struct

from recollect.schemas.attributes import MULTI_VALUED, OPPOSITES, SINGLE_VALUED, is_single_valued
from recollect.schemas.events import Content, Event
from recollect.schemas.names import normalise_name
from recollect.streams.agents.writer.model.quotations import plain_form, quoted_span
from recollect.streams.agents.writer.model.refusals import Refused, text_argument
from recollect.streams.language.grammar.analysis import Claim
from recollect.streams.language.grammar.named_weekdays import dates_about
from recollect.streams.language.grammar.questions import is_question
from recollect.streams.language.grammar.reported import reported
from recollect.streams.language.relations.corrections import find_corrections
from recollect.streams.language.relations.denials import find_denials
from recollect.streams.language.relations.ended_states import find_over
from recollect.streams.language.relations.grounding import Said, is_negated, occurs
from recollect.streams.language.statements.document import Document
from recollect.streams.language.statements.statements import analyse
from recollect.text.dates.dates_in_text import date_references
from recollect.text.dates.found_dates import local_day
from recollect.text.lexicon import RELATIONS
from recollect.text.sentences import sentences

#: The attributes that a model may fill.
ATTRIBUTES = (*SINGLE_VALUED, *MULTI_VALUED)
POLARITIES = ("positive", "negative", "ended")

_MAX_VALUE_LENGTH = 100
#: In "Ada's sister …", only these attributes can be Ada's own.
_OF_RELATIVES = frozenset({"family", "partner", "pet", "relationship"})
#: How many words after a possessive may name the relative.
_POSSESSED_WORDS = 3
#: "Ada's sister " before the sister's name.
_RELATIVE_OF = rf"[\w .-]{{1,60}}?['’]s (?:[\w-]+ ){{1,{_POSSESSED_WORDS}}}"
_EDGES = " \t.,;:!?\"'()"


class EarlierMessage(Struct, frozen=True):
    """A message before the one that a model reads; `is_own`: of the same sender."""

    event_id: str
    text: str
    at_ms: int
    utc_offset_minutes: int
    sender_names: tuple[str, str]
    is_own: bool


class ProposedSlot(Struct, frozen=True):
    """A value of a subject's attribute; `holds` False: it does not hold, or no longer does."""

    subject: str
    attribute: str
    value: str
    holds: bool

    @property
    def claim(self) -> Claim:
        """The value as a claim of the rules."""
        return Claim(self.subject, self.attribute, self.value)


class Quotation(NamedTuple):
    """The characters `start` to `end` of an earlier message."""

    event_id: str
    start: int
    end: int


class Shown(NamedTuple):
    """The texts in the model's prompt: the message and the messages before it.

    `said`: the texts with normalised punctuation; `text`: the message verbatim.
    """

    said: Said
    text: str
    earlier: Sequence[EarlierMessage]


def earlier_messages(event: Event, thread: Sequence[Event]) -> tuple[EarlierMessage, ...]:
    """Return the messages of a thread before an event, in order."""
    content = event.payload
    sender = content.sender_id if isinstance(content, Content) else None
    return tuple(
        EarlierMessage(
            one.id,
            one.payload.content,
            one.occurred_at,
            one.payload.utc_offset,
            (one.payload.sender_id, one.payload.sender_name or ""),
            (one.platform, one.payload.sender_id) == (event.platform, sender),
        )
        for one in thread
        if isinstance(one.payload, Content)
    )


def require_own_words(text: str, evidence: tuple[int, int], shown: Shown) -> None:
    """Refuse a sentence about the sender whose evidence is wholly in other people's words.

    Raises:
        Refused: the evidence was quoted or pasted.
    """
    sender = shown.said.names[0]
    if not re.match(rf"{re.escape(sender)}(?!\w)", text, re.IGNORECASE):
        return
    if any(
        start <= evidence[0] and evidence[1] <= end for start, end in reported(shown.text, sender)
    ):
        raise Refused("voice", f"these words are quoted or pasted; they are not {sender}'s own")


# Slots


def read_slot(given: dict[str, Any], text: str, shown: Shown) -> ProposedSlot | None:
    """Return the slot value of a proposed fact, as given or as the rules read it in its sentence.

    None if there is none.

    Raises:
        Refused: it was not said, or the rules read something else in the sentence.
    """
    readings = [*_claims_in(text, shown.said)]
    if all(given.get(name) is None for name in ("attribute", "value", "polarity")):
        if not readings:
            return None
        if len(readings) > 1:
            raise Refused("slot", "write one sentence for each value")
        (claim,) = readings
        _require_said(claim.value, shown)
        return ProposedSlot(claim.subject, claim.attribute, claim.value, holds=True)
    slot, is_denied = _given_slot(given, text, shown)
    return _as_read(slot, is_denied, text, readings)


def _given_slot(given: dict[str, Any], text: str, shown: Shown) -> tuple[ProposedSlot, bool]:
    """Return a slot as the model gives it, and whether the model says that the value is denied."""
    subject, attribute, value = (
        " ".join(plain_form(text_argument(given, name)).split())
        for name in ("subject", "attribute", "value")
    )
    value = value.strip(_EDGES)
    polarity = given.get("polarity") or "positive"
    if attribute not in ATTRIBUTES:
        raise Refused("attribute", f"attribute must be one of {', '.join(ATTRIBUTES)}")
    if polarity not in POLARITIES:
        raise Refused("polarity", f"polarity must be one of {', '.join(POLARITIES)}")
    if not normalise_name(value) or len(value) > _MAX_VALUE_LENGTH or not value.isprintable():
        raise Refused(
            "value", f"value must be at most {_MAX_VALUE_LENGTH} characters of the message"
        )
    _require_subject(subject, attribute, text, shown)
    if not occurs(value, (text,)):
        raise Refused("value", "the sentence must contain the value")
    _require_said(value, shown)
    is_denied = polarity == "negative"
    if is_denied and attribute in OPPOSITES:
        return ProposedSlot(subject, OPPOSITES[attribute], value, holds=True), is_denied
    return ProposedSlot(subject, attribute, value, holds=polarity == "positive"), is_denied


def _require_subject(subject: str, attribute: str, text: str, shown: Shown) -> None:
    """Refuse a subject that was not named, or that is not what the sentence is about."""
    said = shown.said
    if not normalise_name(subject) or not occurs(subject, (said.text, *said.thread, *said.names)):
        raise Refused("subject", "subject must name whom or what the sentence is about")
    opening = re.match(
        rf"(?:the |{_RELATIVE_OF})?{re.escape(subject)}(?P<own>['’]s?)?(?!\w)",
        text,
        re.IGNORECASE,
    )
    if opening is None:
        raise Refused("subject", "the sentence must begin with the subject")
    following = re.findall(r"[\w-]+", text[opening.end() :].casefold())[:_POSSESSED_WORDS]
    if opening["own"] and attribute not in _OF_RELATIVES and not RELATIONS.isdisjoint(following):
        raise Refused("subject", f"the sentence is about somebody other than {subject}")


def _require_said(value: str, shown: Shown) -> None:
    """Refuse a value that is not in the message, an earlier one by its sender, or a question."""
    earlier = (plain_form(one.text) for one in shown.earlier if one.is_own or is_question(one.text))
    if not occurs(value, (shown.said.text, *earlier)) and not _is_day(value):
        raise Refused("value", "value must be words of this message, or of a question before it")


def _is_day(value: str) -> bool:
    """Return whether a value that the rules read is a birthday, which they write in numbers."""
    return re.fullmatch(r"(?:\d{4}|-)-\d\d-\d\d", value) is not None


def _as_read(
    slot: ProposedSlot, is_denied: bool, text: str, readings: Sequence[Claim]
) -> ProposedSlot:
    """Return a slot with its value as the rules write it; refuse what the rules contradict."""
    of_attribute = [claim for claim in readings if claim.attribute == slot.attribute]
    agreeing = [
        claim
        for claim in of_attribute
        if is_same_value(claim.value, slot.value) and _is_same_name(claim.subject, slot.subject)
    ]
    if not slot.holds:
        if agreeing:
            raise Refused(
                "polarity",
                "the sentence says that the value holds, but polarity says that it does not",
            )
        if is_denied and not is_negated(text):
            raise Refused("polarity", "the sentence must say that the value does not hold")
        return slot
    if agreeing:
        return ProposedSlot(slot.subject, slot.attribute, agreeing[0].value, holds=True)
    if any(is_same_value(claim.value, slot.value) for claim in of_attribute):
        raise Refused("subject", "the sentence attributes this value to somebody else")
    if of_attribute and is_single_valued(slot.attribute):
        raise Refused("slot", f"the sentence gives another value as {slot.attribute}")
    opposite = OPPOSITES.get(slot.attribute)
    if any(
        claim.attribute == opposite and is_same_value(claim.value, slot.value) for claim in readings
    ):
        raise Refused("polarity", f"the sentence says the opposite of {slot.attribute}")
    if is_negated(text) and not is_denied:
        raise Refused(
            "polarity",
            "the sentence says that the value does not hold; set polarity to negative or ended",
        )
    return slot


def _claims_in(text: str, said: Said) -> Iterator[Claim]:
    """Yield the claims that the rules read in a sentence."""
    document = Document(
        text=text,
        speaker=None,
        at_ms=said.at_ms,
        utc_offset_minutes=said.utc_offset_minutes,
        keep=((0, len(text)),),
    )
    for statement in analyse(document).statements:
        if statement.claim is not None:
            yield statement.claim


def is_same_value(one: str, other: str) -> bool:
    """Return whether all words of one of two values are in the other."""
    left, right = (set(normalise_name(each).split()) for each in (one, other))
    return bool(left and right) and (left <= right or right <= left)


_is_same_name = is_same_value


# Days


def read_days(
    given: Any, text: str, evidence: tuple[int, int], shown: Shown
) -> tuple[str, str] | None:
    """Return the first and the last day of a fact, ISO dates; None if none are given.

    They must be days that the date engine reads in the cited words: `words`, or else the evidence.
    If it reads none in the evidence, they may be the day on which the message was said.

    Raises:
        Refused: the engine reads no day there, or others.
    """
    if given is None:
        return None
    first, last = _given_days(given)
    cited = given.get("words")
    read = (
        _days_at(evidence, shown)
        if cited is None
        else _days_quoted(text_argument(given, "words"), shown)
    )
    if not read and cited is None:
        said_on = date.fromordinal(local_day(shown.said.at_ms, shown.said.utc_offset_minutes))
        read = [(said_on.isoformat(), said_on.isoformat())]
    if not read:
        raise Refused("days", "these words name no day; in `words`, quote those that do")
    if first not in {day for day, _ in read} or last not in {day for _, day in read}:
        meant = ", ".join(sorted({_period(*days) for days in read}))
        raise Refused(
            "days", f"these words mean {meant}, not {_period(first, last)}; quote other words"
        )
    said = shown.said
    stated = dates_about(
        text, at_ms=said.at_ms, utc_offset_minutes=said.utc_offset_minutes, meant=said.dates
    )
    if stated and not any(one.first <= last and first <= one.last for one in stated):
        raise Refused("days", "the sentence names a date that is not among these days")
    return first, last


def _given_days(given: Any) -> tuple[str, str]:
    if not isinstance(given, dict):
        raise Refused("form", "days must have `first` and `last`, as YYYY-MM-DD")
    first = text_argument(given, "first")
    last = first if given.get("last") is None else text_argument(given, "last")
    for day in (first, last):
        try:
            is_iso = date.fromisoformat(day).isoformat() == day
        except ValueError:
            is_iso = False
        if not is_iso:
            raise Refused("days", f"{day[:20]!r} is not a day; write YYYY-MM-DD")
    if last < first:
        raise Refused("days", "the last day is before the first")
    return first, last


def _days_at(span: tuple[int, int], shown: Shown) -> list[tuple[str, str]]:
    """Return the days that are read in a span of the message."""
    said = shown.said
    dates = dates_about(
        shown.text, at_ms=said.at_ms, utc_offset_minutes=said.utc_offset_minutes, meant=said.dates
    )
    return [
        (date.first, date.last)
        for date in dates
        if not date.is_time and date.start < span[1] and span[0] < date.end
    ]


def _days_quoted(words: str, shown: Shown) -> list[tuple[str, str]]:
    """Return the days that are read in a quotation of the message, or else of one before it."""
    span = quoted_span(shown.text, words)
    if span is not None:
        return _days_at(span, shown)
    for one in reversed(shown.earlier):
        span = quoted_span(one.text, words)
        if span is not None:
            return [
                (date.first, date.last)
                for date in date_references(
                    one.text,
                    at_ms=one.at_ms,
                    utc_offset_minutes=one.utc_offset_minutes,
                    every=True,
                )
                if not date.is_time and date.start < span[1] and span[0] < date.end
            ]
    raise Refused("days", "days.words must quote this message or one before it, word for word")


def _period(first: str, last: str) -> str:
    return first if first == last else f"{first} to {last}"


# Retractions


def read_retracted(given: Any, shown: Shown) -> str | Quotation | None:
    """Return the earlier statement that a fact retracts: a fact's id, or a quotation.

    Raises:
        Refused: it is neither an id nor words of an earlier message.
    """
    if given is None:
        return None
    if not isinstance(given, str) or not given.strip():
        raise Refused("form", "retracts must be a fact_id or quote an earlier message")
    for one in reversed(shown.earlier):
        span = quoted_span(one.text, given)
        if span is not None:
            return Quotation(one.event_id, *span)
    return given.strip()


def takes_back(text: str, span: tuple[int, int], said: Said) -> bool:
    """Return whether the rules read a correction, a denial or an end in the sentences of a span."""
    corrections = find_corrections(text, said.at_ms, said.utc_offset_minutes)
    spans = [
        *((correction.start, correction.end) for correction in corrections),
        *((denial.start, denial.end) for denial in find_denials(text)),
        *((end.start, end.end) for end in find_over(text)),
    ]
    return any(
        start < span[1]
        and span[0] < end
        and (
            is_negated(text[start:end])
            or any(first < end and start < last for first, last in spans)
        )
        for start, end in sentences(text)
    )
