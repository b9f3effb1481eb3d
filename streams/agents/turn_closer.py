"""The agent that handles ticks: it completes abandoned turns, with commands for the ledger."""

from __future__ import annotations

from bisect import bisect_left

import apsw

from recollect.projections.events.event_queries import idle_turns, switch_numbers
from recollect.projections.memory.memory_queries import is_completed
from recollect.schemas.changes import DecidedPart
from recollect.schemas.events import RESERVED_PLATFORM, CloseTurn, Draft, Event, Tick
from recollect.schemas.ids import turn_row_id
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.state import State

CLOSE_TURNS = "close_turns"

# If an AI agent has been silent for this long, it will not complete its turn; the turn must be
# processed anyway.
ABANDONED_AFTER_MS = 3_600_000


def turns_to_close(
    events: apsw.Connection, memory: apsw.Connection, number: int, at: int
) -> list[tuple[str, Event]]:
    """Return (turn id, last event) of the turns that were abandoned by the time `at` (unix ms).

    Only events below `number` count.
    """
    return [
        (turn_id, last)
        for turn_id, last in idle_turns(events, number, at - ABANDONED_AFTER_MS)
        if not is_completed(memory, turn_row_id(last.platform, turn_id))
    ]


class TurnCloser(Agent):
    """Completes abandoned turns, with one command per turn."""

    kinds = frozenset({"tick"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        assert isinstance(event.payload, Tick)
        if event.payload.name != CLOSE_TURNS:
            return []
        switches = switch_numbers(state.events)
        return [
            # The last event is a source, because the command repeats its turn id.
            DecidedPart(
                (last.number, event.number),
                outbox=[
                    _close_turn_command(turn_id, last, event, bisect_left(switches, last.number)),
                ],
            )
            for turn_id, last in turns_to_close(
                state.events, state.memory, event.number, event.occurred_at
            )
        ]


def _close_turn_command(turn_id: str, last: Event, tick: Event, switches_before: int) -> Draft:
    """Return the command; `switches_before` counts the switches before the turn's last event.

    The position in the command's id does not count switches, so that the id is the same however
    often the zone was rebuilt.
    """
    position = last.number - switches_before
    return Draft(
        platform=RESERVED_PLATFORM,
        # The same for every tick, so that all ticks ask for the same command.
        occurred_at=last.occurred_at + ABANDONED_AFTER_MS,
        ingested_at=tick.ingested_at,
        payload=CloseTurn(
            source_id=f"close-turn:{turn_row_id(last.platform, turn_id)}:{position}",
            platform=last.platform,
            turn_id=turn_id,
        ),
    )
