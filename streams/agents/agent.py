"""What an agent is, what it may read, and what it hands over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from schemas.changes import Conclusions
from schemas.events import Event
from streams.agents.state import State


class Surroundings(Protocol):
    """What `extract` may see beside its record: the thread in the ledger, below the record."""

    def before(self, event: Event, limit: int) -> Sequence[Event]:
        """Return up to `limit` events of the same conversation, the nearest first."""
        ...

    def turn(self, event: Event, platform: str, turn_id: str) -> Sequence[Event]:
        """Return the events of a platform's turn that came before `event`, in order."""
        ...


class Extract(msgspec.Struct, frozen=True):
    """What an agent took from a record without looking at the state.

    `reads` are the running numbers of the other records whose words `texts` repeat. `texts` need
    vectors, `turns` those of their tokens as well.
    """

    content: Any = None
    reads: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()


class Agent(Protocol):
    """One of the agents; see `streams.agents`."""

    #: The kinds of event that it handles.
    kinds: frozenset[str]

    def extract(self, event: Event, surroundings: Surroundings) -> Extract:
        """Return what the record says, whatever the state is."""
        ...

    def resolve(self, event: Event, extract: Extract, state: State) -> list[Conclusions]:
        """Return what follows from the record in this state."""
        ...
