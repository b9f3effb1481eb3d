"""What a language model would write about events, in order: in memory only, nothing is recorded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
import msgspec

from recollect.home.open_zone import OpenHome
from recollect.operations.ingestion.file_conversation import FileConversation
from recollect.operations.writing.writing import open_door, role_in
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
from recollect.streams.agents.writer.model_writer import ModelWriter, combine_answers
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
    from recollect.home.configuration import Configuration
    from recollect.home.home_directory import Home

_MAX_RECALLED = 10
#: What recall may be asked for, and the kind of memory that answers.
_KINDS = {"facts": "fact", "events": "event", "entities": "entity"}


class Would(NamedTuple):
    """What a model would add to memory about an event, and what it said on the way."""

    rows: list[AnyRow]
    answers: EventModelUsage


class ModelExtractor:
    """Puts events before a model, one after the other, beside the rules."""

    def __init__(self, door: ModelClient, role: WriterPrompt, without: Without = ALL) -> None:
        """`without`: the steps that are left out."""
        self._door = door
        self._role = role
        self._writer = ModelWriter(without)
        self._held: list[_Held] = []

    @property
    def context(self) -> int:
        """How many events before one a model is shown."""
        return self._door.settings.context

    def priced(self, drafts: Iterable[Draft]) -> WriteReport:
        """Return what asking about events of files takes; nobody is asked."""
        events = FileConversation("", self.context)
        questions = []
        for draft in drafts:
            event = events.next_event(draft)
            about = write_task_for(event, events, event.number, self.context)
            if about is not None:
                questions.append(first_request(self._role, about))
            events.add(event)
        found = estimate_cost(questions, self._door.model, self._door.settings)
        return WriteReport(
            model=self._door.model,
            role=self._role.version,
            pending=len(questions),
            dry_run=True,
            **found._asdict(),
        )

    def extract(
        self, event: Event, before: FileConversation, state: State, entities: apsw.Connection
    ) -> Would | None:
        """Return what the model would add; None where it is not asked of such an event.

        `entities` is the connection to what is known of entities.

        Raises:
            ModelUnavailable: nobody answers.
            BudgetExceeded: a budget does not reach.
        """
        about = write_task_for(event, before, event.number, self.context)
        if about is None:
            return None
        answers = _Answers(self._door)
        held = _HeldMemory(self._held, state, entities)
        try:
            wrote = write_event(about, self._role, answers, held, self._door.settings.rounds)
        except PromptRejected as refused:
            return Would([], self._answers(answers.calls(), None, str(refused)))
        said = _said(wrote.command, event, before.next_number())
        thread = _Shown(about, before, answers.calls())
        parts = self._writer.resolve(said, self._writer.extract(said, thread), state)
        rows = [row for part in parts for row in part.puts]
        counts = next((row for row in rows if isinstance(row, ModelWriteStats)), None)
        return Would(rows, self._answers(answers.calls(), counts, None))

    def note(self, event: Event, rows: Iterable[AnyRow]) -> None:
        """Note an event and what was concluded from it, for the model to recall."""
        said = event.payload
        if isinstance(said, Content) and said.content.strip():
            self._held.append(_Held("event", event.id, said.content, event))
        for row in rows:
            if isinstance(row, Fact):
                self._held.append(_Held("fact", row.id, row.text, event))
            elif isinstance(row, Entity):
                self._held.append(_Held("entity", row.id, row.name, event))

    def _answers(
        self, calls: ModelCalls, counts: ModelWriteStats | None, failed: str | None
    ) -> EventModelUsage:
        return EventModelUsage(
            model=self._door.model,
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
    """Lend the model of the settings, in the role that a zone of a home gives it.

    What it is asked counts against the budgets of the home. `home` None: there is none.

    Raises:
        InvalidInput: no account is set, or one wrongly.
    """
    with closing(open_door(configuration, home.directory if home else None)) as door:
        role = writer_prompt_of({})
        if home is not None:
            with closing(OpenHome(home)) as opened:
                if opened.holds(zone):
                    role = role_in(opened.zone(zone))
        yield ModelExtractor(door, role, frozenset(home.disabled_steps if home else ()))


class _Held(NamedTuple):
    """A memory of these files: its kind, its id, its text, and the event that gave it."""

    kind: str
    id: str
    text: str
    event: Event


class _Answers:
    """Asks a model, and keeps its answers for as long as one event is at hand."""

    def __init__(self, door: ModelClient) -> None:
        self._door = door
        self._given: list[OpenedRecording] = []

    def ask(
        self, question: ChatRequest, numbers: frozenset[int], role: str
    ) -> tuple[OpenedRecording, RecordingRef]:
        """Return the answer to a question; its place is its place in the order."""
        answer = self._door.ask(question)
        header = RecordingHeader(
            RECORDING_FORMAT,
            "",
            b"",
            (),
            answer.model,
            role,
            answer.tokens_in,
            answer.tokens_out,
            self._door.settings.cost(answer.tokens_in, answer.tokens_out),
            0,
        )
        place = len(self._given)
        given = OpenedRecording(header, to_recorded(answer))
        self._given.append(given)
        return given, RecordingRef(place, place.to_bytes(8, "big"))

    def calls(self) -> ModelCalls:
        """Return everything that was answered."""
        return combine_answers(self._given)


def _said(wrote: ModelAnswered, about: Event, number: int) -> Event:
    """Return the event by which a home would note that a model wrote."""
    source_id = f"{wrote.source_id}:{about.id}"
    return Event(
        zone=about.zone,
        number=number,
        id=event_id(about.zone, RESERVED_PLATFORM, source_id, about.ingested_at),
        platform=RESERVED_PLATFORM,
        occurred_at=about.ingested_at,
        ingested_at=about.ingested_at,
        payload=wrote,
    )


class _Shown(Conversation):
    """What the model was shown of a conversation, and what it answered."""

    def __init__(self, about: WriteTask, before: FileConversation, answers: ModelCalls) -> None:
        self._events = {one.number: one for one in (about.event, *about.thread)}
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

    def model_calls(self, wrote: ModelAnswered) -> ModelCalls | None:
        return self._answers


def _recalled(one: _Held) -> RecalledMemory:
    shown = {
        "id": one.id,
        "type": one.kind,
        "text": one.text,
        "as_of": format_time(one.event.occurred_at),
    }
    return RecalledMemory(shown, frozenset({one.event.number}))


class _HeldMemory:
    """What the writer's tools may ask of what these files gave so far; found by common words."""

    def __init__(self, held: Sequence[_Held], state: State, entities: apsw.Connection) -> None:
        self._held = held
        self._facts = state.memory
        self._entities = entities

    def recall(self, query: str, parameters: Mapping[str, Any]) -> Sequence[RecalledMemory]:
        """Return what shares words with a question, the most first and then the newest."""
        scope = parameters.get("scope") or ["facts", "events"]
        asked = {scope} if isinstance(scope, str) else set(scope)
        if not asked <= _KINDS.keys():
            raise ValueError(f"scope is of {', '.join(_KINDS)}")
        kinds = {_KINDS[name] for name in asked}
        words = content_words(query)
        found = [
            (len(words & content_words(one.text)), place, one)
            for place, one in enumerate(self._held)
            if one.kind in kinds
        ]
        best = sorted((each for each in found if each[0]), reverse=True)
        stands = (one for _, _, one in best if one.kind != "fact" or self.knows_fact(one.id))
        return [_recalled(one) for one in islice(stands, _MAX_RECALLED)]

    def knows_entity(self, entity_id: str) -> bool:
        """Whether there is an entity with this id."""
        return identity.canonical(self._entities, entity_id) is not None

    def knows_fact(self, fact_id: str) -> bool:
        """Whether there is a fact with this id that stands."""
        return memory.is_current_fact(self._facts, fact_id)
