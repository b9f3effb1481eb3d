"""Counts how often facts were recalled (A3, B1)."""

from __future__ import annotations

from recollect.schemas.changes import DecidedPart, FactRecallCount
from recollect.schemas.events import Event, RecallsCounted
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.state import State


class AccessCounter(Agent):
    """Writes one row per recalled fact; the sum of them is the fact's access count."""

    kinds = frozenset({"recalled"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        assert isinstance(event.payload, RecallsCounted)
        counts: dict[str, int] = {}
        for access in event.payload.accesses:
            if access.target_type == "fact" and access.count > 0:
                counts[access.target_id] = counts.get(access.target_id, 0) + access.count
        return [
            DecidedPart(
                (event.number,),
                puts=[FactRecallCount(event.number, fact, count) for fact, count in counts.items()],
            )
        ]
