"""The agent that counts how often facts and mental models are recalled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from recollect.schemas.changes import (
    AnyRow,
    DecidedPart,
    FactRecallCount,
    MentalModelRecallCount,
    StoredMemoryRecallCount,
)
from recollect.schemas.events import Event, RecallsCounted
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.state import State

_ROWS: Mapping[str, type[FactRecallCount | MentalModelRecallCount]] = {
    "fact": FactRecallCount,
    "mental_model": MentalModelRecallCount,
}


class AccessCounter(Agent):
    """Writes a row for each recalled memory; the sum of a memory's rows is its access count."""

    kinds = frozenset({"recalled"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        assert isinstance(event.payload, RecallsCounted)
        counts = Counter[tuple[str, str]]()
        for access in event.payload.accesses:
            if access.target_type in (*_ROWS, "memory") and access.count > 0:
                counts[access.target_type, access.target_id] += access.count
        rows: list[AnyRow] = [
            StoredMemoryRecallCount(event.number, id_, count, event.occurred_at)
            if kind == "memory"
            else _ROWS[kind](event.number, id_, count)
            for (kind, id_), count in counts.items()
        ]
        return [DecidedPart((event.number,), puts=rows)]
