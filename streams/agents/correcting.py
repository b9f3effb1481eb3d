"""What a message takes back of one before it in its conversation, as the ends of facts (F7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set

import msgspec

from schemas.changes import FactSupersession
from schemas.events import Content, Event
from schemas.senders import is_assistant
from streams.agents.agent import Surroundings
from streams.agents.state import State
from streams.language.corrections import (
    LOOKED_THROUGH,
    Earlier,
    corrected,
    find_corrections,
)

#: A statement of a message by its first and last character, and the fact that it gave.
Made = tuple[int, int, str]


class TakenBack(msgspec.Struct, frozen=True):
    """A sentence (first and last character) takes back what another event says.

    `said` are the values that no longer hold, as they were written there.
    """

    start: int
    end: int
    event_id: str
    said: tuple[str, ...]


def taken_back(
    text: str, said_at: int, event: Event, content: Content, surroundings: Surroundings
) -> tuple[TakenBack, ...]:
    """Return what a message takes back of those before it that somebody wrote."""
    corrections = find_corrections(text, said_at, content.utc_offset)
    if not corrections:
        return ()
    before = [
        one
        for one in surroundings.before(event, LOOKED_THROUGH)
        if isinstance(one.payload, Content)
        and not is_assistant(one.payload.sender_id, one.payload.direction)
        and one.occurred_at <= said_at
    ]
    earlier = [_earlier(one, content) for one in before]
    found = []
    for correction in corrections:
        what = corrected(correction, earlier)
        if what is not None:
            said = tuple(value.text.lower() for value in what.values)
            found.append(
                TakenBack(correction.start, correction.end, before[what.distance].id, said)
            )
    return tuple(found)


def _earlier(event: Event, content: Content) -> Earlier:
    said = event.payload
    assert isinstance(said, Content)
    same = said.sender_id == content.sender_id
    return Earlier(said.content, event.occurred_at, said.utc_offset, same)


def ends_of_corrected(
    found: Sequence[TakenBack],
    event: Event,
    said_at: int,
    made: Sequence[Made],
    state: State,
    over: Set[str],
) -> Iterable[FactSupersession]:
    """Yield the ends of facts that say what was taken back; those in `over` have ended.

    What ends them is the fact of the sentence that does, or, where that gave none, the event.
    """
    for one in found:
        newer = next(
            (fact for start, end, fact in made if start < one.end and one.start < end), event.id
        )
        for fact, text in state.current_facts_from(one.event_id):
            ended = any(said in text.lower() for said in one.said)
            if ended and fact not in over and fact != newer:
                yield FactSupersession(fact, newer, said_at)
