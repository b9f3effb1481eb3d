"""The interface of an agent: what it may read, and what it returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec

from recollect.projections.events.event_queries import Speaker
from recollect.schemas.changes import DecidedPart
from recollect.schemas.events import Event, ModelAnswered
from recollect.streams.agents.state import State
from recollect.streams.language.grammar.text_reading import TextReading


class ToRead(NamedTuple):
    """A text that is to be read, and the running number of the event that says it."""

    number: int
    text: str


class AnsweredCalls(NamedTuple):
    """What a model answered about an event: its calls of tools (name, arguments), and the price.

    `asked` is how often it was asked; `cost` is in the currency of the prices.
    """

    calls: Sequence[tuple[str, str]]
    asked: int
    tokens_in: int
    tokens_out: int
    cost: float


class Conversation(Protocol):
    """What `extract` may see besides its record: earlier events around it."""

    def before(self, event: Event, limit: int) -> Sequence[Event]:
        """Return up to `limit` events of the same conversation, the nearest first."""
        ...

    def other_channels(self, event: Event, since: int) -> Sequence[Event]:
        """Return what the sender of `event` wrote in other conversations of the platform, the
        nearest first.

        The events from the number `since` to before it count.
        """
        return ()

    def first_message(self, event: Event) -> Event | None:
        """Return the first event of the same conversation that the same sender wrote before it."""
        return None

    def participants(self, event: Event, since: int) -> Sequence[Speaker]:
        """Return who wrote in the conversation of `event`, the last first.

        The events from the number `since` to before it count.
        """
        return ()

    def turn(self, event: Event, platform: str, turn_id: str) -> Sequence[Event]:
        """Return the events of a platform's turn that came before `event`, in order."""
        ...

    def revisions(self, event: Event, below: int) -> Sequence[Event]:
        """Return the other versions of an event's message, and its deletions, below a number.

        They are in the ledger's order; an event that is no message's version has none.
        """
        ...

    def reading(self, text: str) -> TextReading | None:
        """Return what was read in a text that an agent asked for (`to_read`); None: no reader."""
        return None

    def event(self, number: int) -> Event | None:
        """Return the event with this running number; None where it was erased."""
        return None

    def answered(self, wrote: ModelAnswered) -> AnsweredCalls | None:
        """Return what a model's recorded answers say; None where an event behind them was
        erased.
        """
        return None


class Extract(msgspec.Struct, frozen=True):
    """What an agent took from a record without looking at the state.

    `texts` need vectors, `turns` also vectors of their tokens. `reads` are the running numbers of
    other records whose words `texts` repeat.
    """

    content: Any = None
    reads: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()


class Agent(Protocol):
    """An agent; see `recollect.streams.agents`."""

    #: The kinds of event that it handles.
    kinds: frozenset[str]

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        """Return what can be taken from the record without the state."""
        ...

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        """Return what follows from the record in this state."""
        ...


@runtime_checkable
class ReadingAgent(Agent, Protocol):
    """An agent that wants to know what a reader reads in texts."""

    def to_read(self, event: Event, conversation: Conversation) -> Sequence[ToRead]:
        """Return the texts whose `Conversation.reading` `extract` asks for, to be read before."""
        ...
