"""Writing with a language model: it extracts facts from the events of a zone.

It runs outside the commit: the rules decide a zone whether or not a model answers. Each answer
becomes a command of its own, appended to the ledger when it arrives.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for_futures
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from recollect.home.open_zone import OpenZone
from recollect.operations.answers.recalling import recall
from recollect.operations.ingestion.ingesting import command
from recollect.operations.writing.model_backlog import ModelBacklog
from recollect.operations.writing.prompt_proposals import accept_pending
from recollect.projections.events import event_queries as events
from recollect.projections.files import ZoneFiles
from recollect.projections.identity import entity_queries as identity
from recollect.projections.memory import memory_queries as memory
from recollect.schemas.changes import ProcessedEvent
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Content, Event, ModelAnswered, SetWriterPrompt
from recollect.schemas.ledger.records import Source
from recollect.schemas.wire import Receipt, Result, WriteReport, WriterPromptVersion
from recollect.streams.deciding.dependencies import DependenciesUnknown, source_event_numbers
from recollect.streams.language.relations.grounding import occurs
from recollect.streams.models.budget_tracker import (
    SPENDING_FILE,
    BudgetTracker,
    SpendingLimitExceeded,
)
from recollect.streams.models.chat import ChatRequest
from recollect.streams.models.model_client import ModelClient, ModelUnavailable, PromptRejected
from recollect.streams.models.model_settings import load_accounts
from recollect.streams.publishing.commands import command as command_draft
from recollect.streams.publishing.commands import publish_commands, random_id
from recollect.streams.system.locks import exclusive
from recollect.streams.writing.cost_estimates import (
    DEFAULT_CALLS,
    DEFAULT_TOKENS_OUT,
    estimate_cost,
)
from recollect.streams.writing.model_loop import (
    RecalledMemory,
    WriteResult,
    WriteTask,
    first_request,
    write_event,
)
from recollect.streams.writing.recorder import ErasedDuringCall, Recorder, Recordings
from recollect.streams.writing.writer_prompt import ROLE, WriterPrompt, writer_prompt_of

if TYPE_CHECKING:
    from recollect.home.settings.configuration import Configuration

#: Locked in a home while a model processes events.
LOCK_FILE = "writing.lock"
#: The number of events that are read from the files, and decided, together.
_BATCH_SIZE = 32
_MAX_RECALLED = 10
#: The maximum number of events in which an entity's names are looked up.
_MAX_MENTIONS = 20
#: After this many consecutive failures, or the number of concurrent calls if that is larger, the
#: service counts as unavailable.
_MIN_CONSECUTIVE_FAILURES = 3
_MAX_TEXT_LENGTH = 20_000
#: Seconds between two calls of the progress callback while an answer is awaited.
_POLL_SECONDS = 0.2
_SCOPES = frozenset({"facts", "events", "entities"})


def write(
    zone: OpenZone,
    *,
    limit: int | None = None,
    again: bool = False,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
    while_: Callable[[], bool] = lambda: True,
    client: ModelClient | None = None,
    skipped: dict[int, bool] | None = None,
    backlog: ModelBacklog | None = None,
) -> WriteReport:
    """Let the home's model process the events that it has not processed yet.

    `limit`: the maximum number of events; None: all. `again`: also process events that were
    processed with another model or another prompt. `while_`: called between two events; if it
    returns False, the run stops. `client`: an open client, which stays open. `skipped`: maps the
    numbers of events to skip to whether a service rejected them; events that fail are added.
    `backlog`: the events that an earlier run left; when it is empty, the zone is scanned again.

    An event without an answer does not stop the others. The run stops after as many consecutive
    failures as there are concurrent calls, but at least three.

    Raises:
        InvalidInput: the home's writer is `rules`, or no model account is configured.
    """
    home = zone.open_home.home
    home.must_have_model()
    with ExitStack() as stack:
        if client is None:
            client = stack.enter_context(closing(open_client(home.configuration, home.directory)))
        zone.must_exist()
        stack.enter_context(exclusive(home.directory / LOCK_FILE, wait=False))
        zone.decide()
        if backlog is None:
            backlog = ModelBacklog(zone.node.ledger, zone.name)
        run = WriterRun(
            zone, client, backlog, again=again, skipped={} if skipped is None else skipped
        )
        tasks = run.take(limit)
        if dry_run:
            return run.estimate(tasks)
        try:
            report = run.write(batches_of(tasks), len(tasks), progress, while_)
        finally:
            run.give_back(tasks)
        if client.settings.accept_proposals:
            accept_pending(zone)
        return report


def batches_of(tasks: Sequence[WriteTask]) -> Iterator[Sequence[WriteTask]]:
    """Yield tasks in batches whose answers are committed together."""
    for start in range(0, len(tasks), _BATCH_SIZE):
        yield tasks[start : start + _BATCH_SIZE]


def open_client(
    configuration: Configuration, home: Path | None, *, model: str | None = None
) -> ModelClient:
    """Return a client of the configured models; its calls count towards the home's budgets.

    `model`: use only the accounts with this model.

    Raises:
        InvalidInput: no account is configured, one is malformed, or none has the model.
    """
    settings = configuration.models()
    accounts = load_accounts(settings)
    if model is not None:
        known = sorted({account.model for account in accounts})
        accounts = [account for account in accounts if account.model == model]
        if not accounts:
            raise InvalidInput(f"model is {model!r}; the configured models are {', '.join(known)}")
    spending = BudgetTracker(home and home / SPENDING_FILE, settings)
    return ModelClient(accounts, settings, spending)


def prompt_texts(zone: OpenZone) -> list[WriterPromptVersion]:
    """Return the current texts of the writer's prompt: the role, then the notes by name."""
    with zone.files() as files:
        texts = memory.writer_prompts(files.memory.connection)
        role = writer_prompt_of({ROLE: texts[ROLE]} if ROLE in texts else {})
        versions = [WriterPromptVersion(ROLE, role.text, texts.get(ROLE, (0, ""))[0], None)]
        return versions + [
            WriterPromptVersion(name, text, number, None)
            for name, (number, text) in sorted(texts.items())
            if name != ROLE and text
        ]


def set_prompt_text(zone: OpenZone, name: str, text: str) -> Receipt:
    """Set the role (`role`) or the note `name` of the writer's prompt.

    An empty text restores the default role, or removes the note.

    Raises:
        InvalidInput: the name is invalid, or the text is too long.
    """
    if not name.strip() or len(name) > 100 or not name.isprintable():
        raise InvalidInput(
            "name: give 'role', or the name of a note (1 to 100 printable characters)"
        )
    check_prompt_text(text)
    payload = SetWriterPrompt(
        source_id=random_id("writer_text"), name=name.strip(), text=text.strip()
    )
    return command(zone, payload)


def check_prompt_text(text: str) -> None:
    """Raise InvalidInput if a text of the writer's prompt is too long."""
    if len(text) > _MAX_TEXT_LENGTH:
        raise InvalidInput(f"text has {len(text):,} characters; give at most {_MAX_TEXT_LENGTH:,}")


def writer_prompt(zone: OpenZone) -> WriterPrompt:
    """Return the writer's prompt in a zone: its role, or the default one, with its notes."""
    with zone.files() as files:
        return writer_prompt_of(memory.writer_prompts(files.memory.connection))


def event_sources(zone: OpenZone, numbers: Iterable[int]) -> Mapping[int, Source]:
    """Return the sources (key ids) of a zone's events, by number."""
    with zone.files() as files:
        return events.sources(files.events.connection, numbers)


def recorder_of(
    zone: OpenZone, client: ModelClient, recordings: Recordings | None = None
) -> Recorder:
    """Return the recorder of a client's answers about a zone's events.

    `recordings`: those that the zone has, if they were read already.
    """
    ledger = zone.node.ledger
    return Recorder(
        ledger,
        zone.name,
        client,
        lambda numbers: event_sources(zone, numbers),
        Recordings(ledger, zone.name) if recordings is None else recordings,
    )


class WriterRun:
    """One run over a zone's events.

    A text of the prompt may be set or accepted during the run. Then no answer under the earlier
    prompt is committed any more, and the events that it is about are processed again.
    """

    def __init__(
        self,
        zone: OpenZone,
        client: ModelClient,
        backlog: ModelBacklog,
        *,
        again: bool,
        skipped: dict[int, bool],
        prompt: WriterPrompt | None = None,
    ) -> None:
        """`prompt`: None for the zone's own; see `write` for the others."""
        self._zone = zone
        self._client = client
        self._backlog = backlog
        self._again = again
        self._skipped = skipped
        self._lock = threading.Lock()
        self._tried: set[int] = set()
        self._consecutive_failures = self._failures = 0
        self._last_error = ""
        self._node = zone.node
        self._given_prompt = prompt
        self._recorder = recorder_of(zone, client, backlog.recordings)
        self._memory = ZoneMemory(zone)

    def take(self, limit: int | None) -> list[WriteTask]:
        """Return the next events to process, in the ledger's order, at most `limit`."""
        is_scanned = not self._backlog
        tasks = self._take(limit)
        # All events left from an earlier scan may have been processed or erased since.
        return tasks if tasks or is_scanned else self._take(limit)

    def _take(self, limit: int | None) -> list[WriteTask]:
        if not self._backlog:
            self._scan()
        tasks: list[WriteTask] = []
        while self._backlog and (limit is None or len(tasks) < limit):
            count = _BATCH_SIZE if limit is None else min(_BATCH_SIZE, limit - len(tasks))
            with self._zone.files() as files:
                tasks += [
                    task
                    for task in self._backlog.take(files, count, self._client.settings.context)
                    if self._is_pending(files, task.event.number)
                ]
        return tasks

    def _scan(self) -> None:
        """Scan the zone for events that the model has not processed."""
        with self._zone.files() as files:
            processed = memory.events_with_model_answers(files.memory.connection)
            if self._again:
                processed -= memory.events_answered_otherwise(
                    files.memory.connection, self._client.model, self._prompt().version
                )
            self._backlog.scan(files, processed | self._skipped.keys())

    def _is_pending(self, files: ZoneFiles, number: int) -> bool:
        """Return whether an event is still to be processed."""
        is_done = not self._again and memory.model_answers_about(files.memory.connection, number)
        return not is_done and number not in self._skipped

    def give_back(self, tasks: Iterable[WriteTask]) -> None:
        """Put the events that were not sent to a model back into the backlog."""
        self._backlog.give_back(task for task in tasks if task.event.number not in self._tried)

    def estimate(self, tasks: Iterable[WriteTask]) -> WriteReport:
        """Estimate the cost of processing these events."""
        with self._zone.files() as files:
            so_far = memory.model_usage_totals(files.memory.connection)
        pending = recorded = 0
        prompt = self._prompt()

        def unanswered() -> Iterator[ChatRequest]:
            nonlocal pending, recorded
            for task in tasks:
                request = first_request(prompt, task)
                pending += 1
                if self._recorder.is_answered(request):
                    recorded += 1
                else:
                    yield request

        cost = estimate_cost(
            unanswered(),
            self._client.model,
            self._client.settings,
            calls=so_far.calls / so_far.events if so_far.events else DEFAULT_CALLS,
            tokens_out=so_far.tokens_out / so_far.calls if so_far.calls else DEFAULT_TOKENS_OUT,
        )
        return self._report(pending, dry_run=True, recorded=recorded, **cost._asdict())

    def write(
        self,
        batches: Iterable[Sequence[WriteTask]],
        pending: int,
        progress: Callable[[int], None] | None,
        while_: Callable[[], bool],
        *,
        whole_batches: bool = False,
    ) -> WriteReport:
        """Call the model for these events, several at once, and decide its answers.

        The answers of a batch are committed together; the next batch is taken afterwards.
        `whole_batches`: do not commit a batch in which the run stopped; its answers are recorded,
        and cost nothing in the next run. `progress` is called with 0 while an answer is awaited.
        """
        with self._zone.files() as files:
            before = memory.model_usage_totals(files.memory.connection)
        stopped: list[str] = []
        spent_before = self._client.budget.run
        processed = failed = 0
        concurrency = self._client.settings.concurrency
        with ThreadPoolExecutor(concurrency, thread_name_prefix="write") as pool:
            try:
                for batch in batches:
                    if stopped or not while_():
                        break
                    results = self._ask_all(
                        batch, lambda task: pool.submit(self._ask, task, stopped, while_), progress
                    )
                    tried = [task.event.number in self._tried for task in batch]
                    if whole_batches and (stopped or not all(tried)):
                        break
                    drafts = [
                        command_draft(
                            result.command,
                            result.asked_at,
                            ingested_at=result.asked_at,
                        )
                        for result in results
                        if result is not None
                    ]
                    if drafts:
                        publish_commands(self._node.ledger, self._zone.name, drafts)
                        self._zone.decide()
                    processed += len(drafts)
                    failed += len(batch) - len(drafts)
            except BaseException:
                # Otherwise the pool would wait until the whole batch is answered.
                stopped.append("the run was interrupted")
                raise
        if not stopped and self._failures:
            stopped.append(self._last_error)
        with self._zone.files() as files:
            after = memory.model_usage_totals(files.memory.connection)
        spent = self._client.budget.run
        reasons = Counter(after.reasons)
        reasons.subtract(before.reasons)
        return self._report(
            pending,
            processed=processed,
            failed=failed,
            # An erasure during the run can lower the totals.
            accepted=max(after.accepted - before.accepted, 0),
            duplicates=max(after.duplicates - before.duplicates, 0),
            rejected=max(after.rejected - before.rejected, 0),
            reasons={name: count for name, count in sorted(reasons.items()) if count > 0},
            calls=spent.calls - spent_before.calls,
            tokens=spent.tokens - spent_before.tokens,
            cost=max(spent.cost - spent_before.cost, 0.0),
            stopped=stopped[0] if stopped else None,
        )

    def _ask_all(
        self,
        tasks: Sequence[WriteTask],
        submit: Callable[[WriteTask], Future[WriteResult | None]],
        progress: Callable[[int], None] | None,
    ) -> list[WriteResult | None]:
        """Return the model's results for these events, all under the prompt in force afterwards."""
        results: dict[int, WriteResult | None] = {}
        while tasks:
            answers = list(_results([submit(task) for task in tasks], progress))
            numbers = [task.event.number for task in tasks]
            results.update(zip(numbers, answers, strict=True))
            # Whatever was decided elsewhere in the meantime.
            self._zone.decide()
            in_force = self._prompt().version, self._writer_role()
            tasks = [
                task
                for task, result in zip(tasks, answers, strict=True)
                if result and (result.command.role, result.command.writer_role) != in_force
            ]
            self._tried.difference_update(task.event.number for task in tasks)
            # They have been counted.
            progress = progress and _only_waiting(progress)
        return list(results.values())

    def _prompt(self) -> WriterPrompt:
        return self._given_prompt or writer_prompt(self._zone)

    def _writer_role(self) -> int:
        return self._node.current(self._zone.name).writer_role

    def _ask(
        self, task: WriteTask, stopped: list[str], while_: Callable[[], bool]
    ) -> WriteResult | None:
        """Return the model's result for an event; None if it failed, or the run has stopped."""
        if stopped or not while_():
            return None
        number = task.event.number
        self._tried.add(number)
        try:
            prompt, writer_role = self._prompt(), self._writer_role()
            result = write_event(
                task, prompt, self._recorder, self._memory, self._client.settings.rounds
            )
        except ErasedDuringCall:
            return None
        except SpendingLimitExceeded as error:
            self._tried.discard(number)
            stopped.append(str(error))
            return None
        except ModelUnavailable as error:
            is_rejected = isinstance(error, PromptRejected)
            self._skipped[number] = is_rejected
            with self._lock:
                self._failures += 1
                self._last_error = str(error)
                self._consecutive_failures = 0 if is_rejected else self._consecutive_failures + 1
                if self._consecutive_failures >= max(
                    _MIN_CONSECUTIVE_FAILURES, self._client.settings.concurrency
                ):
                    stopped.append(str(error))
            return None
        with self._lock:
            self._consecutive_failures = 0
        return result._replace(command=_for_generation(result.command, writer_role))

    def _report(self, pending: int, **figures: Any) -> WriteReport:
        return WriteReport(self._client.model, self._prompt().version, pending, **figures)


def _for_generation(answered: ModelAnswered, writer_role: int) -> ModelAnswered:
    """Return the answers about an event, to be used by generations with this writer role."""
    if not writer_role:
        return answered
    # The same answers may have been published for another generation.
    source_id = f"{answered.source_id}:{writer_role}"
    return msgspec.structs.replace(answered, source_id=source_id, writer_role=writer_role)


def _only_waiting(progress: Callable[[int], None]) -> Callable[[int], None]:
    """Return a callback that reports progress, but counts no event."""
    return lambda _: progress(0)


def _results(
    futures: Sequence[Future[WriteResult | None]], progress: Callable[[int], None] | None
) -> Iterator[WriteResult | None]:
    """Yield the results in order, and report progress while waiting."""
    for future in futures:
        while wait_for_futures([future], _POLL_SECONDS).not_done:
            if progress:
                progress(0)
        yield future.result()
        if progress:
            progress(1)


class ZoneMemory:
    """The memory of a zone that the writer's tools search."""

    def __init__(self, zone: OpenZone) -> None:
        self._zone = zone

    def recall(self, query: str, parameters: Mapping[str, Any]) -> Sequence[RecalledMemory]:
        """Return memories, each with the events whose text it quotes."""
        given = {name: value for name, value in parameters.items() if value is not None}
        scope = given.pop("scope", ["facts", "events"])
        scopes = [scope] if isinstance(scope, str) else list(scope)
        if not set(scopes) <= _SCOPES:
            raise ValueError(f"scope must be one or more of {', '.join(sorted(_SCOPES))}")
        count = given.pop("max_results", _MAX_RECALLED)
        filters = ("entity", "time_after", "time_before", "platform", "budget")
        fields = {name: given[name] for name in filters if name in given}
        try:
            count = min(max(int(count), 1), _MAX_RECALLED)
            results = recall(
                self._zone, query, {**fields, "scope": scopes, "max_results": count}
            ).results
        except (InvalidInput, TypeError) as error:
            raise ValueError(str(error)) from None
        with self._zone.files() as files:
            recalled = (self._to_recalled_memory(files, result) for result in results)
            return [memory_ for memory_ in recalled if memory_ is not None]

    def _to_recalled_memory(self, files: ZoneFiles, result: Result) -> RecalledMemory | None:
        """Return a result as shown to the model; None if not all of its sources are known."""
        if result.type == "entity":
            return self._to_recalled_entity(files, result)
        numbers = self._sources_of_result(files, result)
        if not numbers:
            return None
        shown = {
            "id": result.id,
            "type": result.type,
            "text": result.text,
            "as_of": result.as_of,
            "entity_ids": result.entity_ids,
        }
        return RecalledMemory(shown, numbers)

    def _to_recalled_entity(self, files: ZoneFiles, result: Result) -> RecalledMemory | None:
        """Return an entity with those of its names that occur in events that mention it."""
        connection = files.identity.connection
        entity = identity.canonical(connection, result.id)
        if entity is None:
            return None
        merged = identity.aliases(connection, entity.id)
        mentioning = [
            event
            for named in (entity, *merged)
            for id_ in identity.events_naming(connection, named.id, _MAX_MENTIONS)
            if (event := events.event_by_id(files.events.connection, id_)) is not None
        ]
        source_of: dict[str, int] = {}
        for name in (entity.name, *sorted(alias.name for alias in merged)):
            named_in = (event.number for event in mentioning if _names(event, name))
            if name not in source_of and (number := next(named_in, None)) is not None:
                source_of[name] = number
        if not source_of:
            return None
        name, *others = source_of
        also = f", also {', '.join(others)}" if others else ""
        shown = {
            "id": entity.id,
            "type": "entity",
            "text": f"{name} ({entity.type}{also})",
            "as_of": result.as_of,
            "entity_ids": [entity.id],
        }
        return RecalledMemory(shown, frozenset(source_of.values()))

    def _sources_of_result(self, files: ZoneFiles, result: Result) -> frozenset[int]:
        """Return the numbers of the events whose text a result quotes."""
        if result.type == "event":
            event = events.event_by_id(files.events.connection, result.id)
            return frozenset() if event is None else frozenset({event.number})
        return self._sources_of_fact(files, result.id)

    def _sources_of_fact(self, files: ZoneFiles, fact_id: str) -> frozenset[int]:
        """Return the numbers of all events on which the decisions about a fact depend."""
        connection = files.events.connection
        numbers: set[int] = set()
        for source in memory.events_of_facts(files.memory.connection, [fact_id]):
            event = events.event_by_id(connection, source)
            log = files.memory.row(ProcessedEvent, (source,))
            trigger = None if log is None else events.event_by_id(connection, log.writer_run_id)
            if event is None or trigger is None:
                return frozenset()
            chain = self._zone.node.current(self._zone.name).chain
            written = memory.model_answers_about(files.memory.connection, event.number)
            decided_by = {trigger.number, *written}
            try:
                for number in decided_by:
                    numbers |= source_event_numbers(
                        self._zone.node.ledger,
                        self._zone.name,
                        chain,
                        files.memory.connection,
                        number,
                    )
            except DependenciesUnknown:
                return frozenset()
        # Commands quote no message, so they have no row in the events file.
        return frozenset(
            number for number in numbers if events.event_by_number(connection, number) is not None
        )

    def knows_entity(self, entity_id: str) -> bool:
        """Whether there is an entity with this id."""
        with self._zone.files() as files:
            return identity.canonical(files.identity.connection, entity_id) is not None

    def knows_fact(self, fact_id: str) -> bool:
        """Whether there is a current fact with this id."""
        with self._zone.files() as files:
            return memory.is_current_fact(files.memory.connection, fact_id)


def _names(event: Event, name: str) -> bool:
    """Return whether an event's text contains a name, or its sender has that name."""
    content = event.payload
    if not isinstance(content, Content):
        return False
    return occurs(name, (content.content, content.sender_name or "", content.sender_id))
