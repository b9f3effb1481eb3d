"""Keeps the list of parked records: what came unreadable, and what was given up.

Parking a record that could not be decided is the driver's: it writes the row in place of the
conclusions. Retrying one is the driver's too, since it decides the record again.
"""

from __future__ import annotations

import msgspec

from schemas.changes import Conclusions, DeadLetter
from schemas.events import Drop, Event, Park
from streams.agents.agent import Agent, Extract, Surroundings
from streams.agents.state import State


class DeadLetterClerk(Agent):
    """Parks records that could not be read when published; drops what a command gives up."""

    kinds = frozenset({"park", "drop"})

    def extract(self, event: Event, surroundings: Surroundings) -> Extract:
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[Conclusions]:
        if isinstance(event.payload, Park):
            row = DeadLetter(
                event.number, "park", event.payload.reason, "parked", event.occurred_at
            )
            return [Conclusions((event.number,), puts=[row])]
        assert isinstance(event.payload, Drop)
        number = event.payload.number
        parked = state.dead_letter(number)
        if parked is None or parked.state != "parked":
            return []
        # The row repeats the reason, which may quote the record that was parked.
        dropped = msgspec.structs.replace(parked, state="dropped")
        return [Conclusions((number, event.number), puts=[dropped])]
