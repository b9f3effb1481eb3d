"""The interface of agents: what they may read, and what they return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec

from recollect.projections.events.event_queries import NearbyEvents, Speaker
from recollect.schemas.changes import DecidedPart
from recollect.schemas.events import (
    Analyse,
    ConsolidateMemories,
    Event,
    FindDreams,
    ModelAnswered,
    ModelConsolidated,
    Reflect,
)
from recollect.streams.agents.state import State
from recollect.streams.language.grammar.text_reading import TextReading


class TextToAnnotate(NamedTuple):
    """A text for the reader to annotate, and the number of the event that it is from."""

    number: int
    text: str


class ModelCalls(NamedTuple):
    """The tool calls (name, JSON arguments) that a model made about an event, and their cost.

    `requests` is the number of requests sent; `cost` is in the currency of the configured prices.
    """

    calls: Sequence[tuple[str, str]]
    requests: int
    tokens_in: int
    tokens_out: int
    cost: float


class Conversation(Protocol):
    """What `extract` may see besides its record: the conversation before it."""

    def preceding(self, event: Event, limit: int) -> Sequence[Event]:
        """Return up to `limit` events of the same conversation, the nearest first."""
        ...

    def nearby(self, event: Event, limit: int, within_ms: int) -> NearbyEvents:
        """Return up to `limit` earlier and later events of the conversation, by their own times.

        Only events that were accepted before `event` count, and whose times are within `within_ms`.
        """
        return NearbyEvents()

    def beside(self, event: Event, limit: int, below: int, *, is_later: bool) -> Sequence[Event]:
        """Return up to `limit` events of a conversation said later, or earlier, the nearest first.

        Only events that were accepted before the number `below` count.
        """
        return ()

    def other_channels(self, event: Event, since: int) -> Sequence[Event]:
        """Return the sender's earlier messages in other conversations of the platform.

        Events before the number `since` do not count. The nearest message comes first.
        """
        return ()

    def first_message(self, event: Event) -> Event | None:
        """Return the sender's first message in the conversation, if it is before `event`."""
        return None

    def participants(self, event: Event, since: int) -> Sequence[Speaker]:
        """Return who wrote in the conversation before `event`, the latest first.

        Events before the number `since` do not count.
        """
        return ()

    def turn(self, event: Event, platform: str, turn_id: str) -> Sequence[Event]:
        """Return the events of a turn that come before `event`, in order."""
        ...

    def revisions(self, event: Event, below: int) -> Sequence[Event]:
        """Return the other versions of an event's message, and its deletions, in ledger order.

        Only events before the number `below` count or, if the record is retried, those before its
        retry. An event that is not a version of a message has none.
        """
        ...

    def annotation(self, text: str) -> TextReading | None:
        """Return the annotation of one of the `texts_to_annotate`; None without a reader."""
        return None

    def event(self, number: int) -> Event | None:
        """Return the event with this number; None if it was erased."""
        return None

    def model_calls(self, answered: ModelAnswered) -> ModelCalls | None:
        """Return a model's recorded tool calls; None if one of their source events was erased."""
        return None

    def command_calls(
        self, command: Reflect | ModelConsolidated | ConsolidateMemories | FindDreams | Analyse
    ) -> ModelCalls | None:
        """Return a model's recorded tool calls; None if one of their source events was erased."""
        return None


class Extract(msgspec.Struct, frozen=True):
    """What an agent extracted from a record, without the state.

    Attributes:
        content: any value for `resolve`.
        sources: the numbers of the other records whose words `texts` repeat.
        texts: the texts that need a vector.
        token_texts: the texts that need a vector and a vector for each of their tokens.
    """

    content: Any = None
    sources: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()
    token_texts: tuple[str, ...] = ()


class Agent(Protocol):
    """An agent; see `recollect.streams.agents`."""

    #: The kinds of event that the agent handles.
    kinds: frozenset[str]

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        """Extract from the record and its conversation, without the state."""
        ...

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        """Return the rows to write for the record in this state, grouped by their sources."""
        ...


@runtime_checkable
class AnnotatingAgent(Agent, Protocol):
    """An agent that uses the reader's annotations."""

    def texts_to_annotate(
        self, event: Event, conversation: Conversation
    ) -> Sequence[TextToAnnotate]:
        """Return the texts for which `extract` will call `Conversation.annotation`."""
        ...


@runtime_checkable
class DerivingAgent(Agent, Protocol):
    """An agent that adds to what all agents decided for a record, whatever its kind."""

    def derive(
        self, event: Event, decided: Sequence[DecidedPart], state: State
    ) -> list[DecidedPart]:
        """Return further rows for the record, given the rows that all agents decided for it."""
        ...
