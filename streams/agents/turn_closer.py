"""Handles ticks: returns the work that is due, as commands for the ledger."""

from __future__ import annotations

from bisect import bisect_left

import apsw

from recollect.projections.events.event_queries import chain_activations, idle_turns
from recollect.projections.memory.memory_queries import is_completed
from recollect.schemas.changes import DecidedPart
from recollect.schemas.events import RESERVED_PLATFORM, CloseTurn, Draft, Event, Tick
from recollect.schemas.ids import turn_row_id
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.state import State

CLOSE_TURNS = "close_turns"

# An agent that was silent for an hour has died or moved on; its turn must not stay unprocessed for
# ever.
ABANDONED_AFTER_MS = 3_600_000


def turns_to_close(
    events: apsw.Connection, memory: apsw.Connection, number: int, at: int
) -> list[tuple[str, Event]]:
    """Return (turn id, last event) of turns below `number` that were abandoned by the time `at`."""
    return [
        (turn_id, last)
        for turn_id, last in idle_turns(events, number, at - ABANDONED_AFTER_MS)
        if not is_completed(memory, turn_row_id(last.platform, turn_id))
    ]


class TurnCloser(Agent):
    """Completes turns that were never completed, with one command per turn."""

    kinds = frozenset({"tick"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        assert isinstance(event.payload, Tick)
        if event.payload.name != CLOSE_TURNS:
            return []
        switched = chain_activations(state.events)
        return [
            # The command repeats the turn's name from its last event.
            DecidedPart(
                (last.number, event.number),
                outbox=[
                    _close_turn_command(turn_id, last, event, bisect_left(switched, last.number)),
                ],
            )
            for turn_id, last in turns_to_close(
                state.events, state.memory, event.number, event.occurred_at
            )
        ]


def _close_turn_command(turn_id: str, last: Event, tick: Event, switched: int) -> Draft:
    """Return the command; `switched` switches of chain came before the turn's last event.

    Switches do not count in the command's id, which must not depend on how often a zone was
    decided.
    """
    place = last.number - switched
    return Draft(
        platform=RESERVED_PLATFORM,
        # Every tick asks for the same command.
        occurred_at=last.occurred_at + ABANDONED_AFTER_MS,
        ingested_at=tick.ingested_at,
        payload=CloseTurn(
            source_id=f"close-turn:{turn_row_id(last.platform, turn_id)}:{place}",
            platform=last.platform,
            turn_id=turn_id,
        ),
    )
