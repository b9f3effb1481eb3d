"""Keeps the list of parked records: those that came unreadable, and those that were dropped.

The driver itself parks a record that could not be decided: it writes the row instead of the rows of
the agents. The driver also retries a parked record, since it decides the record again.
"""

from __future__ import annotations

import msgspec

from recollect.schemas.changes import DeadLetter, DecidedPart
from recollect.schemas.events import Drop, Event, Park
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.state import State


class DeadLetterClerk(Agent):
    """Parks records that could not be read when published; drops those that a command names."""

    kinds = frozenset({"park", "drop"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        if isinstance(event.payload, Park):
            row = DeadLetter(
                event.number, "park", event.payload.reason, "parked", event.occurred_at
            )
            return [DecidedPart((event.number,), puts=[row])]
        assert isinstance(event.payload, Drop)
        number = event.payload.number
        parked = state.dead_letter(number)
        if parked is None or parked.state != "parked":
            return []
        # The row repeats the reason, which may quote the record that was parked.
        dropped = msgspec.structs.replace(parked, state="dropped")
        return [DecidedPart((number, event.number), puts=[dropped])]
