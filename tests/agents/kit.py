"""Test kit for agents: given records or rows, when an agent reads a record, then these parts.

There is no node, ledger or file. The state is three read models in memory, the conversation a list.
The rows of each decision are put into the state before the next record, as a driver does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import apsw

from recollect.projections.events import EventsModel
from recollect.projections.events.event_queries import NearbyEvent, NearbyEvents, Speaker
from recollect.projections.identity import IdentityModel
from recollect.projections.memory import MemoryModel
from recollect.projections.sqlite import rows
from recollect.schemas.changes import READ_MODEL_OF_ROW, AnyRow, DecidedPart, Row, Section
from recollect.schemas.events import (
    AnyPayload,
    Content,
    Deletion,
    Draft,
    Edit,
    Event,
    Message,
    ModelAnswered,
    Remember,
    TurnCompleted,
    message_of,
)
from recollect.schemas.ids import event_id
from recollect.streams.agents import Agent, Conversation, DerivingAgent, State
from recollect.streams.agents.agent import ModelCalls
from recollect.streams.agents.identity.entity_resolver import EntityResolver
from recollect.streams.encoder.gateway import EncoderGateway
from recollect.streams.language.grammar.text_reading import TextReading
from tests.protocol.kit import DIMENSION, MODEL, TinyEncoder

#: 2026-01-05T10:00:00Z, a Monday.
START = 1_767_607_200_000
MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR

RowType = TypeVar("RowType", bound=Row)


class Thread(Conversation):
    """The conversation of a record, from a list of events."""

    def __init__(
        self,
        events: Sequence[Event],
        annotate: Callable[[str], TextReading | None] = lambda _: None,
    ) -> None:
        """`annotate`: what the reader says of a text."""
        self._events = events
        self._annotate = annotate

    def event(self, number: int) -> Event | None:
        return next((each for each in self._events if each.number == number), None)

    def model_calls(self, wrote: ModelAnswered) -> ModelCalls:
        """Return the answer of a model that proposes the message as a fact, and as a note."""
        about = self.event(wrote.about)
        assert about is not None
        assert isinstance(about.payload, Content)
        words = about.payload.content
        fact = {"text": words, "metadata": {"evidence": words}}
        text = {"name": "kilns", "text": words, "reason": "so that it is known"}
        calls = [
            ("insert_fact", json.dumps(fact)),
            ("propose_writer_text", json.dumps(text)),
        ]
        return ModelCalls(calls, 1, 100, 20, 0.0)

    def preceding(self, event: Event, limit: int) -> list[Event]:
        place = _place(event)
        near = [
            item
            for item in self._below(event)
            if _place(item) == place and not isinstance(item.payload, Deletion)
        ]
        return near[::-1][:limit]

    def nearby(self, event: Event, limit: int, within_ms: int) -> NearbyEvents:
        place = _place(event)
        near = [
            NearbyEvent(
                item.number,
                item.id,
                item.occurred_at,
                message_of(item).sender_name or "",
                message_of(item).content,
            )
            for item in sorted(self._below(event), key=lambda item: item.id)
            if _place(item) == place
            and not isinstance(item.payload, Deletion)
            and abs(item.occurred_at - event.occurred_at) <= within_ms
        ]
        earlier = [item for item in near if item.id < event.id]
        later = [item for item in near if item.id > event.id]
        return NearbyEvents(tuple(earlier[::-1][:limit]), tuple(later[:limit]))

    def beside(self, event: Event, limit: int, below: int, *, is_later: bool) -> list[Event]:
        place = _place(event)
        near = [
            item
            for item in sorted(self._events, key=lambda item: item.id, reverse=not is_later)
            if _place(item) == place
            and not isinstance(item.payload, Deletion)
            and item.number < below
            and (item.id > event.id if is_later else item.id < event.id)
        ]
        return near[:limit]

    def first_message(self, event: Event) -> Event | None:
        sender = _sender(event)
        same = (one for one in reversed(self.preceding(event, 1_000)) if _sender(one) == sender)
        return next(same, None)

    def turn(self, event: Event, platform: str, turn_id: str) -> list[Event]:
        return [
            item
            for item in self._below(event)
            if item.platform == platform
            and isinstance(item.payload, Content)
            and item.payload.turn_id == turn_id
        ]

    def other_channels(self, event: Event, since: int) -> list[Event]:
        content = event.payload
        assert isinstance(content, Content)
        found = [
            item
            for item in self._below(event)
            if item.number >= since
            and item.platform == event.platform
            and isinstance(said := item.payload, Content)
            and not isinstance(said, Deletion)
            and said.sender_id == content.sender_id
            and _place(item) != _place(event)
        ]
        return found[::-1]

    def participants(self, event: Event, since: int) -> list[Speaker]:
        content = event.payload
        assert isinstance(content, Content)
        last = {
            (said.sender_id, said.sender_name): Speaker(
                item.number, item.platform, said.sender_id, said.sender_name
            )
            for item in self._below(event)
            if item.number >= since
            and isinstance(said := item.payload, Content)
            and not isinstance(said, Deletion)
            and item.platform == event.platform
            and (
                said.peer_id == content.peer_id
                if content.peer_id
                else _place(item) == _place(event)
            )
        }
        return sorted(last.values(), reverse=True)

    def annotation(self, text: str) -> TextReading | None:
        return self._annotate(text)

    def revisions(self, event: Event, below: int) -> list[Event]:
        return [
            item
            for item in self._events
            if item.number < below
            and item.number != event.number
            and (item.platform, _message(item)) == (event.platform, _message(event))
        ]

    def _below(self, event: Event) -> list[Event]:
        return [item for item in self._events if item.number < event.number]


def _sender(event: Event) -> str:
    return message_of(event).sender_id


def _message(event: Event) -> str | None:
    payload = event.payload
    if not isinstance(payload, Message | TurnCompleted | Remember | Edit | Deletion):
        return None
    return payload.target if isinstance(payload, Edit | Deletion) else payload.source_id


def _place(event: Event) -> tuple[str | None, ...] | None:
    content = event.payload
    if not isinstance(content, Content):
        return None
    return event.platform, content.peer_id, content.thread_id, content.session_id


class Outcome:
    """The decision on one record."""

    def __init__(self, event: Event, parts: Sequence[DecidedPart]) -> None:
        self.event = event
        self.parts = list(parts)

    @property
    def puts(self) -> list[AnyRow]:
        return [row for part in self.parts for row in part.puts]

    @property
    def outbox(self) -> list[Draft]:
        return [draft for part in self.parts for draft in part.outbox]

    def rows(self, kind: type[RowType]) -> list[RowType]:
        return [row for row in self.puts if isinstance(row, kind)]

    def sources_of(self, kind: type[Row]) -> list[tuple[int, ...]]:
        """Return the source numbers of each row of a kind."""
        return [p.sources for p in self.parts for row in p.puts if isinstance(row, kind)]


class Zone:
    """A zone in memory, with the agents that decide its records."""

    def __init__(
        self,
        *agents: Agent,
        encoder: bool = False,
        gateway: EncoderGateway | None = None,
        annotate: Callable[[str], TextReading | None] = lambda _: None,
    ) -> None:
        """`encoder`: use one whose vectors are hashes of the texts; `gateway`: to another one.

        `annotate`: what the reader says of a text.
        """
        self._agents = agents
        self._annotate = annotate
        self._gateway = gateway or EncoderGateway(
            MODEL if encoder else None, DIMENSION, TinyEncoder
        )
        self._events = EventsModel(None)
        self._memory = MemoryModel(None)
        self._identity = IdentityModel(None)
        self.events: list[Event] = []

    def given(self, *what: Draft | Row) -> Zone:
        """Read records, and put rows into the state, in order."""
        for item in what:
            if isinstance(item, Draft):
                self.read(item)
            else:
                self._put([item])
        return self

    def read(self, draft: Draft) -> Outcome:
        """Let the agents read the next record; return what they decide."""
        event = self.next_event(draft)
        self._events.project_events([event], [(event.number, b"key")])
        said = [
            (agent, agent.extract(event, Thread(self.events, self._annotate)))
            for agent in self._agents
            if event.kind in agent.kinds
        ]
        # One state for all agents, as one decision has.
        state = self.state(
            [text for _, extract in said for text in extract.texts],
            [text for _, extract in said for text in extract.token_texts],
        )
        parts = [part for agent, extract in said for part in agent.resolve(event, extract, state)]
        for agent in self._agents:
            if isinstance(agent, DerivingAgent):
                parts += agent.derive(event, tuple(parts), state)
        self.events.append(event)
        outcome = Outcome(event, parts)
        self._put(outcome.puts)
        return outcome

    def next_event(self, draft: Draft) -> Event:
        """Return the event that a draft becomes, without reading it."""
        return Event(
            zone="z",
            number=len(self.events) + 1,
            id=event_id("z", draft.platform, draft.payload.source_id, draft.occurred_at),
            platform=draft.platform,
            occurred_at=draft.occurred_at,
            ingested_at=draft.occurred_at if draft.ingested_at is None else draft.ingested_at,
            payload=draft.payload,
        )

    def state(self, texts: Sequence[str] = (), turns: Sequence[str] = ()) -> State:
        """Return the state after all records, with the vectors of these texts."""
        state = State(
            self._events.connection,
            self._memory.connection,
            self._identity.connection,
            self._gateway.model,
            self._gateway.dimension,
        )
        state.encoded = self._gateway.encodings(texts, turns)
        return state

    def resolver(self, draft: Draft) -> EntityResolver:
        """Return a resolver for the next record, without reading it."""
        return EntityResolver(self.state(), self.next_event(draft))

    @property
    def identity(self) -> apsw.Connection:
        """The connection to the identity read model."""
        return self._identity.connection

    def keep(self, resolver: EntityResolver) -> None:
        """Put a resolver's rows into the state."""
        self._put(resolver.rows)

    def ask(self, model: str, sql: str, *bindings: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query on one of the three read models."""
        files = {"events": self._events, "memory": self._memory, "identity": self._identity}
        return rows(files[model].connection, sql, bindings)

    def dump(self) -> list[list[tuple[Any, ...]]]:
        """Return every row of the three read models."""
        found = []
        for model in ("events", "memory", "identity"):
            sql = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
            found += [
                self.ask(model, f'SELECT * FROM "{name}"') for (name,) in self.ask(model, sql)
            ]
        return found

    def facts(self) -> list[str]:
        """Return the sentences of all facts, oldest first."""
        return [text for (text,) in self.ask("memory", "SELECT text FROM facts ORDER BY as_of, id")]

    def current_facts(self) -> list[str]:
        """Return the sentences of the facts that are neither superseded nor retracted."""
        sql = (
            "SELECT text FROM facts WHERE id NOT IN (SELECT fact_id FROM fact_ends) "
            "ORDER BY as_of, id"
        )
        return [text for (text,) in self.ask("memory", sql)]

    def people(self) -> list[tuple[str, list[str]]]:
        """Return (name, merged names and accounts) of each canonical person, sorted."""
        below: dict[str, list[str]] = {}
        for id_, name in self.ask("identity", "SELECT id, name FROM entities"):
            end = self.canonical_id(id_)
            below.setdefault(end, [])
            if end != id_:
                below[end].append(str(name))
        sql = "SELECT id, name FROM entities WHERE type = 'person' AND merged_into IS NULL"
        return sorted((name, sorted(below[id_])) for id_, name in self.ask("identity", sql))

    def owner_of(self, handle: str, platform: str = "chat") -> str:
        """Return the id of the canonical entity of an account."""
        ((entity,),) = self.ask(
            "identity",
            "SELECT entity_id FROM handles WHERE platform = ? AND handle = ?",
            platform,
            handle,
        )
        return self.canonical_id(entity)

    def canonical_id(self, entity: str) -> str:
        """Return the id of an entity's canonical entity."""
        while True:
            ((winner,),) = self.ask(
                "identity", "SELECT merged_into FROM entities WHERE id = ?", entity
            )
            if winner is None:
                return str(entity)
            entity = winner

    def mentioned_in(self, source_id: str) -> list[tuple[str, str]]:
        """Return (text, id of the canonical entity) of the mentions in an event, in order."""
        ((event,),) = self.ask("events", "SELECT id FROM events WHERE source_id = ?", source_id)
        sql = (
            "SELECT mention_text, entity_id FROM mentions WHERE event_id = ? "
            "AND char_offset_start >= 0 AND entity_id <> '' GROUP BY char_offset_start, entity_id "
            "ORDER BY char_offset_start"
        )
        found = self.ask("identity", sql, event)
        return [(str(words), self.canonical_id(entity)) for words, entity in found]

    def pending_merges(self) -> list[tuple[str, str, str]]:
        """Return (name, name, reason) of each merge that is pending review."""
        sql = (
            "SELECT a.name, b.name, reason FROM merge_candidates "
            "JOIN entities AS a ON a.id = entity_a_id JOIN entities AS b ON b.id = entity_b_id "
            "WHERE status = 'pending' ORDER BY a.name, b.name, reason"
        )
        return [(str(a), str(b), str(why)) for a, b, why in self.ask("identity", sql)]

    def _put(self, puts: Sequence[AnyRow] | Sequence[Row]) -> None:
        for row in puts:
            for model in (self._memory, self._identity):
                if READ_MODEL_OF_ROW[type(row)] == model.name:
                    model.project([Section(puts=(row,))])


def says(
    who: str,
    words: str,
    *,
    account: str | None = None,
    id: str | None = None,
    at: int = START,
    platform: str = "chat",
    kind: type[Message | Edit | Deletion] = Message,
    **fields: Any,
) -> Draft:
    """Return a message; its account is by default the name in lower case."""
    sender = who.lower() if account is None else account
    return Draft(
        platform=platform,
        occurred_at=at,
        payload=kind(
            source_id=id or f"{who}/{sender}: {words}",
            sender_id=sender,
            sender_name=who or None,
            content=words,
            **fields,
        ),
    )


def ends_turn(turn: str, words: str = "", *, at: int = START, platform: str = "chat") -> Draft:
    """Return the end of an agent's turn."""
    return Draft(
        platform=platform,
        occurred_at=at,
        payload=TurnCompleted(
            source_id=f"end:{turn}:{at}", sender_id="agent", content=words, turn_id=turn
        ),
    )


def asks_to_remember(words: str, *, by: str = "Ada", at: int = START, **fields: Any) -> Draft:
    """Return a request to remember something."""
    return Draft(
        platform="chat",
        occurred_at=at,
        payload=Remember(
            source_id=f"remember:{at}:{words}",
            sender_id=by.lower(),
            sender_name=by,
            content=words,
            **fields,
        ),
    )


def command(payload: AnyPayload, *, at: int = START) -> Draft:
    """Return a command."""
    return Draft(platform="recollect", occurred_at=at, payload=payload)
