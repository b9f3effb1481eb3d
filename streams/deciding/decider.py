"""Deciding: all agents extract from a record and resolve it against the state before it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence, Set
from concurrent.futures import Executor
from types import MappingProxyType
from typing import NamedTuple, Protocol

import apsw
import msgspec

from recollect.projections.events import event_queries as thread
from recollect.projections.events.events_file import conversation_of
from recollect.projections.readmodel import ReadModel
from recollect.schemas.changes import (
    READ_MODEL_OF_ROW,
    READ_MODEL_OF_TABLE,
    DeadLetter,
    DecidedPart,
    Embedding,
    RecordedAnnotations,
    Section,
)
from recollect.schemas.events import Content, Event, ModelAnswered, Retry
from recollect.schemas.ids import row_id, text_hash
from recollect.streams.agents import (
    AGENTS,
    Agent,
    Conversation,
    Extract,
    ReadingAgent,
    State,
    ToRead,
)
from recollect.streams.agents.agent import AnsweredCalls
from recollect.streams.agents.state import key_of_event
from recollect.streams.agents.vectors import embedding_rows
from recollect.streams.agents.writer.model_writer import answered_calls
from recollect.streams.encoder.gateway import Answers, EncoderGateway, Readings, text_mark
from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.ledger import Ledger
from recollect.streams.reader.packed_reading import unpacked
from recollect.streams.reading.readers import UnsealedEvent, event_at
from recollect.streams.reading.recorded_answers import OpenedRecording, recorded_answers


class LedgerThread(Conversation):
    """A conversation from events.db, which holds the ledger's readable turns."""

    def __init__(
        self,
        connection: apsw.Connection,
        without: Set[int] = frozenset(),
        readings: Readings = MappingProxyType({}),
        recorded: Callable[[ModelAnswered], Sequence[OpenedRecording] | None] | None = None,
    ) -> None:
        """`recorded` looks up what models answered."""
        self._recorded = recorded
        self._connection = connection
        self._without = without
        self._readings = readings
        #: The numbers of all events that were looked at, used or not.
        self.looked_at: set[int] = set()

    def before(self, event: Event, limit: int) -> list[Event]:
        assert isinstance(event.payload, Content)
        place = conversation_of(event.payload, event.platform)
        found = thread.conversation_before(self._connection, place, event.number, limit)
        if any(item.number in self._without for item in found):
            most = limit + len(self._without)
            found = thread.conversation_before(self._connection, place, event.number, most)
        return self._noted([item for item in found if item.number not in self._without][:limit])

    def other_channels(self, event: Event, since: int) -> list[Event]:
        found = thread.elsewhere_before(self._connection, event, since)
        return self._noted([item for item in found if item.number not in self._without])

    def first_message(self, event: Event) -> Event | None:
        found = thread.conversation_began(self._connection, event, self._without)
        return next(iter(self._noted([] if found is None else [found])), None)

    def participants(self, event: Event, since: int) -> list[thread.Speaker]:
        return thread.speakers_before(self._connection, event, since, self._without)

    def turn(self, event: Event, platform: str, turn_id: str) -> list[Event]:
        found = thread.turn_before(self._connection, platform, turn_id, event.number)
        return self._noted([item for item in found if item.number not in self._without])

    def revisions(self, event: Event, below: int) -> list[Event]:
        found = thread.revisions_before(self._connection, event, below)
        return self._noted([item for item in found if item.number not in self._without])

    def reading(self, text: str) -> TextReading | None:
        content = self._readings.get(text_hash(text))
        return None if content is None else unpacked(text, content)

    def event(self, number: int) -> Event | None:
        self.looked_at.add(number)
        if number in self._without:
            return None
        return thread.event_numbered(self._connection, number)

    def answered(self, wrote: ModelAnswered) -> AnsweredCalls | None:
        # Also those that are gone: a decision from less than was said is another decision.
        here = [self.event(number) is not None for number in wrote.sources]
        if self._recorded is None or not all(here):
            return None
        found = self._recorded(wrote)
        return None if found is None else answered_calls(found)

    def _noted(self, found: list[Event]) -> list[Event]:
        self.looked_at |= {item.number for item in found}
        return found


class Extracted(NamedTuple):
    """The extracts of one record, one per agent that handles it, and its texts' vectors.

    `reads` are the numbers of the other records that were looked at. If one of them is erased
    before the record is resolved, the extracts are made again. `encoded()` waits for the encoder
    if it is still at work. `own`: what was read in the record's own text.
    """

    extracts: tuple[tuple[Agent, Extract], ...]
    reads: Set[int]
    encoded: Callable[[], Answers]
    own: RecordedAnnotations | None = None


class Looked(NamedTuple):
    """What the reader was asked of some records: the own text of each, and all that it read.

    `readings()` waits for the reader if it is still at work.
    """

    own: Mapping[int, str]
    readings: Callable[[], Readings]


class Decision(NamedTuple):
    """What the agents decided from a record; `parked`: they could not.

    `reads` are the keys of all that it depends on (`recollect.streams.agents.state`).
    """

    parts: list[DecidedPart]
    reads: Set[bytes] = frozenset()
    parked: bool = False


class Files(Protocol):
    """The files that decisions are made from, and are written into."""

    @property
    def events(self) -> ReadModel:
        """The raw turns."""
        ...

    @property
    def memory(self) -> ReadModel:
        """Facts, and what else is known of the zone."""
        ...

    @property
    def identity(self) -> ReadModel:
        """Who and what the zone speaks of."""
        ...

    @property
    def decided(self) -> Sequence[ReadModel]:
        """All files that decisions are written into."""
        ...


class Decider:
    """Runs the agents over one zone's records and writes what they decide into the open files.

    The caller holds the files' locks, and the files stand at the record before.
    """

    def __init__(
        self,
        ledger: Ledger,
        zone: str,
        files: Files,
        gateway: EncoderGateway,
        agents: Sequence[Agent] = AGENTS,
        before: Callable[[bytes], None] | None = None,
    ) -> None:
        """`before` is called with each key before the state is first asked under it."""
        self._ledger = ledger
        self._zone = zone
        self._files = files
        self._gateway = gateway
        self._agents = agents
        self._before = before

    def look(
        self,
        records: Sequence[UnsealedEvent],
        without: Set[int] = frozenset(),
        parked: Container[int] = frozenset(),
        ahead: Executor | None = None,
    ) -> Looked:
        """Ask the reader for what the agents will want to know of the records' texts.

        With `ahead`, it works in that executor; `Looked.readings` waits for it.
        """
        if self._gateway.reader is None:
            return Looked({}, dict)
        wanted = {
            record.source.number: self._to_read(record.event, without)
            for record in records
            if record.event is not None and record.source.number not in parked
        }
        texts = [each for of_record in wanted.values() for each in of_record]
        if not texts:
            return Looked({}, dict)
        own = {
            number: each.text
            for number, of_record in wanted.items()
            for each in of_record
            if each.number == number
        }
        if ahead is not None:
            return Looked(own, ahead.submit(self._gateway.readings, texts).result)
        read = self._gateway.readings(texts)
        return Looked(own, lambda: read)

    def _to_read(self, event: Event, without: Set[int]) -> list[ToRead]:
        conversation = LedgerThread(self._files.events.connection, without)
        return [
            each
            for agent in self._agents
            if event.kind in agent.kinds and isinstance(agent, ReadingAgent)
            for each in agent.to_read(event, conversation)
        ]

    def extract(
        self,
        records: Sequence[UnsealedEvent],
        without: Set[int] = frozenset(),
        parked: Container[int] = frozenset(),
        ahead: Executor | None = None,
        looked: Looked | None = None,
    ) -> list[Extracted]:
        """Return what the records say; reads the ledger's threads, and asks the encoder.

        Events in `without` count as erased and are not read. Records in `parked` are not tried,
        since the agents may fail on them. With `ahead`, the encoder works in that executor while
        the caller goes on. The agents do not: two threads of Python would only wait for each
        other. `looked`: what the reader was asked of them before; None: it is asked now.
        """
        if looked is None:
            looked = self.look(records, without, parked)
        readings = looked.readings()
        own = self._recorded(looked.own, readings)
        read = [self._read(record, without, parked, readings) for record in records]
        made = [extract for of_record, _ in read for _, extract in of_record]
        texts = [text for extract in made for text in extract.texts]
        turns = [text for extract in made for text in extract.turns]
        if ahead is not None:
            awaited = ahead.submit(self._gateway.answers, texts, turns)
            encoded: Callable[[], Answers] = awaited.result
        else:
            answers = self._gateway.answers(texts, turns)
            encoded = lambda: answers  # noqa: E731
        return [
            Extracted(*of_record, encoded, own.get(record.source.number))
            for record, of_record in zip(records, read, strict=True)
        ]

    def _recorded(
        self, own: Mapping[int, str], readings: Readings
    ) -> dict[int, RecordedAnnotations]:
        """Return the rows of what was read in the own text of records, by their numbers."""
        reader = self._gateway.reader
        if reader is None:
            return {}
        keys = {number: text_hash(text) for number, text in own.items()}
        return {
            number: RecordedAnnotations(number, reader.name, text_mark(key), readings[key])
            for number, key in keys.items()
        }

    def _read(
        self,
        record: UnsealedEvent,
        without: Set[int],
        parked: Container[int],
        readings: Readings,
    ) -> tuple[tuple[tuple[Agent, Extract], ...], Set[int]]:
        """Return each agent's extract of a record, and the numbers of what they looked at."""
        if record.event is None or record.source.number in parked:
            return (), frozenset()
        conversation = LedgerThread(
            self._files.events.connection,
            without,
            readings,
            lambda wrote: recorded_answers(self._ledger, self._zone, wrote.answers),
        )
        extracts = tuple(
            (agent, agent.extract(record.event, conversation))
            for agent in self._agents
            if record.event.kind in agent.kinds
        )
        return extracts, conversation.looked_at

    def resolve(self, record: UnsealedEvent, extracted: Extracted) -> Decision:
        """Return what follows from a record; the files are not written."""
        if record.problem is not None:
            return self.park(record, record.problem)
        if record.event is None:
            return Decision([])
        state = self._state()
        for number in extracted.reads:
            state.note(key_of_event(number))
        if isinstance(record.event.payload, Retry):
            parts = self._retry(record, record.event.payload.number, state)
        else:
            parts = self._decide(record.event, extracted, state)
        return Decision(parts, frozenset(state.reads))

    def park(self, record: UnsealedEvent, reason: str) -> Decision:
        """Return the decision that parks a record.

        The reason may quote the record that could not be decided, which for a retry is another
        one. A retry of a record that is not parked does nothing, so nothing is parked.
        """
        state = self._state()
        sources: tuple[int, ...] = (record.source.number,)
        if record.event is not None and isinstance(record.event.payload, Retry):
            letter = _parked_before(record, record.event.payload.number, state)
            if letter is None:
                return Decision([], frozenset(state.reads))
            sources = (letter.number, *sources)
        row = DeadLetter(record.source.number, record.kind, reason, "parked", record.occurred_at)
        return Decision([DecidedPart(sources, puts=[row])], frozenset(state.reads), parked=True)

    def project(self, parts: Iterable[DecidedPart]) -> None:
        """Write decided parts into the open files, so that the next record sees them."""
        for part in parts:
            for model in self._files.decided:
                deletes = tuple(
                    d for d in part.deletes if READ_MODEL_OF_TABLE[d.table] == model.name
                )
                puts = tuple(row for row in part.puts if READ_MODEL_OF_ROW[type(row)] == model.name)
                if deletes or puts:
                    model.project([Section(deletes, puts)])

    def _state(self) -> State:
        return State(
            self._files.events.connection,
            self._files.memory.connection,
            self._files.identity.connection,
            self._gateway.model,
            self._gateway.dimension,
            self._before,
        )

    def _decide(self, event: Event, extracted: Extracted, state: State) -> list[DecidedPart]:
        state.encoded = extracted.encoded()
        parts = [
            part
            for agent, extract in extracted.extracts
            for part in agent.resolve(event, extract, state)
        ]
        parts += self._unused_vectors(event, extracted, parts, state)
        if extracted.own is not None:
            _add(extracted.own, parts)
        return [part for part in parts if part.puts or part.deletes or part.outbox]

    def _unused_vectors(
        self,
        event: Event,
        extracted: Extracted,
        parts: Sequence[DecidedPart],
        state: State,
    ) -> list[DecidedPart]:
        """Return the vectors of texts that led to no row: all that the encoder answers is recorded.

        A sentence that only repeats another becomes a fact when that one is forgotten, and no
        replay may ask the encoder for it.
        """
        used = {row.text_hash for part in parts for row in part.puts if isinstance(row, Embedding)}
        unused: list[DecidedPart] = []
        for _, extract in extracted.extracts:
            texts = {key: text for text in extract.texts if (key := text_hash(text)) not in used}
            used |= texts.keys()
            sources = tuple(sorted({event.number, *extract.reads}))
            rows = embedding_rows(
                state,
                event.ingested_at,
                *(("text", row_id(0, "text", event.id, key), text) for key, text in texts.items()),
            )
            unused.append(DecidedPart(sources, puts=list(rows)))
        return unused

    def _retry(self, record: UnsealedEvent, number: int, state: State) -> list[DecidedPart]:
        """Decide a parked record again, with today's agents and today's state."""
        letter = _parked_before(record, number, state)
        if letter is None:
            return []
        state.note(key_of_event(number))
        parked = event_at(self._ledger, self._zone, number)
        if parked is None or parked.event is None or parked.kind == "park":
            return []
        extracted = self.extract([parked])[0]
        for read in extracted.reads:
            state.note(key_of_event(read))
        retried = msgspec.structs.replace(letter, state="retried")
        # The row repeats the reason, which may quote the record that was parked.
        own = DecidedPart((number, record.source.number), puts=[retried])
        return [*self._decide(parked.event, extracted, state), own]


def _add(row: RecordedAnnotations, parts: list[DecidedPart]) -> None:
    """Add what was read in an event's own text to what rests on that event alone."""
    part = next((part for part in parts if part.sources == (row.number,)), None)
    if part is None:
        part = DecidedPart((row.number,))
        parts.append(part)
    part.puts.append(row)


def _parked_before(record: UnsealedEvent, number: int, state: State) -> DeadLetter | None:
    """Return the letter of `number` if that came before `record` and is parked now."""
    letter = state.dead_letter(number)
    if letter is None or letter.state != "parked" or number >= record.source.number:
        return None
    return letter
