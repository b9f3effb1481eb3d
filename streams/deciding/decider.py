"""Decide records: all agents extract from a record, then decide with the state before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Mapping, Sequence, Set
from concurrent.futures import Executor
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple, Protocol

import apsw
import msgspec

from recollect.projections.events import event_queries
from recollect.projections.events.events_file import conversation_of
from recollect.projections.readmodel import ReadModel
from recollect.schemas.changes import (
    READ_MODEL_OF_ROW,
    READ_MODEL_OF_TABLE,
    AnyRow,
    DeadLetter,
    DecidedPart,
    Delete,
    Embedding,
    RecordedAnnotations,
    Section,
)
from recollect.schemas.events import (
    Analyse,
    ConsolidateMemories,
    Content,
    Event,
    FindDreams,
    ModelAnswered,
    ModelConsolidated,
    RecordingRef,
    Reflect,
    Retry,
)
from recollect.schemas.ids import row_id, text_hash
from recollect.streams.agents import (
    AGENTS,
    Agent,
    AnnotatingAgent,
    Conversation,
    DerivingAgent,
    Extract,
    State,
    TextToAnnotate,
)
from recollect.streams.agents.agent import ModelCalls
from recollect.streams.agents.memories.memory_versions import is_private_conversation
from recollect.streams.agents.state import key_of_event
from recollect.streams.agents.vectors import embedding_rows
from recollect.streams.agents.writer.model.model_writer import combine_answers
from recollect.streams.encoder.gateway import (
    Annotations,
    EncoderGateway,
    Encodings,
    text_hash_prefix,
)
from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.ledger import Ledger
from recollect.streams.reader.packed_reading import unpacked
from recollect.streams.records.chain_readers import UnsealedEvent, event_at
from recollect.streams.records.recorded_answers import OpenedRecording, recorded_answers


class LedgerConversation(Conversation):
    """A conversation from events.db, which has the ledger's readable turns."""

    def __init__(
        self,
        connection: apsw.Connection,
        excluded: Set[int] = frozenset(),
        annotations: Annotations = MappingProxyType({}),
        answers: Callable[[Sequence[RecordingRef]], Sequence[OpenedRecording] | None] | None = None,
        retried_by: int = 0,
    ) -> None:
        """`answers` looks up recorded model answers; `retried_by`: the record that retries."""
        self._answers = answers
        self._retried_by = retried_by
        self._connection = connection
        self._excluded = excluded
        self._annotations = annotations
        #: The versions of messages, which several agents ask for, by event and record number.
        self._revisions: dict[tuple[int, int], list[Event]] = {}
        #: The numbers of all events that were read, even if they were not used.
        self.read_numbers: set[int] = set()

    def preceding(self, event: Event, limit: int) -> list[Event]:
        assert isinstance(event.payload, Content)
        conversation = conversation_of(event.payload, event.platform)
        return self._record_reads(
            event_queries.conversation_before(
                self._connection, conversation, event.number, limit, self._excluded
            )
        )

    def nearby(self, event: Event, limit: int, within_ms: int) -> event_queries.NearbyEvents:
        found = event_queries.nearby_events(
            self._connection, event, limit, within_ms, self._excluded
        )
        self.read_numbers.update(item.number for item in (*found.earlier, *found.later))
        return found

    def beside(self, event: Event, limit: int, below: int, *, is_later: bool) -> list[Event]:
        return self._record_reads(
            event_queries.events_beside(
                self._connection, event, limit, below, self._excluded, is_later=is_later
            )
        )

    def other_channels(self, event: Event, since: int) -> list[Event]:
        found = event_queries.events_in_other_conversations(self._connection, event, since)
        # A private memory is in a conversation of its readers, which nobody else may read.
        return self._record_reads(
            [each for each in self._not_excluded(found) if not is_private_conversation(each)]
        )

    def first_message(self, event: Event) -> Event | None:
        found = event_queries.first_message_of_sender(self._connection, event, self._excluded)
        return next(iter(self._record_reads([] if found is None else [found])), None)

    def participants(self, event: Event, since: int) -> list[event_queries.Speaker]:
        return event_queries.speakers_before(self._connection, event, since, self._excluded)

    def turn(self, event: Event, platform: str, turn_id: str) -> list[Event]:
        found = event_queries.turn_before(self._connection, platform, turn_id, event.number)
        return self._record_reads(self._not_excluded(found))

    def revisions(self, event: Event, below: int) -> list[Event]:
        # A retried record is decided after those between it and its retry.
        below = max(below, self._retried_by)
        if (event.number, below) not in self._revisions:
            found = event_queries.revisions_before(self._connection, event, below)
            self._revisions[event.number, below] = self._record_reads(self._not_excluded(found))
        return self._revisions[event.number, below]

    def annotation(self, text: str) -> TextReading | None:
        content = self._annotations.get(text_hash(text)) if self._annotations else None
        return None if content is None else unpacked(text, content)

    def event(self, number: int) -> Event | None:
        self.read_numbers.add(number)
        if number in self._excluded:
            return None
        return event_queries.event_by_number(self._connection, number)

    def model_calls(self, answered: ModelAnswered) -> ModelCalls | None:
        # Every source is looked up, even after a missing one, so that all are recorded as read.
        readable = [self.event(number) is not None for number in answered.sources]
        if self._answers is None or not all(readable):
            return None
        found = self._answers(answered.answers)
        return None if found is None else combine_answers(found)

    def command_calls(
        self, command: Reflect | ModelConsolidated | ConsolidateMemories | FindDreams | Analyse
    ) -> ModelCalls | None:
        # Commands are not in events.db. If the key of a source is gone, so is the answer.
        self.read_numbers.update(command.sources)
        if self._answers is None or not self._excluded.isdisjoint(command.sources):
            return None
        found = self._answers(command.answers)
        return None if found is None else combine_answers(found)

    def _not_excluded(self, events: list[Event]) -> list[Event]:
        return [item for item in events if item.number not in self._excluded]

    def _record_reads(self, found: list[Event]) -> list[Event]:
        self.read_numbers |= {item.number for item in found}
        return found


class Extracted(NamedTuple):
    """The extracts of a record, one per agent that handles it, and the vectors of its texts.

    `reads`: the numbers of the other records that were read. If one of them is erased before this
    record is resolved, this record is extracted again. `encoded()` waits for the encoder.
    `annotations`: the annotations of the record's own text.
    """

    extracts: tuple[tuple[Agent, Extract], ...]
    reads: Set[int]
    encoded: Callable[[], Encodings]
    annotations: RecordedAnnotations | None = None


class PendingAnnotations(NamedTuple):
    """The annotations of the texts that some records need.

    `own_texts`: record number -> the record's own text.

    `annotations()` waits for the reader.
    """

    own_texts: Mapping[int, str]
    annotations: Callable[[], Annotations]


class Decision(NamedTuple):
    """What the agents decided for a record; `parked`: the record was parked instead.

    `reads` are the keys that the decision depends on (`recollect.streams.agents.state`).
    """

    parts: list[DecidedPart]
    reads: Set[bytes] = frozenset()
    parked: bool = False


class DecisionFiles(Protocol):
    """The files that decisions read and write."""

    @property
    def events(self) -> ReadModel:
        """The raw turns."""
        ...

    @property
    def memory(self) -> ReadModel:
        """Facts and other memories."""
        ...

    @property
    def identity(self) -> ReadModel:
        """Entities and their mentions."""
        ...

    @property
    def decided(self) -> Sequence[ReadModel]:
        """The files that decisions are written to."""
        ...


class Decider:
    """Runs the agents over a zone's records, and writes their decisions into the open files.

    The caller holds the files' locks, and the files have applied everything up to the previous
    record.
    """

    def __init__(
        self,
        ledger: Ledger,
        zone: str,
        files: DecisionFiles,
        gateway: EncoderGateway,
        agents: Sequence[Agent] = AGENTS,
        on_first_read: Callable[[bytes], None] | None = None,
    ) -> None:
        """`on_first_read` is called with each key before the state is first queried under it."""
        self._ledger = ledger
        self._zone = zone
        self._files = files
        self._gateway = gateway
        self._agents = agents
        self._deriving = _deriving_agents(tuple(agents))
        self._on_first_read = on_first_read

    def annotate(
        self,
        records: Sequence[UnsealedEvent],
        excluded: Set[int] = frozenset(),
        parked: Container[int] = frozenset(),
        executor: Executor | None = None,
    ) -> PendingAnnotations:
        """Have the reader annotate the texts that the agents will need.

        With `executor`, the reader works in it, and `PendingAnnotations.annotations` waits for the
        reader.
        """
        if self._gateway.reader is None:
            return PendingAnnotations({}, dict)
        needed = {
            record.source.number: self._texts_to_annotate(record.event, excluded)
            for record in records
            if record.event is not None and record.source.number not in parked
        }
        texts = [each for of_record in needed.values() for each in of_record]
        if not texts:
            return PendingAnnotations({}, dict)
        own_texts = {
            number: each.text
            for number, of_record in needed.items()
            for each in of_record
            if each.number == number
        }
        if executor is not None:
            submitted = executor.submit(self._gateway.annotations, texts)
            return PendingAnnotations(own_texts, submitted.result)
        annotations = self._gateway.annotations(texts)
        return PendingAnnotations(own_texts, lambda: annotations)

    def _texts_to_annotate(self, event: Event, excluded: Set[int]) -> list[TextToAnnotate]:
        conversation = LedgerConversation(self._files.events.connection, excluded)
        return [
            each
            for agent in self._agents
            if event.kind in agent.kinds and isinstance(agent, AnnotatingAgent)
            for each in agent.texts_to_annotate(event, conversation)
        ]

    def extract(
        self,
        records: Sequence[UnsealedEvent],
        excluded: Set[int] = frozenset(),
        parked: Container[int] = frozenset(),
        executor: Executor | None = None,
        pending: PendingAnnotations | None = None,
        retried_by: int = 0,
    ) -> list[Extracted]:
        """Run the agents' `extract` on records, and encode their texts.

        Events in `excluded` are treated as erased. Records in `parked` are skipped, since the
        agents may fail on them. With `executor`, the encoder works in it while the caller goes on;
        the agents do not, because two Python threads would only wait for each other. `pending` is
        the result of `annotate` for these records; if None, they are annotated now. `retried_by`:
        the number of the record that retries them.
        """
        if pending is None:
            pending = self.annotate(records, excluded, parked)
        annotations = pending.annotations()
        rows = self._annotation_rows(pending.own_texts, annotations)
        found = [
            self._extract_one(record, excluded, parked, annotations, retried_by)
            for record in records
        ]
        extracts = [extract for of_record, _ in found for _, extract in of_record]
        texts = [text for extract in extracts for text in extract.texts]
        turns = [text for extract in extracts for text in extract.token_texts]
        if executor is not None and self._gateway.model is not None:
            submitted = executor.submit(self._gateway.encodings, texts, turns)
            encoded: Callable[[], Encodings] = submitted.result
        else:
            encodings = self._gateway.encodings(texts, turns)
            encoded = lambda: encodings  # noqa: E731
        return [
            Extracted(*of_record, encoded, rows.get(record.source.number))
            for record, of_record in zip(records, found, strict=True)
        ]

    def _annotation_rows(
        self, own_texts: Mapping[int, str], annotations: Annotations
    ) -> dict[int, RecordedAnnotations]:
        """Return the rows with the annotations of records' own texts, by record number."""
        reader = self._gateway.reader
        if reader is None:
            return {}
        keys = {number: text_hash(text) for number, text in own_texts.items()}
        return {
            number: RecordedAnnotations(
                number, reader.name, text_hash_prefix(key), annotations[key]
            )
            for number, key in keys.items()
        }

    def _extract_one(
        self,
        record: UnsealedEvent,
        excluded: Set[int],
        parked: Container[int],
        annotations: Annotations,
        retried_by: int,
    ) -> tuple[tuple[tuple[Agent, Extract], ...], Set[int]]:
        """Return each agent's extract of a record, and the numbers of all records read for them."""
        if record.event is None or record.source.number in parked:
            return (), frozenset()
        conversation = LedgerConversation(
            self._files.events.connection,
            excluded,
            annotations,
            lambda refs: recorded_answers(self._ledger, self._zone, refs),
            retried_by,
        )
        extracts = tuple(
            (agent, agent.extract(record.event, conversation))
            for agent in self._agents
            if record.event.kind in agent.kinds
        )
        return extracts, conversation.read_numbers

    def resolve(self, record: UnsealedEvent, extracted: Extracted) -> Decision:
        """Return the decision for a record; the files are not written."""
        if record.problem is not None:
            return self.park(record, record.problem)
        if record.event is None:
            return Decision([])
        state = self._state()
        for number in extracted.reads:
            state.record_read(key_of_event(number))
        if isinstance(record.event.payload, Retry):
            parts = self._retry(record, record.event.payload.number, state)
        else:
            parts = self._decide(record.event, extracted, state)
        return Decision(parts, state.reads)

    def park(self, record: UnsealedEvent, reason: str) -> Decision:
        """Return the decision that parks a record.

        The reason may quote the record that failed; for a retry, that is the retried record. A
        retry of a record that is not parked has no effect, and is not parked itself.
        """
        state = self._state()
        sources: tuple[int, ...] = (record.source.number,)
        if record.event is not None and isinstance(record.event.payload, Retry):
            letter = _parked_before(record, record.event.payload.number, state)
            if letter is None:
                return Decision([], state.reads)
            sources = (letter.number, *sources)
        row = DeadLetter(record.source.number, record.kind, reason, "parked", record.occurred_at)
        return Decision([DecidedPart(sources, puts=[row])], state.reads, parked=True)

    def project(self, parts: Sequence[DecidedPart]) -> None:
        """Write decided parts into the open files, so that the next record sees them."""
        sections: dict[str, list[Section]] = defaultdict(list)
        for part in parts:
            for name, section in _sections_of(part).items():
                sections[name].append(section)
        for model in self._files.decided:
            model.project(sections[model.name])

    def _state(self) -> State:
        return State(
            self._files.events.connection,
            self._files.memory.connection,
            self._files.identity.connection,
            self._gateway.model,
            self._gateway.dimension,
            self._on_first_read,
        )

    def _decide(self, event: Event, extracted: Extracted, state: State) -> list[DecidedPart]:
        state.encoded = extracted.encoded()
        parts = [
            part
            for agent, extract in extracted.extracts
            for part in agent.resolve(event, extract, state)
        ]
        for deriving in self._deriving:
            parts += deriving.derive(event, tuple(parts), state)
        parts += self._unused_vectors(event, extracted, parts, state)
        if extracted.annotations is not None:
            _add_annotations(extracted.annotations, parts)
        return [part for part in parts if part.puts or part.deletes or part.outbox]

    def _unused_vectors(
        self,
        event: Event,
        extracted: Extracted,
        parts: Sequence[DecidedPart],
        state: State,
    ) -> list[DecidedPart]:
        """Return the vectors of texts that no row uses, so that everything encoded is recorded.

        A duplicate of a statement becomes a fact when the first statement is forgotten. A replay
        can no longer encode it then.
        """
        if state.encoder is None:
            return []
        used = {row.text_hash for part in parts for row in part.puts if isinstance(row, Embedding)}
        unused: list[DecidedPart] = []
        for _, extract in extracted.extracts:
            texts = {key: text for text in extract.texts if (key := text_hash(text)) not in used}
            used |= texts.keys()
            sources = tuple(sorted({event.number, *extract.sources}))
            rows = embedding_rows(
                state,
                event.ingested_at,
                *(("text", row_id(0, "text", event.id, key), text) for key, text in texts.items()),
            )
            unused.append(DecidedPart(sources, puts=list(rows)))
        return unused

    def _retry(self, record: UnsealedEvent, number: int, state: State) -> list[DecidedPart]:
        """Decide a parked record again, with the current agents and state."""
        letter = _parked_before(record, number, state)
        if letter is None:
            return []
        state.record_read(key_of_event(number))
        parked = event_at(self._ledger, self._zone, number)
        if parked is None or parked.event is None or parked.kind == "park":
            return []
        (extracted,) = self.extract([parked], retried_by=record.source.number)
        for read in extracted.reads:
            state.record_read(key_of_event(read))
        retried = msgspec.structs.replace(letter, state="retried")
        # The row contains the reason, which may quote the parked record, so that is a source too.
        letter_part = DecidedPart((number, record.source.number), puts=[retried])
        return [*self._decide(parked.event, extracted, state), letter_part]


@lru_cache(maxsize=8)
def _deriving_agents(agents: tuple[Agent, ...]) -> list[DerivingAgent]:
    # A check against a protocol costs as much as many queries.
    return [agent for agent in agents if isinstance(agent, DerivingAgent)]


def _sections_of(part: DecidedPart) -> dict[str, Section]:
    """Return the deletes and rows of a part by read model."""
    deletes: dict[str, list[Delete]] = defaultdict(list)
    puts: dict[str, list[AnyRow]] = defaultdict(list)
    for delete in part.deletes:
        deletes[READ_MODEL_OF_TABLE[delete.table]].append(delete)
    for row in part.puts:
        puts[READ_MODEL_OF_ROW[type(row)]].append(row)
    return {
        model: Section(tuple(deletes.get(model, ())), tuple(puts.get(model, ())))
        for model in deletes.keys() | puts.keys()
    }


def _add_annotations(row: RecordedAnnotations, parts: list[DecidedPart]) -> None:
    """Add the annotations of an event's own text to the part whose only source is that event."""
    part = next((part for part in parts if part.sources == (row.number,)), None)
    if part is None:
        part = DecidedPart((row.number,))
        parts.append(part)
    part.puts.append(row)


def _parked_before(record: UnsealedEvent, number: int, state: State) -> DeadLetter | None:
    """Return the dead letter of record `number` if it precedes `record` and is still parked."""
    letter = state.dead_letter(number)
    if letter is None or letter.state != "parked" or number >= record.source.number:
        return None
    return letter
