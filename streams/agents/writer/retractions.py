"""Retractions: what a message takes back of earlier ones, as the ends of facts (F7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from recollect.schemas.changes import FactSupersession
from recollect.schemas.events import Content, Event, message_of
from recollect.schemas.senders import is_assistant
from recollect.streams.agents.agent import Conversation
from recollect.streams.agents.identity.participants import REACH
from recollect.streams.language.grammar.analysis import Statement
from recollect.streams.language.relations.agreements import agrees, find_agreed
from recollect.streams.language.relations.corrections import (
    LOOKED_THROUGH,
    Corrected,
    Correction,
    Earlier,
    corrected,
    find_corrections,
    says_what,
)
from recollect.streams.language.relations.denials import denied, find_denials
from recollect.streams.language.relations.what_is_over import find_over, was_so
from recollect.streams.language.statements.occasions import without_occasion

#: What somebody agrees to was asked in one of so many messages before.
_JUST_ASKED = 2
#: A statement of a message by its first and last character, and the fact that it gave.
Made = tuple[int, int, str]


class Retraction(msgspec.Struct, frozen=True):
    """A sentence (first and last character) takes back what another event says.

    `said` are the values that no longer hold, as they were written there, and `sentence` is the
    first and last character of the sentence there that says them, `statement` that sentence as a
    fact says it; None: it is none, such as a question. `about` is an event, and the first and last
    character of its sentence, that says what the values are of where what takes them back does not;
    None where it does, or no event says so.
    """

    start: int
    end: int
    event: Event
    sentence: tuple[int, int]
    said: tuple[str, ...]
    statement: Statement | None = None
    about: tuple[Event, tuple[int, int]] | None = None


def find_retractions(
    text: str, said_at: int, event: Event, content: Content, conversation: Conversation
) -> tuple[Retraction, ...]:
    """Return what a message takes back of earlier messages that people wrote."""
    corrections = find_corrections(text, said_at, content.utc_offset)
    denials = find_denials(text)
    asked = _asked(text, event, content, conversation) if agrees(text) else None
    over = find_over(text)
    if not corrections and not denials and not over and asked is None:
        return ()
    before = _written_before(conversation.before(event, LOOKED_THROUGH), said_at)
    there = len(before)
    if over or any(one.taken_back for one in corrections):
        before += _written_before(conversation.other_channels(event, event.number - REACH), said_at)
    earlier = [
        _earlier(one, content, said_at, elsewhere=place >= there)
        for place, one in enumerate(before)
    ]
    linked = [] if asked is None else _agreed(asked, content, before[:there])
    linked += [(one.start, one.end, corrected(one, earlier)) for one in corrections]
    linked += [(one.start, one.end, denied(one, earlier[:there])) for one in denials]
    bare = {(one.start, one.end) for one in corrections if one.bare}
    found: list[Retraction] = []
    for start, end, what in linked:
        if what is not None and not _is_told(found, start, end):
            taken = _taken(start, end, what, before)
            if (start, end) in bare and what.distance < there:
                about = _about(what, before[what.distance : there])
                taken = msgspec.structs.replace(taken, about=about)
            found.append(taken)
    # A state may have been told several times.
    for one in over:
        if not _is_told(found, one.start, one.end):
            found += [_taken(one.start, one.end, what, before) for what in was_so(one, earlier)]
    return tuple(found)


def _is_told(found: Sequence[Retraction], start: int, end: int) -> bool:
    return any(one.start < end and start < one.end for one in found)


def _taken(start: int, end: int, what: Corrected, before: Sequence[Event]) -> Retraction:
    said = tuple(value.text.lower() for value in what.values)
    return Retraction(start, end, before[what.distance], (what.start, what.end), said)


def _about(what: Corrected, before: Sequence[Event]) -> tuple[Event, tuple[int, int]] | None:
    """Return what says of what the values are that were taken back, the nearest first."""
    for one in before:
        said = message_of(one)
        sentence = says_what(what.values, said.content, one.occurred_at, said.utc_offset)
        if sentence is not None:
            return one, sentence
    return None


def _written_before(events: Sequence[Event], said_at: int) -> list[Event]:
    """Return those that somebody wrote, and not later."""
    return [
        one
        for one in events
        if isinstance(one.payload, Content)
        and not is_assistant(one.payload.sender_id, one.payload.direction)
        and one.occurred_at <= said_at
    ]


def _asked(
    text: str, event: Event, content: Content, conversation: Conversation
) -> tuple[Event, Correction] | None:
    """Return what another has just asked, and what agreeing to it takes back."""
    for one in conversation.before(event, _JUST_ASKED):
        said = message_of(one)
        if said.sender_id != content.sender_id:
            found = find_agreed(text, said.content, one.occurred_at, said.utc_offset)
            if found is not None:
                return one, found
    return None


def _agreed(
    asked: tuple[Event, Correction], content: Content, before: Sequence[Event]
) -> list[tuple[int, int, Corrected | None]]:
    """Return what somebody takes back by agreeing, of the messages before the question."""
    question, found = asked
    place = next((at + 1 for at, one in enumerate(before) if one.id == question.id), 0)
    both = (message_of(question).sender_id, content.sender_id)
    earlier = [
        Earlier(said.content, one.occurred_at, said.utc_offset, said.sender_id in both)
        for one in before[place:]
        for said in (message_of(one),)
    ]
    what = corrected(found, earlier)
    if what is None:
        return []
    return [(found.start, found.end, what._replace(distance=what.distance + place))]


def _earlier(event: Event, content: Content, said_at: int, *, elsewhere: bool) -> Earlier:
    said = message_of(event)
    return Earlier(
        said.content,
        event.occurred_at,
        said.utc_offset,
        said.sender_id == content.sender_id,
        elsewhere=elsewhere,
        age_ms=said_at - event.occurred_at,
    )


class HeldFact(NamedTuple):
    """A fact that an event gave, and whether it still holds."""

    id: str
    text: str
    current: bool


def ends_of_retracted(
    one: Retraction, event: Event, said_at: int, made: Sequence[Made], held: Sequence[HeldFact]
) -> Iterable[FactSupersession]:
    """Yield the ends of the facts that say what was retracted.

    They are superseded by the fact of the retracting sentence, or by the event where it gave none.
    """
    newer = superseding_id(one, event, made)
    for fact in held:
        if fact.current and fact.id != newer and says_retracted(one, fact.text):
            yield FactSupersession(fact.id, newer, said_at)


def superseding_id(one: Retraction, event: Event, made: Sequence[Made]) -> str:
    """Return the id of the fact of the retracting sentence, or of the event where it gave none."""
    near = (fact for start, end, fact in made if start < one.end and one.start < end)
    return next(near, event.id)


def says_retracted(one: Retraction, text: str) -> bool:
    """Whether a text, apart from its context, says what was retracted."""
    own = without_occasion(text).lower()
    return any(said in own for said in one.said)
