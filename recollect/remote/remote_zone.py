"""A zone of a service, with the methods of a zone of a home."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NoReturn, TypeVar
from urllib.parse import quote

import msgspec

from recollect.home.open_zone import unix_ms
from recollect.library.library_zone import Zone
from recollect.operations.answers.injecting import DEFAULT_MAX_TOKENS
from recollect.operations.answers.recalling import AnyQuery, query_of
from recollect.operations.erasure.forgetting import Chosen
from recollect.operations.ingestion import previewing
from recollect.operations.ingestion.ingesting import (
    AnyEvent,
    EventImport,
    Show,
    none_kept,
    open_inputs,
    several,
    show_nothing,
)
from recollect.operations.memories.memory_listing import Listed
from recollect.remote.resendable_lines import ResendableLines, numbered
from recollect.remote.service_client import RefusedFields, ServiceClient
from recollect.schemas.errors import (
    Busy,
    DecisionTimeout,
    HomeError,
    InvalidInput,
    RequiresLocalHome,
    Unavailable,
    UnknownZone,
)
from recollect.schemas.events import Access
from recollect.schemas.wire import (
    Chain,
    Comparison,
    ContextBlock,
    DeadLetter,
    Entity,
    EntityPage,
    Explanation,
    Fact,
    ForgetReport,
    ForgetTargets,
    IngestReport,
    Level,
    Memory,
    MemoryPage,
    MemoryVersion,
    MentalModel,
    Merge,
    Preview,
    Query,
    RebuildReport,
    RecallAnswer,
    Receipt,
    ReclaimReport,
    Reflection,
    Rejection,
    RollbackReport,
    Status,
    Time,
    UpdateReport,
    Verification,
    WriteReport,
    WriterTextVersion,
)
from recollect.streams.adapters import (
    Import,
    Meter,
    Options,
    exports_of,
    records,
    reject,
    total_size,
)
from recollect.streams.projecting.projector import Progress

T = TypeVar("T")

# As many as a service lists at once.
_PAGE = 1_000
# Seconds between looks at an operation: first, and at most.
_FIRST_LOOK, _LAST_LOOK = 0.02, 1.0
# Seconds to wait for a service that decides, which gives up by itself before.
_MAX_WAIT_SECONDS = 600.0
_MIN_WAIT_SECONDS = 0.05


class _Facts(msgspec.Struct):
    facts: list[Fact]
    cursor: str | None = None


class _Merges(msgspec.Struct):
    merges: list[Merge]


class _Models(msgspec.Struct):
    mental_models: list[MentalModel]


class _Versions(msgspec.Struct):
    versions: list[MemoryVersion]


class _DeadLetters(msgspec.Struct):
    dead_letters: list[DeadLetter]


class _Unparked(msgspec.Struct):
    parked: bool


class _Token(msgspec.Struct):
    token: str


class _Hints(msgspec.Struct):
    hints: list[str]


class _Operation(msgspec.Struct):
    id: str
    state: str
    done: int
    detail: str | None = None
    result: msgspec.Raw = msgspec.Raw()


class RemoteZone(Zone):
    """The memory of one tenant in a service; see `Zone` for each method.

    These need a local home and raise RequiresLocalHome: `event_import`, `follow_file`,
    `record_accesses`, `choose`, `erase`, `write`, `writer_texts`, `tell_writer`.
    """

    def __init__(self, service: ServiceClient, name: str) -> None:
        self._service = service
        self._name = name
        self._base = f"/v1/zones/{quote(name, safe='')}"

    @property
    def name(self) -> str:
        """The zone's name."""
        return self._name

    # Writing

    def ingest(self, events: AnyEvent | Iterable[AnyEvent], *, wait: bool = True) -> IngestReport:
        started = time.monotonic()
        with ResendableLines(numbered(several(events))) as lines:
            report = self._sent(lines, started)
        if report.read and report.rejected == report.read:
            raise InvalidInput(none_kept(report))
        return self._waited(report, wait, started)

    def event_import(self, principal: Mapping[str, str] | None = None) -> EventImport:
        _only_at_home("event_import", "give ingest anything that yields events, also one by one")

    def ingest_files(
        self,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        format: str = "auto",
        timezone: str | None = None,
        date_order: str | None = None,
        wait: bool = True,
        show: Show = show_nothing,
    ) -> IngestReport:
        started = time.monotonic()
        named = [paths] if isinstance(paths, str | PathLike) else paths
        meter, counts = Meter(), Import(rejections=[], skipped=[])
        inputs = open_inputs(named, format, Options.of(timezone, date_order), meter)
        for one in inputs:
            counts.skipped += one.skipped
            counts.read += len(one.refused)
            for rejection in one.refused:
                reject(counts, rejection)
        report: IngestReport | None = None
        with show("reading", total_size(inputs), "bytes") as meter.advance:
            for export in exports_of(inputs):
                with ResendableLines(records(export.source)) as lines:
                    report = self._sent(lines, started)
                for rejection in report.rejections:
                    reject(counts, rejection)
                counts.rejected += report.rejected - len(report.rejections)
                for name in ("read", "new", "duplicate", "clamped"):
                    setattr(counts, name, getattr(counts, name) + getattr(report, name))
        token = head = ""
        if report is not None and report.token:
            token, head = report.token, report.head
        elif self.exists():
            token, head = self.token(), self.head()
        said = msgspec.structs.asdict(counts)
        whole = IngestReport(**said, seconds=0.0, token=token, head=head)
        return self._waited(whole, wait, started)

    def preview_files(
        self,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        format: str = "auto",
        timezone: str | None = None,
        date_order: str | None = None,
        show: Show = show_nothing,
    ) -> Preview:
        named = [paths] if isinstance(paths, str | PathLike) else paths
        return previewing.preview(
            named, format=format, timezone=timezone, date_order=date_order, show=show
        )

    def follow_file(
        self,
        path: str | PathLike[str],
        *,
        format: str = "auto",
        timezone: str | None = None,
        wait: bool = True,
        each: Callable[[IngestReport], bool],
    ) -> IngestReport:
        _only_at_home("follow_file", "ingest the file again whenever it has grown")

    def _sent(self, lines: ResendableLines, started: float) -> IngestReport:
        """Return what became of the events of one import."""
        try:
            report = self._service.stream(
                f"{self._base}/events", IngestReport, lines.from_the_first
            )
        except RefusedFields as refused:
            if not refused.errors:
                raise
            report = _all_refused(lines, refused)
        placed = Import(rejections=[])
        # In the order of the source, whoever refused them.
        own = {rejection.line: rejection for rejection in lines.refused.rejections}
        for rejection in report.rejections:
            path, line = lines.place(rejection.line)
            own.setdefault(line, msgspec.structs.replace(rejection, path=path, line=line))
        for line in sorted(own):
            reject(placed, own[line])
        return msgspec.structs.replace(
            report,
            read=report.read + lines.refused.rejected,
            rejected=report.rejected + lines.refused.rejected,
            rejections=placed.rejections,
            seconds=_since(started),
        )

    def _waited(self, report: IngestReport, wait: bool, started: float) -> IngestReport:
        if wait and report.token:
            self._decided(report.token)
        return msgspec.structs.replace(report, seconds=_since(started))

    def remember(
        self,
        content: str,
        *,
        sender_id: str = "user",
        at: Time | None = None,
        principal: Mapping[str, str] | None = None,
    ) -> Receipt:
        _by_token(principal)
        if not isinstance(content, str):
            raise InvalidInput(f"content is {type(content).__name__}; give a text")
        # The time is said here: sent twice, it is the same text of the same moment.
        moment = unix_ms() if at is None else at
        body = {"content": content, "sender_id": sender_id, "at": moment}
        return self._service.change("POST", f"{self._base}/memories", Receipt, body)

    def decide(self, progress: Progress | None = None) -> int:
        waiting = self.status().lag
        if waiting:
            self._decided(self.token())
            if progress is not None:
                progress(waiting)
        return waiting

    def _decided(self, token: str) -> None:
        """Wait until what a token stands for is decided, as long as the service gets further."""
        left: int | None = None
        while True:
            try:
                self._waits(token, _MAX_WAIT_SECONDS)
                return
            except DecisionTimeout:
                before, left = left, self.status().lag
                if before is not None and left >= before:
                    raise

    def token(self) -> str:
        return self._service.get(f"{self._base}/token", _Token).token

    def wait_for(self, token: str, timeout: float = 30.0) -> None:
        deadline = time.monotonic() + timeout
        while True:
            try:
                self._waits(token, max(deadline - time.monotonic(), _MIN_WAIT_SECONDS))
                return
            except (DecisionTimeout, Unavailable) as error:
                if time.monotonic() >= deadline:
                    raise DecisionTimeout(
                        f"zone {self.name} has not decided what the token stands for after "
                        f"{timeout:g} s; ask again"
                    ) from None
                if isinstance(error, Unavailable):
                    raise

    def _waits(self, token: str, seconds: float) -> None:
        """Wait at most so long, or as long as the service does.

        Raises:
            DecisionTimeout, Unavailable: it was not long enough.
        """
        self._service.ask(f"{self._base}/wait", Status, {"token": token}, seconds=seconds)

    # Asking

    def recall(self, query: AnyQuery, /, **fields: Any) -> RecallAnswer:
        return self._service.ask(
            f"{self._base}/memories/recall", RecallAnswer, query_of(query, fields)
        )

    def context(self, task: str, *, max_tokens: int = DEFAULT_MAX_TOKENS) -> ContextBlock:
        body = {"task": task, "max_tokens": max_tokens}
        return self._service.ask(f"{self._base}/context", ContextBlock, body)

    def explain(self, query: AnyQuery, id: str, /, **fields: Any) -> Explanation | None:
        asked = query_of(query, fields)
        try:
            return self._service.ask(f"{self._memory(id)}/explain", Explanation, asked)
        except UnknownZone:
            # Of a memory that is not in the answer the service says the same.
            self.status()
            return None

    def why(self, id: str) -> Chain:
        return self._service.get(f"{self._memory(id)}/why", Chain)

    def reflect(
        self,
        query: str,
        *,
        entity: str | None = None,
        platform: str | None = None,
        time_after: Time | None = None,
        time_before: Time | None = None,
        max_results: int = 20,
        keep_as: str | None = None,
    ) -> Reflection:
        body = {
            "query": query,
            "entity": entity,
            "platform": platform,
            "time_after": time_after,
            "time_before": time_before,
            "max_results": max_results,
            "keep_as": keep_as,
        }
        return self._service.change("POST", f"{self._base}/reflect", Reflection, body)

    def write(
        self,
        *,
        limit: int | None = None,
        again: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
        while_: Callable[[], bool] = lambda: True,
    ) -> WriteReport:
        _only_at_home("write", "recollect write asks the model where the service runs")

    def writer_texts(self) -> list[WriterTextVersion]:
        _only_at_home("writer_texts", "recollect writer shows them where the service runs")

    def tell_writer(self, name: str, text: str) -> int:
        _only_at_home("tell_writer", "recollect writer changes them where the service runs")

    def record_accesses(self, accesses: Iterable[Access]) -> Receipt:
        _only_at_home("record_accesses", "a service counts what is recalled by itself")

    # Forgetting

    def forget(
        self,
        *ids: str,
        platform: str | None = None,
        entity: str | None = None,
        sender: str | None = None,
        thread: str | None = None,
        before: Time | None = None,
        after: Time | None = None,
        dry_run: bool = False,
    ) -> ForgetReport:
        body = {
            "ids": ids,
            "platform": platform,
            "entity": entity,
            "sender": sender,
            "thread": thread,
            "before": before,
            "after": after,
            "dry_run": dry_run,
        }
        return self._service.change("POST", f"{self._base}/forget", ForgetReport, body)

    def choose(self, targets: ForgetTargets) -> Chosen:
        _only_at_home("choose", "forget(..., dry_run=True) says what would go")

    def erase(self, chosen: Chosen, *, dry_run: bool = False) -> ForgetReport:
        _only_at_home("erase", "forget erases what is named")

    # Mental models

    def mental_models(self, *, every_version: bool = False) -> list[MentalModel]:
        found = self._service.get(
            f"{self._base}/mental-models", _Models, every_version=every_version
        )
        return found.mental_models

    def mental_model(self, model_id: str) -> MentalModel:
        return self._service.get(self._model(model_id), MentalModel)

    def create_mental_model(
        self,
        name: str,
        description: str,
        *,
        subtype: str | None = None,
        entity_id: str | None = None,
        tags: Sequence[str] = (),
        rests_on: Sequence[str] = (),
    ) -> MentalModel:
        body = {
            "name": name,
            "description": description,
            "subtype": subtype,
            "entity_id": entity_id,
            "tags": tags,
            "rests_on": rests_on,
        }
        return self._service.change("POST", f"{self._base}/mental-models", MentalModel, body)

    def update_mental_model(
        self, model_id: str, description: str, *, rests_on: Sequence[str] | None = None
    ) -> MentalModel:
        body = {"description": description, "rests_on": rests_on}
        return self._service.change("PATCH", self._model(model_id), MentalModel, body)

    def delete_mental_model(self, model_id: str, *, dry_run: bool = False) -> ForgetReport:
        return self._service.change("DELETE", self._model(model_id), ForgetReport, dry_run=dry_run)

    # What is held

    def get_memory(self, id: str) -> Memory:
        return self._service.get(self._memory(id), Memory)

    def list_memories(
        self,
        scope: Listed = "facts",
        *,
        entity: str | None = None,
        platform: str | None = None,
        thread: str | None = None,
        source_event_ids: Sequence[str] | None = None,
        metadata: Mapping[str, str] | None = None,
        superseded: bool = False,
        cursor: str | None = None,
        limit: int = 50,
    ) -> MemoryPage:
        if source_event_ids is not None and not source_event_ids:
            # An address cannot say an empty list.
            return MemoryPage(memories=[])
        return self._service.get(
            f"{self._base}/memories",
            MemoryPage,
            scope=scope,
            entity=entity,
            platform=platform,
            thread=thread,
            source_event_ids=None if source_event_ids is None else list(source_event_ids),
            metadata=None if metadata is None else json.dumps(dict(metadata)),
            superseded=superseded,
            cursor=cursor,
            limit=limit,
        )

    def update_memory(
        self, id: str, text: str, *, principal: Mapping[str, str] | None = None
    ) -> UpdateReport:
        _by_token(principal)
        return self._service.change("PATCH", self._memory(id), UpdateReport, {"text": text})

    def history(self, id: str) -> list[MemoryVersion]:
        return self._service.get(f"{self._memory(id)}/history", _Versions).versions

    def get_entity(self, name_or_id: str) -> Entity:
        return self._service.get(f"{self._base}/entities/{_part(name_or_id)}", Entity)

    def facts(
        self,
        *,
        entity: str | None = None,
        superseded: bool = False,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[Fact]:
        found: list[Fact] = []
        for size in _pages(limit):
            page = self._service.get(
                f"{self._base}/facts",
                _Facts,
                entity=entity,
                superseded=superseded,
                cursor=after,
                limit=size,
            )
            found += page.facts
            after = page.cursor
            if after is None:
                break
        return found

    def fact_count(self, *, entity: str | None = None, superseded: bool = False) -> int:
        return len(self.facts(entity=entity, superseded=superseded))

    def entities(self, *, skip: int = 0, limit: int | None = None) -> list[Entity]:
        found: list[Entity] = []
        cursor = None
        for size in _pages(None if limit is None else skip + limit):
            page = self.entity_page(cursor=cursor, limit=size)
            found += page.entities
            cursor = page.cursor
            if cursor is None:
                break
        return found[skip:]

    def entity_page(self, *, cursor: str | None = None, limit: int = 50) -> EntityPage:
        path = f"{self._base}/entities"
        return self._service.get(path, EntityPage, cursor=cursor, limit=limit)

    def compare(self, a: str, b: str) -> Comparison:
        return self._service.ask(f"{self._base}/entities/compare", Comparison, {"a": a, "b": b})

    def hints(self, query: Query | None = None) -> list[str]:
        asked = Query("") if query is None else query
        try:
            return self._service.ask(f"{self._base}/hints", _Hints, asked).hints
        except UnknownZone as error:
            return [str(error)]

    # Merges

    def propose_merge(
        self, entity_a: str, entity_b: str, confidence: float, reason: str
    ) -> Receipt:
        body = {
            "entity_a": entity_a,
            "entity_b": entity_b,
            "confidence": confidence,
            "reason": reason,
        }
        return self._service.change("POST", f"{self._base}/merges", Receipt, body)

    def merges(self) -> list[Merge]:
        return self._service.get(f"{self._base}/merges", _Merges).merges

    def decide_merge(self, id: str, approve: bool) -> Merge:
        return self._merge(id, "approved" if approve else "rejected")

    def undo_merge(self, id: str) -> Merge:
        return self._merge(id, "undone")

    def _merge(self, id_: str, state: Literal["approved", "rejected", "undone"]) -> Merge:
        path = f"{self._base}/merges/{_part(id_)}"
        return self._service.change("PATCH", path, Merge, {"state": state})

    # Keeping in order

    def exists(self) -> bool:
        try:
            return not self.head().startswith("0:")
        except UnknownZone:
            return False

    def head(self) -> str:
        return self.status().head

    def status(self) -> Status:
        return self._service.get(f"{self._base}/status", Status)

    def verify(
        self, *, expect: str | None = None, progress: Progress | None = None
    ) -> Verification:
        return self._done("verify", Verification, {"expect": expect}, progress)

    def rebuild(
        self,
        level: Level = "project",
        *,
        dry_run: bool = False,
        compare: bool = False,
        progress: Progress | None = None,
    ) -> RebuildReport:
        body = {"level": level, "dry_run": dry_run, "compare": compare}
        return self._done("rebuild", RebuildReport, body, progress)

    def rollback(self, progress: Progress | None = None) -> RollbackReport:
        return self._done("rollback", RollbackReport, None, progress)

    def reclaim(self, *, dry_run: bool = False) -> ReclaimReport:
        return self._done("reclaim", ReclaimReport, {"dry_run": dry_run}, None)

    def _done(self, kind: str, report: type[T], body: object, progress: Progress | None) -> T:
        """Return the report of an operation, once it has ended."""
        operation = self._service.change("POST", f"{self._base}/{kind}", _Operation, body)
        path, shown, wait = f"{self._base}/operations/{operation.id}", 0, _FIRST_LOOK
        while operation.state in ("queued", "running"):
            time.sleep(wait)
            wait = min(2 * wait, _LAST_LOOK)
            operation = self._service.get(path, _Operation)
            if progress is not None and operation.done > shown:
                progress(operation.done - shown)
                shown = operation.done
        if operation.state == "succeeded":
            return msgspec.json.decode(operation.result, type=report)
        said = operation.detail or f"the operation was {operation.state}"
        if operation.state == "interrupted":
            raise Unavailable(f"{kind} of zone {self.name}: {said}; ask for it again")
        if operation.state == "cancelled":
            raise Busy(f"{kind} of zone {self.name}: somebody cancelled it")
        raise HomeError(said)

    def dead_letters(self) -> list[DeadLetter]:
        return self._service.get(f"{self._base}/dead-letters", _DeadLetters).dead_letters

    def retry(self, number: int) -> bool:
        return self._unparked(number, "retry")

    def drop(self, number: int) -> bool:
        return self._unparked(number, "drop")

    def _unparked(self, number: int, how: str) -> bool:
        path = f"{self._base}/dead-letters/{number}/{how}"
        try:
            return not self._service.change("POST", path, _Unparked).parked
        except UnknownZone:
            if not self.exists():
                raise
            # It is not parked.
            return True

    def _memory(self, id_: str) -> str:
        return f"{self._base}/memories/{_part(id_)}"

    def _model(self, id_: str) -> str:
        return f"{self._base}/mental-models/{_part(id_)}"


def _part(name: str) -> str:
    """Return a text as one part of a path."""
    if not name:
        raise InvalidInput("id is empty; give one")
    # Whoever stands between would take them for a step in the path.
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")


def _pages(limit: int | None) -> Iterator[int]:
    """Yield how many to ask for, page by page."""
    if limit is not None and limit < 0:
        raise InvalidInput(f"limit is {limit}; give 0 or more")
    while limit is None or limit > 0:
        size = _PAGE if limit is None else min(limit, _PAGE)
        yield size
        if limit is not None:
            limit -= size


def _all_refused(lines: ResendableLines, refused: RefusedFields) -> IngestReport:
    """Return the report of an import of which a service kept nothing."""
    rejections = []
    for error in refused.errors:
        number = error.pointer.rpartition("/")[2]
        if not number.isdigit() or int(number) >= len(lines):
            # Something else is wrong than an event.
            raise refused
        rejections.append(Rejection("events", int(number) + 1, error.detail))
    read = len(lines) - lines.refused.rejected
    return IngestReport(
        read=read,
        new=0,
        duplicate=0,
        clamped=0,
        rejected=read,
        rejections=rejections,
        seconds=0.0,
        token="",
        head="",
    )


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)


def _by_token(principal: Mapping[str, str] | None) -> None:
    if principal is not None:
        raise RequiresLocalHome("principal: over a network the token says who it is; leave it out")


def _only_at_home(method: str, instead: str) -> NoReturn:
    raise RequiresLocalHome(f"{method} works with a home alone; {instead}")
