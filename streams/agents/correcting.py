"""What a message takes back of one before it in its conversation, as the ends of facts (F7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from schemas.changes import FactSupersession
from schemas.events import Content, Event, message_of
from schemas.senders import is_assistant
from streams.agents.agent import Surroundings
from streams.language.grammar.analysis import Statement
from streams.language.relations.agreements import agrees, find_agreed
from streams.language.relations.corrections import (
    LOOKED_THROUGH,
    Corrected,
    Correction,
    Earlier,
    corrected,
    find_corrections,
)
from streams.language.relations.denials import denied, find_denials

#: What somebody agrees to was asked in one of so many messages before.
_JUST_ASKED = 2
#: A statement of a message by its first and last character, and the fact that it gave.
Made = tuple[int, int, str]


class TakenBack(msgspec.Struct, frozen=True):
    """A sentence (first and last character) takes back what another event says.

    `said` are the values that no longer hold, as they were written there, and `sentence` is the
    first and last character of the sentence there that says them, `statement` that sentence as a
    fact says it; None: it is none, such as a question.
    """

    start: int
    end: int
    event: Event
    sentence: tuple[int, int]
    said: tuple[str, ...]
    statement: Statement | None = None


def taken_back(
    text: str, said_at: int, event: Event, content: Content, surroundings: Surroundings
) -> tuple[TakenBack, ...]:
    """Return what a message takes back of those before it that somebody wrote."""
    corrections = find_corrections(text, said_at, content.utc_offset)
    denials = find_denials(text)
    asked = _asked(text, event, content, surroundings) if agrees(text) else None
    if not corrections and not denials and asked is None:
        return ()
    before = [
        one
        for one in surroundings.before(event, LOOKED_THROUGH)
        if isinstance(one.payload, Content)
        and not is_assistant(one.payload.sender_id, one.payload.direction)
        and one.occurred_at <= said_at
    ]
    earlier = [_earlier(one, content) for one in before]
    linked = [] if asked is None else _agreed(asked, content, before)
    linked += [(one.start, one.end, corrected(one, earlier)) for one in corrections]
    linked += [(one.start, one.end, denied(one, earlier)) for one in denials]
    found: list[TakenBack] = []
    for start, end, what in linked:
        if what is not None and not any(one.start < end and start < one.end for one in found):
            said = tuple(value.text.lower() for value in what.values)
            taken, sentence = before[what.distance], (what.start, what.end)
            found.append(TakenBack(start, end, taken, sentence, said))
    return tuple(found)


def _asked(
    text: str, event: Event, content: Content, surroundings: Surroundings
) -> tuple[Event, Correction] | None:
    """Return what another has just asked, and what agreeing to it takes back."""
    for one in surroundings.before(event, _JUST_ASKED):
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


def _earlier(event: Event, content: Content) -> Earlier:
    said = message_of(event)
    same = said.sender_id == content.sender_id
    return Earlier(said.content, event.occurred_at, said.utc_offset, same)


class Held(NamedTuple):
    """A fact that an event gave, and whether it still holds."""

    id: str
    text: str
    current: bool


def ends_of_corrected(
    one: TakenBack, event: Event, said_at: int, made: Sequence[Made], held: Sequence[Held]
) -> Iterable[FactSupersession]:
    """Yield the ends of those facts, of what was taken back, that say it.

    What ends them is the fact of the sentence that does, or, where that gave none, the event.
    """
    newer = what_ends(one, event, made)
    for fact in held:
        if fact.current and fact.id != newer and says_it(one, fact.text):
            yield FactSupersession(fact.id, newer, said_at)


def what_ends(one: TakenBack, event: Event, made: Sequence[Made]) -> str:
    """Return the id of the fact of the sentence that takes something back, or of the event."""
    near = (fact for start, end, fact in made if start < one.end and one.start < end)
    return next(near, event.id)


def says_it(one: TakenBack, text: str) -> bool:
    """Whether a text says what was taken back."""
    return any(said in text.lower() for said in one.said)
