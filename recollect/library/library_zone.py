"""The library's zone: the memory of one tenant, with every operation as a method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from os import PathLike
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from recollect.home.memory_spans import memory_span
from recollect.home.open_zone import OpenZone
from recollect.operations.answers import recalling
from recollect.operations.erasure import forgetting
from recollect.operations.erasure.forgetting import ErasurePlan
from recollect.operations.ingestion import ingesting
from recollect.operations.ingestion.ingesting import AnyEvent, EventImport, Show, show_nothing
from recollect.operations.table.argument_checks import checked_value
from recollect.operations.table.operation import Operation
from recollect.operations.table.zone_operations import ZoneOperations
from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import MemoryScope, MemoryVisibility, RecallCount
from recollect.schemas.wire import (
    ExportReport,
    ForgetReport,
    ForgetTargets,
    IngestReport,
    Preview,
    Receipt,
    WriteReport,
    WriterPromptComparison,
)
from recollect.streams.projecting.projector import OnProgress

if TYPE_CHECKING:
    from recollect.operations.exporting.zone_export import ExportFormat

P = ParamSpec("P")
T = TypeVar("T")


def _guard(
    method: Callable[Concatenate[Zone, P], T],
) -> Callable[Concatenate[Zone, P], T]:
    """Return the method, wrapped so that the home stays open while it runs."""

    @wraps(method)
    def call(self: Zone, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._zone.open_home.call_guard():
            return method(self, *args, **kwargs)

    return call


class Zone(ZoneOperations):
    """The memory of one tenant, as `Recollect.zone` returns it.

    Its methods are those of `ZoneOperations` and, below, those that take files or callbacks.
    Any thread may call any method. Times are ISO 8601 with a time zone, unix milliseconds, or
    datetimes with a time zone. Errors are `RecollectError`s that name the field or say what to do.

    >>> zone
    Zone('ada')
    """

    def __init__(self, zone: OpenZone) -> None:
        self._zone = zone

    def call(self, operation: Operation[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an operation of the table.

        >>> zone.call(Zone.status).events
        2
        """
        with self._zone.open_home.call_guard():
            return operation(self._zone, *args, **kwargs)

    def acting_as(self, *, user: str | None = None, agent: str | None = None) -> Zone:
        """Return the zone on behalf of a user, an agent, or an agent of a user.

        It shows, recalls and changes only what they may: their own memories, and what everyone may
        read. With neither, it is the zone without restriction.

        >>> from recollect import MemoryInput
        >>> ada = zone.acting_as(user="ada")
        >>> made, = ada.store_memories([MemoryInput(content="I like tea.", scope="user")])
        >>> ada.stored_memory(made.event_id).user_id
        'ada'
        >>> zone.acting_as(user="bob").query_memories().memories
        []
        """
        return Zone(self._zone.acting_as(user, agent))

    @property
    def name(self) -> str:
        """The zone's name.

        >>> zone.name
        'ada'
        """
        return self._zone.name

    def __repr__(self) -> str:
        return f"Zone({self.name!r})"

    @_guard
    def ingest(
        self,
        events: AnyEvent | Iterable[AnyEvent],
        *,
        wait: bool = True,
        principal: Mapping[str, str] | None = None,
    ) -> IngestReport:
        """Append one or more events to the ledger, and return once they are decided.

        An event is a dict with at least `platform`, `sender_id`, `occurred_at` and `content`.
        Duplicates are stored once. Invalid events are listed in the report's `rejections`.
        `wait` False: return once they are durable; they are searchable as raw turns immediately,
        and decided by the next process that opens the zone. `principal` identifies the sender; it
        is recorded in each event's metadata and replaces any value given there.

        Raises:
            InvalidInput: `events` contains no event, or all of them are invalid.

        >>> zone.ingest([
        ...     {"platform": "chat", "sender_id": "u1", "sender_name": "Ada", "id": "m1",
        ...      "occurred_at": "2026-05-08T13:56:00Z", "content": "I live in Turin."},
        ...     {"platform": "chat", "sender_id": "u2", "sender_name": "Bob", "id": "m3",
        ...      "occurred_at": "2026-05-08T13:59:00Z", "content": "I bought a boat."},
        ... ]).duplicate
        1
        """
        return ingesting.ingest(self._zone, events, wait=wait, principal=principal)

    def event_import(self, principal: Mapping[str, str] | None = None) -> EventImport:
        """Begin an import whose events arrive in several parts, as over a network.

        `principal`: as `ingest`.

        >>> event_import = zone.event_import({"user": "ada"})
        >>> event_import.add([
        ...     {"platform": "chat", "sender_id": "u2", "sender_name": "Bob", "id": "m3",
        ...      "occurred_at": "2026-05-08T13:59:00Z", "content": "I bought a boat."}])
        >>> event_import.report().read
        1
        """
        return EventImport(self._zone, principal)

    @_guard
    def ingest_files(
        self,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        format: str = "auto",
        timezone: str | None = None,
        date_order: str | None = None,
        historical: bool = False,
        wait: bool = True,
        show: Show = show_nothing,
    ) -> IngestReport:
        """Append the events of export files to the ledger, and return once they are decided.

        A path is a file, a folder or an archive, as exported by the other program. Importing it
        again adds only new events. `timezone` (an IANA name) and `date_order` (dmy, mdy or ymd)
        are needed if the files do not state them. `historical`: events count as known from the time
        at which they occurred, instead of from now, for `known_at`. `show` displays progress.

        Raises:
            InvalidInput: a file cannot be read, has an unknown format, or needs an option; nothing
                is imported then.

        >>> zone.ingest_files("chats.jsonl").new
        1
        """
        return ingesting.ingest_files(
            self._zone,
            [paths] if isinstance(paths, str | PathLike) else paths,
            format=format,
            timezone=timezone,
            date_order=date_order,
            historical=historical,
            wait=wait,
            show=show,
        )

    def preview_files(
        self,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        format: str = "auto",
        timezone: str | None = None,
        date_order: str | None = None,
        show: Show = show_nothing,
    ) -> Preview:
        """Summarise what `ingest_files` would import: people, time range, counts, ten sample lines.

        Nothing is imported.

        Raises:
            InvalidInput: as `ingest_files`.

        >>> (export,) = zone.preview_files("chats.jsonl").exports
        >>> export.format, export.kinds, export.people[0].name
        ('jsonl', {'message': 1}, 'Ada')
        """
        from recollect.operations.ingestion import previewing

        return previewing.preview(
            [paths] if isinstance(paths, str | PathLike) else paths,
            format=format,
            timezone=timezone,
            date_order=date_order,
            show=show,
        )

    @_guard
    def follow_file(
        self,
        path: str | PathLike[str],
        *,
        format: str = "auto",
        timezone: str | None = None,
        wait: bool = True,
        each: Callable[[IngestReport], bool],
    ) -> IngestReport:
        """Append the events of a growing file to the ledger as its lines are written (`tail -F`).

        Whenever the end of the file is reached, `each` is called with the report so far; it returns
        True to stop. A truncated or replaced file is read again from its beginning; events already
        in the ledger are duplicates.

        Raises:
            InvalidInput: as `ingest_files`.

        >>> zone.follow_file("chats.jsonl", each=lambda report: True).read
        1
        """
        from recollect.operations.ingestion import file_tailing

        return file_tailing.follow(
            self._zone, path, format=format, timezone=timezone, wait=wait, each=each
        )

    def export(
        self,
        path: str | PathLike[str],
        *,
        as_: ExportFormat = "jsonl",
        force: bool = False,
        show: Show = show_nothing,
    ) -> ExportReport:
        """Write the zone to a new file of events (jsonl), or to a folder of pages (markdown, okf).

        The file or folder appears when it is complete. `ingest_files` of the events into a new home
        gives the same memory. What was forgotten is not in it. `force`: replace an earlier export.
        `show` displays progress.

        Raises:
            InvalidInput: something is there already.

        >>> zone.export("ada.jsonl").events
        2
        """
        from recollect.operations.exporting.zone_export import export_zone

        return export_zone(self._zone, path, as_=as_, force=force, show=show)

    def export_lines(self) -> Iterator[bytes]:
        """Return the lines of `export` as jsonl, for a caller that stores them elsewhere.

        >>> len(list(zone.export_lines()))
        2
        """
        from recollect.operations.exporting.zone_export import ExportedLines

        return iter(ExportedLines(self._zone))

    @_guard
    def decide(self, progress: OnProgress | None = None) -> int:
        """Decide all pending events; return how many there were.

        >>> zone.decide()
        0
        """
        return self._zone.decide(progress)

    @_guard
    def wait_for(self, token: str, timeout: float = 30.0) -> None:
        """Wait until everything up to a consistency token is decided and can be recalled here.

        Raises:
            InvalidInput: `token` is not a token of this zone.
            DecisionTimeout: `timeout` seconds have passed.

        >>> zone.wait_for(zone.consistency_token())
        """
        ingesting.wait_for(self._zone, token, timeout)

    @_guard
    def write(
        self,
        *,
        limit: int | None = None,
        again: bool = False,
        dry_run: bool = False,
        progress: OnProgress | None = None,
        while_: Callable[[], bool] = lambda: True,
    ) -> WriteReport:
        """Have the home's language model write facts about events that it has not processed.

        Its answers are validated, and contradict nothing that the rules read in the same message.
        `limit`: the maximum number of events. `again`: also process events that were processed with
        another model or another role prompt. `dry_run`: only estimate calls, tokens and cost.
        `while_`: called between two events; if it returns False, writing stops.

        Raises:
            InvalidInput: the home's writer is `rules`, or no model account is configured.
            Busy: another process is writing for this home.

        >>> zone.write(dry_run=True).model  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        recollect.schemas.errors.InvalidInput: the home uses only the rule-based writer; ...
        """
        from recollect.operations.writing import writing

        return writing.write(
            self._zone,
            limit=limit,
            again=again,
            dry_run=dry_run,
            progress=progress,
            while_=while_,
        )

    @_guard
    def compare_writer_proposal(self, id: str, *, limit: int = 10) -> WriterPromptComparison:
        """Have the model read its last `limit` messages again, under a prompt that it proposed.

        Returns, for each message, which of its facts the new prompt would give too, which it would
        add, and which it would no longer give. Nothing becomes memory; the answers are recorded.

        Raises:
            UnknownId: there is no proposal with this id.
            InvalidInput: the home's writer is `rules`, or no model account is configured.

        >>> zone.compare_writer_proposal("nobody")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        recollect.schemas.errors.InvalidInput: the home uses only the rule-based writer; ...
        """
        from recollect.operations.writing import prompt_comparison

        return prompt_comparison.compare_proposal(self._zone, id, limit=limit)

    @_guard
    def record_accesses(self, accesses: Iterable[RecallCount]) -> Receipt:
        """Append to the ledger how often memories were recalled.

        A service calls this periodically.

        >>> from recollect.schemas.events import RecallCount
        >>> fact = zone.recall("Where does Ada live?").results[0]
        >>> zone.record_accesses([RecallCount(fact.type, fact.id, 1)]).status
        'new'
        """
        return recalling.record_accesses(self._zone, accesses)

    @_guard
    def plan_erasure(self, targets: ForgetTargets | Mapping[str, Any]) -> ErasurePlan:
        """Return the records that `forget` would erase; pass them to `erase` once confirmed.

        `targets` may be a dict of the fields of `ForgetTargets`.

        Raises:
            InvalidInput, ErasureFailed: as `forget`.

        >>> from recollect import ForgetTargets
        >>> zone.plan_erasure(ForgetTargets(ids=("m1",))).ids
        ['m1']
        """
        checked = checked_value("targets", targets, ForgetTargets)
        return forgetting.plan_erasure(self._zone, checked)

    @_guard
    def erase(
        self, plan: ErasurePlan, *, dry_run: bool = False, certificate: bool = False
    ) -> ForgetReport:
        """Erase the records that `plan_erasure` returned.

        With `certificate`, the report contains a certificate of the erasure.

        Raises:
            InvalidInput, ErasureFailed: as `forget`.

        >>> from recollect import ForgetTargets
        >>> zone.erase(zone.plan_erasure(ForgetTargets(ids=("m1",))), dry_run=True).events
        1
        """
        if not isinstance(plan, ErasurePlan):
            raise InvalidInput(
                f"plan is {type(plan).__name__}; give the result of plan_erasure, or use forget"
            )
        if dry_run:
            return forgetting.preview_erasure(self._zone, plan)
        with memory_span("delete_memory", self.name) as span:
            report = forgetting.erase(self._zone, plan, certificate=certificate)
            span.set_records(report.events)
        return report

    def execute_with_learning(
        self,
        task_fn: Callable[..., Any],
        task_description: str,
        *,
        task_type: str = "task",
        agent_id: str | None = None,
        user_id: str | None = None,
        scope: MemoryScope = "zone",
        visibility: MemoryVisibility = "shared",
        playbook_id: str | None = None,
        reflect: bool = True,
        update_playbook: bool = True,
    ) -> Any:
        """Run a task, record it as a trajectory, and learn from how it ended; return its result.

        `task_fn` is called with the run (`strategies` that fit, `block` for a prompt, `log` for its
        steps, `score`), or without arguments if it takes none. A task that raises has failed, and
        its exception is raised again. Whatever fails in the memory is logged, and changes neither
        the result nor the exception. `user_id`, `scope`, `visibility`: as
        `start_trajectory`. `playbook_id`, `reflect`, `update_playbook`: as `learn_from`.

        >>> def task(run):
        ...     run.log("tool_call", "Run all tests.", tool="pytest")
        ...     return "released"
        >>> zone.execute_with_learning(task, "Release version 2.1", task_type="release")
        'released'
        """
        # Imported here: a query does not need it.
        from recollect.library.learning_loop import LearningLoop, LearningRun, takes_a_run

        loop = LearningLoop(
            self,
            task_description,
            task_type=task_type,
            agent_id=agent_id,
            user_id=user_id,
            scope=scope,
            visibility=visibility,
            playbook_id=playbook_id,
            reflect=reflect,
            update_playbook=update_playbook,
        )
        run = LearningRun(self)
        loop.start(run)
        try:
            result = task_fn(run) if takes_a_run(task_fn) else task_fn()
        except BaseException as error:
            loop.end(run, error)
            raise
        loop.end(run, None)
        return result

    @_guard
    def exists(self) -> bool:
        """Return whether the zone has events.

        >>> zone.exists()
        True
        """
        return self._zone.exists()

    @_guard
    def head(self) -> str:
        """Return the head of the zone's ledger as a short text, for a later `verify(expect=)`.

        >>> zone.verify(expect=zone.head()).ledger_ok
        True
        """
        return self._zone.head()
