"""A dry run of the model writer: it processes events in order and records nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
import msgspec

from recollect.home.open_zone import OpenHome
from recollect.operations.ingestion.file_conversation import FileConversation
from recollect.operations.writing.writing import open_client, writer_prompt
from recollect.projections.events.event_queries import Speaker
from recollect.projections.identity import entity_queries as identity
from recollect.projections.memory import memory_queries as memory
from recollect.schemas.changes import AnyRow, Entity, Fact, ModelWriteStats
from recollect.schemas.events import (
    RESERVED_PLATFORM,
    Content,
    Draft,
    Event,
    ModelAnswered,
    RecordingRef,
)
from recollect.schemas.ids import event_id
from recollect.schemas.ledger.recordings import RECORDING_FORMAT, RecordingHeader
from recollect.schemas.times import format_time
from recollect.schemas.wire import EventModelUsage, WriteReport
from recollect.streams.agents import Conversation, State
from recollect.streams.agents.agent import ModelCalls
from recollect.streams.agents.writer.model.model_writer import ModelWriter, combine_answers
from recollect.streams.language.grammar.enrichment import ALL, Without
from recollect.streams.language.relations.content_words import content_words
from recollect.streams.models.chat import ChatRequest
from recollect.streams.models.model_client import ModelClient, PromptRejected
from recollect.streams.records.recorded_answers import OpenedRecording
from recollect.streams.writing.cost_estimates import estimate_cost
from recollect.streams.writing.model_loop import (
    RecalledMemory,
    WriteTask,
    first_request,
    write_event,
    write_task_for,
)
from recollect.streams.writing.recorder import to_recorded
from recollect.streams.writing.writer_prompt import WriterPrompt, writer_prompt_of

if TYPE_CHECKING:
    from recollect.home.home_directory import Home
    from recollect.home.settings.configuration import Configuration

_MAX_RECALLED = 10
#: Scope of recall -> the kind of memory that it selects.
_KINDS = {"facts": "fact", "events": "event", "entities": "entity"}


class DryRunResult(NamedTuple):
    """The rows that a model would add for an event, and the usage of its calls."""

    rows: list[AnyRow]
    usage: EventModelUsage


class ModelExtractor:
    """Runs the model writer over events, one at a time, alongside the rules."""

    def __init__(
        self, client: ModelClient, role: WriterPrompt, disabled_steps: Without = ALL
    ) -> None:
        self._client = client
        self._role = role
        self._writer = ModelWriter(disabled_steps)
        self._memories: list[_Memory] = []

    @property
    def context(self) -> int:
        """The number of earlier events that the model is shown with each event."""
        return self._client.settings.context

    def estimate(self, drafts: Iterable[Draft]) -> WriteReport:
        """Estimate the cost for the events of files, without calling the model."""
        events = FileConversation("", self.context)
        requests = []
        for draft in drafts:
            event = events.next_event(draft)
            task = write_task_for(event, events, event.number, self.context)
            if task is not None:
                requests.append(first_request(self._role, task))
            events.add(event)
        cost = estimate_cost(requests, self._client.model, self._client.settings)
        return WriteReport(
            model=self._client.model,
            role=self._role.version,
            pending=len(requests),
            dry_run=True,
            **cost._asdict(),
        )

    def extract(
        self, event: Event, before: FileConversation, state: State, entities: apsw.Connection
    ) -> DryRunResult | None:
        """Return what the model would add; None for kinds of events that it does not process.

        `entities`: a connection to the identity file.

        Raises:
            ModelUnavailable: no account answers.
            SpendingLimitExceeded: a spending limit is reached.
        """
        task = write_task_for(event, before, event.number, self.context)
        if task is None:
            return None
        answers = _Answers(self._client)
        memory_tools = _MemoryTools(self._memories, state, entities)
        try:
            result = write_event(
                task, self._role, answers, memory_tools, self._client.settings.rounds
            )
        except PromptRejected as error:
            return DryRunResult([], self._usage(answers.calls(), None, str(error)))
        answer_event = _answer_event(result.command, event, before.next_number())
        thread = _ShownConversation(task, before, answers.calls())
        parts = self._writer.resolve(
            answer_event, self._writer.extract(answer_event, thread), state
        )
        rows = [row for part in parts for row in part.puts]
        counts = next((row for row in rows if isinstance(row, ModelWriteStats)), None)
        return DryRunResult(rows, self._usage(answers.calls(), counts, None))

    def add_memories(self, event: Event, rows: Iterable[AnyRow]) -> None:
        """Add an event and the rows extracted from it to what the model can recall."""
        content = event.payload
        if isinstance(content, Content) and content.content.strip():
            self._memories.append(_Memory("event", event.id, content.content, event))
        for row in rows:
            if isinstance(row, Fact):
                self._memories.append(_Memory("fact", row.id, row.text, event))
            elif isinstance(row, Entity):
                self._memories.append(_Memory("entity", row.id, row.name, event))

    def _usage(
        self, calls: ModelCalls, counts: ModelWriteStats | None, failed: str | None
    ) -> EventModelUsage:
        return EventModelUsage(
            model=self._client.model,
            role=self._role.version,
            calls=calls.requests,
            tokens_in=calls.tokens_in,
            tokens_out=calls.tokens_out,
            cost=calls.cost,
            accepted=counts.kept if counts else 0,
            duplicates=counts.repeated if counts else 0,
            rejected=counts.refused if counts else 0,
            reasons=msgspec.json.decode(counts.reasons) if counts else {},
            failed=failed,
        )


@contextmanager
def open_model(
    configuration: Configuration, home: Home | None, zone: str
) -> Iterator[ModelExtractor]:
    """Open the configured model, with the writer prompt of the zone.

    Its calls count towards the budgets of the home. `home` None: no home exists.

    Raises:
        InvalidInput: no account is configured, or one is malformed.
    """
    with closing(open_client(configuration, home.directory if home else None)) as client:
        role = writer_prompt_of({})
        if home is not None:
            with closing(OpenHome(home)) as opened:
                if opened.holds(zone):
                    role = writer_prompt(opened.zone(zone))
        yield ModelExtractor(client, role, frozenset(home.disabled_steps if home else ()))


class _Memory(NamedTuple):
    """A memory extracted from these files, and the event that it comes from."""

    kind: str
    id: str
    text: str
    event: Event


class _Answers:
    """Asks a model, and collects its answers for one event."""

    def __init__(self, client: ModelClient) -> None:
        self._client = client
        self._recordings: list[OpenedRecording] = []

    def ask(
        self, request: ChatRequest, numbers: frozenset[int], role: str
    ) -> tuple[OpenedRecording, RecordingRef]:
        """Ask the model; return its answer, and a reference that holds the answer's index."""
        answer = self._client.ask(request)
        header = RecordingHeader(
            RECORDING_FORMAT,
            "",
            b"",
            (),
            answer.model,
            role,
            answer.tokens_in,
            answer.tokens_out,
            self._client.settings.cost(answer.tokens_in, answer.tokens_out),
            0,
        )
        index = len(self._recordings)
        recording = OpenedRecording(header, to_recorded(answer))
        self._recordings.append(recording)
        return recording, RecordingRef(index, index.to_bytes(8, "big"))

    def calls(self) -> ModelCalls:
        """Return all answers as one record."""
        return combine_answers(self._recordings)


def _answer_event(answer: ModelAnswered, event: Event, number: int) -> Event:
    """Return the event that a home would record for a model's answer about an event."""
    source_id = f"{answer.source_id}:{event.id}"
    return Event(
        zone=event.zone,
        number=number,
        id=event_id(event.zone, RESERVED_PLATFORM, source_id, event.ingested_at),
        platform=RESERVED_PLATFORM,
        occurred_at=event.ingested_at,
        ingested_at=event.ingested_at,
        payload=answer,
    )


class _ShownConversation(Conversation):
    """The events of a conversation that the model was shown, and its answers."""

    def __init__(self, task: WriteTask, before: FileConversation, answers: ModelCalls) -> None:
        self._events = {one.number: one for one in (task.event, *task.thread)}
        self._before = before
        self._answers = answers

    def preceding(self, event: Event, limit: int) -> Sequence[Event]:
        return self._before.preceding(event, limit)

    def other_channels(self, event: Event, since: int) -> Sequence[Event]:
        return self._before.other_channels(event, since)

    def first_message(self, event: Event) -> Event | None:
        return self._before.first_message(event)

    def participants(self, event: Event, since: int) -> Sequence[Speaker]:
        return self._before.participants(event, since)

    def turn(self, event: Event, platform: str, turn_id: str) -> Sequence[Event]:
        return ()

    def revisions(self, event: Event, below: int) -> Sequence[Event]:
        return self._before.revisions(event, below)

    def event(self, number: int) -> Event | None:
        return self._events.get(number)

    def model_calls(self, answer: ModelAnswered) -> ModelCalls | None:
        return self._answers


def _to_recalled_memory(found: _Memory) -> RecalledMemory:
    shown = {
        "id": found.id,
        "type": found.kind,
        "text": found.text,
        "as_of": format_time(found.event.occurred_at),
    }
    return RecalledMemory(shown, frozenset({found.event.number}))


class _MemoryTools:
    """The writer's memory tools, over the memories extracted from these files so far."""

    def __init__(
        self, memories: Sequence[_Memory], state: State, entities: apsw.Connection
    ) -> None:
        self._memories = memories
        self._facts = state.memory
        self._entities = entities

    def recall(self, query: str, parameters: Mapping[str, Any]) -> Sequence[RecalledMemory]:
        """Return memories that share words with a query: most shared words first, then newest."""
        scope = parameters.get("scope") or ["facts", "events"]
        scopes = {scope} if isinstance(scope, str) else set(scope)
        if not scopes <= _KINDS.keys():
            raise ValueError(f"scope must be one or more of {', '.join(_KINDS)}")
        kinds = {_KINDS[name] for name in scopes}
        words = content_words(query)
        ranked = [
            (len(words & content_words(memory_.text)), index, memory_)
            for index, memory_ in enumerate(self._memories)
            if memory_.kind in kinds
        ]
        best = sorted((match for match in ranked if match[0]), reverse=True)
        current = (
            memory_
            for _, _, memory_ in best
            if memory_.kind != "fact" or self.knows_fact(memory_.id)
        )
        return [_to_recalled_memory(memory_) for memory_ in islice(current, _MAX_RECALLED)]

    def knows_entity(self, entity_id: str) -> bool:
        """Whether there is an entity with this id."""
        return identity.canonical(self._entities, entity_id) is not None

    def knows_fact(self, fact_id: str) -> bool:
        """Whether there is a current fact with this id."""
        return memory.is_current_fact(self._facts, fact_id)
