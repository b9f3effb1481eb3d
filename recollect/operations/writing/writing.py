"""Writing with a language model: the zone's events that it has not read are put before it (A19).

It happens beside the commit, never in it: a zone is decided by the rules whether or not a model
answers, and what a model says comes in as a command of its own, whenever it comes.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.home.open_zone import OpenZone
from recollect.operations.answers.recalling import recall
from recollect.operations.ingestion.ingesting import command
from recollect.operations.writing.model_backlog import Unread
from recollect.projections.events import event_queries as events
from recollect.projections.files import ZoneFiles
from recollect.projections.identity import entity_queries as identity
from recollect.projections.memory import memory_queries as memory
from recollect.schemas.changes import ProcessedEvent
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Content, Event, SetWriterPrompt
from recollect.schemas.wire import Receipt, Result, WriteReport, WriterPromptVersion
from recollect.streams.deciding.dependencies import DependenciesUnknown, source_event_numbers
from recollect.streams.language.relations.grounding import occurs
from recollect.streams.models.budget_tracker import SPENDING_FILE, BudgetExceeded, BudgetTracker
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
from recollect.streams.writing.recorder import ErasedDuringCall, Recorder
from recollect.streams.writing.writer_prompt import ROLE, WriterPrompt, writer_prompt_of

if TYPE_CHECKING:
    from recollect.home.configuration import Configuration

#: Events that are read at once from the files, and decided together.
_BATCH_SIZE = 32
_MAX_RECALLED = 10
#: Events in which an entity's names are looked for.
_MAX_MENTIONS = 20
#: When so many one after the other are not answered, or as many as are asked at once, nobody is
#: there.
_MIN_CONSECUTIVE_FAILURES = 3
_LONGEST_TEXT = 20_000
_SCOPES = frozenset({"facts", "events", "entities"})


def write(
    zone: OpenZone,
    *,
    limit: int | None = None,
    again: bool = False,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
    while_: Callable[[], bool] = lambda: True,
    door: ModelClient | None = None,
    aside: dict[int, bool] | None = None,
    unread: Unread | None = None,
) -> WriteReport:
    """Let the home's model write about the events that it has not read.

    `again`: also about those that another model, or this one in another role, wrote about. Of
    `limit` None all are asked. Between two events it ends once `while_` is False. `door`: an open
    one, which stays open. `aside` are the numbers of events that are left out, each with whether a
    service refuses its question; those that nobody answered now are added. `unread` is what the
    turn before left; the others of the zone are looked for when it is empty.

    A message that nobody answers lets the others go on; when nobody answers so many one after the
    other as are asked at once, and three at least, it ends.

    Raises:
        InvalidInput: the home's writer is no model, or no account is set.
    """
    home = zone.open_home.home
    if home.writer != "model":
        raise InvalidInput(
            f"the writer of {home.directory} are the rules alone; recollect init --writer model "
            "chooses a model beside them"
        )
    with ExitStack() as held:
        if door is None:
            door = held.enter_context(closing(open_door(home.configuration, home.directory)))
        zone.must_exist()
        held.enter_context(exclusive(home.directory / "writing.lock", wait=False))
        zone.decide()
        if unread is None:
            unread = Unread(zone.node.ledger, zone.name)
        run = _Run(zone, door, unread, again=again, aside={} if aside is None else aside)
        chosen = run.chosen(limit)
        if dry_run:
            return run.priced(chosen)
        return run.written(chosen, progress, while_)


def open_door(configuration: Configuration, home: Path | None) -> ModelClient:
    """Return the door to the models of the settings; budgets are those of a home.

    Raises:
        InvalidInput: no account is set, or one wrongly.
    """
    settings = configuration.models()
    accounts = load_accounts(settings)
    spending = BudgetTracker(home and home / SPENDING_FILE, settings)
    return ModelClient(accounts, settings, spending)


def told(zone: OpenZone) -> list[WriterPromptVersion]:
    """Return what the model that writes is told: the role, and each note, as they stand."""
    with zone.files() as files:
        texts = memory.writer_prompts(files.memory.connection)
        role = writer_prompt_of({ROLE: texts[ROLE]} if ROLE in texts else {})
        found = [WriterPromptVersion(ROLE, role.text, texts.get(ROLE, (0, ""))[0], None)]
        return found + [
            WriterPromptVersion(name, text, number, None)
            for name, (number, text) in sorted(texts.items())
            if name != ROLE and text
        ]


def tell(zone: OpenZone, name: str, text: str) -> Receipt:
    """Give the model that writes another role (`role`), or a note of a name.

    An empty text takes it back.

    Raises:
        InvalidInput: the name is none, or the text is too long.
    """
    if not name.strip() or len(name) > 100 or not name.isprintable():
        raise InvalidInput("name: give role, or the name of a note in at most 100 characters")
    if len(text) > _LONGEST_TEXT:
        raise InvalidInput(f"text: at most {_LONGEST_TEXT:,} characters")
    payload = SetWriterPrompt(
        source_id=random_id("writer_text"), name=name.strip(), text=text.strip()
    )
    return command(zone, payload)


def role_in(zone: OpenZone) -> WriterPrompt:
    """Return the role of a zone, with its notes; recollect's own where nobody gave another."""
    with zone.files() as files:
        return writer_prompt_of(memory.writer_prompts(files.memory.connection))


class _Run:
    """One run over a zone's events."""

    def __init__(
        self,
        zone: OpenZone,
        door: ModelClient,
        unread: Unread,
        *,
        again: bool,
        aside: dict[int, bool],
    ) -> None:
        self._zone = zone
        self._door = door
        self._unread = unread
        self._again = again
        self._aside = aside
        self._lock = threading.Lock()
        self._tried: set[int] = set()
        #: How many nobody answered, of the last ones and in all, and why the last one.
        self._in_a_row = self._unanswered = 0
        self._why = ""
        self._node = zone.node
        self._role: WriterPrompt = role_in(zone)
        self._recorder = Recorder(
            self._node.ledger, zone.name, door, self._seals, unread.recordings
        )
        self._memory = _ZoneMemory(zone)

    def _seals(self, numbers: Any) -> Mapping[int, Any]:
        with self._zone.files() as files:
            return events.sources(files.events.connection, numbers)

    def chosen(self, limit: int | None) -> list[WriteTask]:
        """Return the events that wait, in the ledger's order, `limit` of them at most."""
        looked = not self._unread
        found = self._taken(limit)
        # What was left of an earlier look may have been read, or gone, since.
        return found if found or looked else self._taken(limit)

    def _taken(self, limit: int | None) -> list[WriteTask]:
        if not self._unread:
            self._look()
        found: list[WriteTask] = []
        while self._unread and (limit is None or len(found) < limit):
            most = _BATCH_SIZE if limit is None else min(_BATCH_SIZE, limit - len(found))
            with self._zone.files() as files:
                found += [
                    each
                    for each in self._unread.take(files, most, self._door.settings.context)
                    if self._waits(files, each.event.number)
                ]
        return found

    def _look(self) -> None:
        """Look through the zone for what the model has not read."""
        with self._zone.files() as files:
            read = memory.events_with_model_answers(files.memory.connection)
            if self._again:
                read -= memory.events_answered_otherwise(
                    files.memory.connection, self._door.model, self._role.version
                )
            self._unread.look(files, read | self._aside.keys())

    def _waits(self, files: ZoneFiles, number: int) -> bool:
        """Whether nobody read an event since it was looked for."""
        read = not self._again and memory.model_answers_about(files.memory.connection, number)
        return not read and number not in self._aside

    def priced(self, chosen: Sequence[WriteTask]) -> WriteReport:
        """Return what writing about these events would take."""
        with self._zone.files() as files:
            so_far = memory.model_usage_totals(files.memory.connection)
        questions = [first_request(self._role, each) for each in chosen]
        new = [question for question in questions if not self._recorder.is_answered(question)]
        found = estimate_cost(
            new,
            self._door.model,
            self._door.settings,
            calls=so_far.calls / so_far.events if so_far.events else DEFAULT_CALLS,
            tokens_out=so_far.tokens_out / so_far.calls if so_far.calls else DEFAULT_TOKENS_OUT,
        )
        return self._report(
            chosen, dry_run=True, recorded=len(questions) - len(new), **found._asdict()
        )

    def written(
        self,
        chosen: Sequence[WriteTask],
        progress: Callable[[int], None] | None,
        while_: Callable[[], bool],
    ) -> WriteReport:
        """Ask about these events, several at once, and decide what was answered."""
        with self._zone.files() as files:
            before = memory.model_usage_totals(files.memory.connection)
        stopped: list[str] = []
        spent_before = self._door.budget.run
        asked = failed = 0
        places = self._door.settings.concurrency
        try:
            with ThreadPoolExecutor(places, thread_name_prefix="write") as pool:
                for start in range(0, len(chosen), _BATCH_SIZE):
                    if stopped or not while_():
                        break
                    some = chosen[start : start + _BATCH_SIZE]
                    answers = list(pool.map(lambda each: self._ask(each, stopped, while_), some))
                    drafts = [
                        command_draft(each.command, each.asked_at, ingested_at=each.asked_at)
                        for each in answers
                        if each is not None
                    ]
                    if drafts:
                        publish_commands(self._node.ledger, self._zone.name, drafts)
                        self._zone.decide()
                    asked += len(drafts)
                    failed += len(some) - len(drafts)
                    if progress:
                        progress(len(some))
        finally:
            self._unread.give_back(each for each in chosen if each.event.number not in self._tried)
        if not stopped and self._unanswered:
            stopped.append(self._why)
        with self._zone.files() as files:
            after = memory.model_usage_totals(files.memory.connection)
        spent = self._door.budget.run
        reasons = Counter(after.reasons)
        reasons.subtract(before.reasons)
        return self._report(
            chosen,
            processed=asked,
            failed=failed,
            # What is forgotten meanwhile is not counted any more.
            accepted=max(after.accepted - before.accepted, 0),
            duplicates=max(after.duplicates - before.duplicates, 0),
            rejected=max(after.rejected - before.rejected, 0),
            reasons={name: count for name, count in sorted(reasons.items()) if count > 0},
            calls=spent.calls - spent_before.calls,
            tokens=spent.tokens - spent_before.tokens,
            cost=max(spent.cost - spent_before.cost, 0.0),
            stopped=stopped[0] if stopped else None,
        )

    def _ask(
        self, about: WriteTask, stopped: list[str], while_: Callable[[], bool]
    ) -> WriteResult | None:
        """Let the model write about an event; None where it could not."""
        if stopped or not while_():
            return None
        number = about.event.number
        self._tried.add(number)
        try:
            wrote = write_event(
                about, self._role, self._recorder, self._memory, self._door.settings.rounds
            )
        except ErasedDuringCall:
            return None
        except BudgetExceeded as error:
            self._tried.discard(number)
            stopped.append(str(error))
            return None
        except ModelUnavailable as error:
            refused = isinstance(error, PromptRejected)
            self._aside[number] = refused
            with self._lock:
                self._unanswered += 1
                self._why = str(error)
                self._in_a_row = 0 if refused else self._in_a_row + 1
                if self._in_a_row >= max(
                    _MIN_CONSECUTIVE_FAILURES, self._door.settings.concurrency
                ):
                    stopped.append(str(error))
            return None
        with self._lock:
            self._in_a_row = 0
        return wrote

    def _report(self, chosen: Sequence[WriteTask], **found: Any) -> WriteReport:
        return WriteReport(self._door.model, self._role.version, len(chosen), **found)


class _ZoneMemory:
    """What the writer's tools may ask of a zone."""

    def __init__(self, zone: OpenZone) -> None:
        self._zone = zone

    def recall(self, query: str, parameters: Mapping[str, Any]) -> Sequence[RecalledMemory]:
        """Return memories, each with the events whose words it repeats."""
        given = {name: value for name, value in parameters.items() if value is not None}
        scope = given.pop("scope", ["facts", "events"])
        wanted = [scope] if isinstance(scope, str) else list(scope)
        if not set(wanted) <= _SCOPES:
            raise ValueError(f"scope is of {', '.join(sorted(_SCOPES))}")
        most = given.pop("max_results", _MAX_RECALLED)
        known = ("entity", "time_after", "time_before", "platform", "budget")
        fields = {name: given[name] for name in known if name in given}
        try:
            most = min(max(int(most), 1), _MAX_RECALLED)
            found = recall(
                self._zone, query, {**fields, "scope": wanted, "max_results": most}
            ).results
        except (InvalidInput, TypeError) as error:
            raise ValueError(str(error)) from None
        with self._zone.files() as files:
            return [each for result in found if (each := self._recalled(files, result)) is not None]

    def _recalled(self, files: ZoneFiles, result: Result) -> RecalledMemory | None:
        """Return a result as a model is shown it; None where its sources are not all known."""
        if result.type == "entity":
            return self._recalled_entity(files, result)
        numbers = self._behind(files, result)
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

    def _recalled_entity(self, files: ZoneFiles, result: Result) -> RecalledMemory | None:
        """Return an entity by those of its names that stand in events which mention it."""
        connection = files.identity.connection
        entity = identity.canonical(connection, result.id)
        if entity is None:
            return None
        merged = identity.aliases(connection, entity.id)
        mentioning = [
            event
            for each in (entity, *merged)
            for id_ in identity.events_naming(connection, each.id, _MAX_MENTIONS)
            if (event := events.event_by_id(files.events.connection, id_)) is not None
        ]
        source_of: dict[str, int] = {}
        for name in (entity.name, *sorted(each.name for each in merged)):
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

    def _behind(self, files: ZoneFiles, result: Result) -> frozenset[int]:
        """Return the numbers of the events whose words a result repeats."""
        if result.type == "event":
            event = events.event_by_id(files.events.connection, result.id)
            return frozenset() if event is None else frozenset({event.number})
        return self._behind_fact(files, result.id)

    def _behind_fact(self, files: ZoneFiles, fact_id: str) -> frozenset[int]:
        """Return the events that the decisions which gave a fact rest on."""
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
        # Commands have no words of anybody, and no row among the events.
        return frozenset(
            number for number in numbers if events.event_by_number(connection, number) is not None
        )

    def knows_entity(self, entity_id: str) -> bool:
        """Whether there is an entity with this id."""
        with self._zone.files() as files:
            return identity.canonical(files.identity.connection, entity_id) is not None

    def knows_fact(self, fact_id: str) -> bool:
        """Whether there is a fact with this id that stands."""
        with self._zone.files() as files:
            return memory.is_current_fact(files.memory.connection, fact_id)


def _names(event: Event, name: str) -> bool:
    """Return whether a name stands in an event's text, or is its sender's."""
    content = event.payload
    if not isinstance(content, Content):
        return False
    return occurs(name, (content.content, content.sender_name or "", content.sender_id))
