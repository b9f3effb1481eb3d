"""The agent of the dead-letter queue: executes the commands that park or drop a record.

The inbox publishes a `park` for each record that it cannot read. A record that cannot be decided is
parked by the driver itself, which also decides it again if it is retried.
"""

from __future__ import annotations

import msgspec

from recollect.schemas.changes import DeadLetter, DecidedPart
from recollect.schemas.events import Drop, Event, Park
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.state import State


class DeadLetterHandler(Agent):
    """Handles `park` and `drop`."""

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
        # The row repeats the reason, which may quote the parked record, so that is a source too.
        dropped = msgspec.structs.replace(parked, state="dropped")
        return [DecidedPart((number, event.number), puts=[dropped])]
