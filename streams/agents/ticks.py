"""Answers ticks: lists the work that is due, as commands for the ledger."""

from __future__ import annotations

from projections.events.queries import open_turns
from projections.memory.queries import is_completed
from schemas.changes import Conclusions
from schemas.events import Content, Draft, Event, Tick, TurnCompleted
from streams.agents.base import Extract, State, Surroundings

CLOSE_TURNS = "close_turns"

# An agent that has said nothing for an hour has died or moved on; what its turn said must not
# stay unprocessed for ever.
ABANDONED_AFTER_MS = 3_600_000


class TurnCloser:
    """Completes turns whose completion never came, one command per turn."""

    kinds = frozenset({"tick"})

    def extract(self, event: Event, surroundings: Surroundings) -> Extract:
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[Conclusions]:
        assert isinstance(event.payload, Tick)
        if event.payload.name != CLOSE_TURNS:
            return []
        outbox = []
        due = open_turns(state.events, event.number, event.occurred_at - ABANDONED_AFTER_MS)
        for turn_id, last in due:
            if is_completed(state.memory, turn_id):
                continue
            assert isinstance(last.payload, Content)
            outbox.append(
                Draft(
                    platform="recollect",
                    occurred_at=event.occurred_at,
                    ingested_at=event.ingested_at,
                    payload=TurnCompleted(
                        source_id=f"close-turn:{turn_id}",
                        sender_id="recollect",
                        content="",
                        peer_id=last.payload.peer_id,
                        thread_id=last.payload.thread_id,
                        session_id=last.payload.session_id,
                        turn_id=turn_id,
                    ),
                )
            )
        return [Conclusions((event.number,), outbox=outbox)]
