"""The agent that counts how often facts are recalled."""

from __future__ import annotations

from recollect.schemas.changes import DecidedPart, FactRecallCount
from recollect.schemas.events import Event, RecallsCounted
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.state import State


class AccessCounter(Agent):
    """Writes a row for each recalled fact; the sum of a fact's rows is its access count."""

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
