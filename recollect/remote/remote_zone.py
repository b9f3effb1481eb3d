"""A zone of a service, with the methods of a zone of a home."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, NoReturn, ParamSpec, TypeVar
from urllib.parse import quote

import msgspec

from recollect.home.open_zone import unix_ms
from recollect.library.library_zone import Zone
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
from recollect.operations.table.operation import Operation
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
from recollect.schemas.events import RecallCount
from recollect.schemas.wire import (
    ForgetReport,
    ForgetTargets,
    IngestReport,
    Preview,
    Receipt,
    Rejection,
    Status,
    WriteReport,
)
from recollect.streams.adapters import (
    ByteCounter,
    ImportCounts,
    Options,
    exports_of,
    records,
    reject,
    total_size,
)
from recollect.streams.projecting.projector import OnProgress

P = ParamSpec("P")
T = TypeVar("T")

# Seconds between looks at an operation: first, and at most.
_FIRST_LOOK, _LAST_LOOK = 0.02, 1.0
# Seconds to wait for a service that decides, which gives up by itself before.
_LONGEST_WAIT = 600.0
_MIN_WAIT = 0.05


class _Operation(msgspec.Struct):
    id: str
    state: str
    done: int
    detail: str | None = None
    result: msgspec.Raw = msgspec.Raw()


class RemoteZone(Zone):
    """The memory of one tenant in a service; see `Zone` for each method.

    These need a local home and raise RequiresLocalHome: `event_import`, `follow_file`,
    `record_accesses`, `choose`, `erase`, `write`.
    """

    def __init__(self, service: ServiceClient, name: str) -> None:
        self._service = service
        self._name = name
        self._base = f"/v1/zones/{quote(name, safe='')}"

    @property
    def name(self) -> str:
        """The zone's name."""
        return self._name

    def call(self, operation: Operation[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        _check_principal(kwargs.get("principal"))
        given = operation.given(*args, **kwargs)
        if operation.stamp is not None and given.get(operation.stamp) is None:
            # Sent twice, it is the same text of the same moment.
            given[operation.stamp] = unix_ms()
        path = self._base + operation.path
        for name in operation.path_parameters:
            path = path.replace(f"{{{name}}}", _part(str(given.pop(name))))
        if operation.long_running:
            progress = operation.signature.bind(*args, **kwargs).arguments.get("progress")
            return self._ended(operation, path, given, progress)
        try:
            answer = self._answer(operation, path, given)
        except UnknownZone as error:
            missing: T = self._missing(operation, error)
            return missing
        found: T = answer if operation.key is None else getattr(answer, operation.key)
        return found

    def _answer(self, operation: Operation[..., Any], path: str, given: dict[str, Any]) -> Any:
        if operation.method == "GET":
            parameters = {name: _parameter(value) for name, value in given.items()}
            return self._service.get(path, operation.answer, **parameters)
        if operation.method == "DELETE":
            return self._service.change("DELETE", path, operation.answer, **given)
        if operation.reads_only and given.get("save_as") is None:
            return self._service.ask(path, operation.answer, given)
        return self._service.change(operation.method, path, operation.answer, given)

    def _missing(self, operation: Operation[..., Any], error: UnknownZone) -> Any:
        """Return the answer where the service found nothing, or raise the error."""
        if operation.name == "hints":
            return [str(error)]
        if not operation.optional:
            raise error
        # Of a zone without events the service says the same.
        self.status()
        return None

    def _ended(
        self,
        operation: Operation[..., T],
        path: str,
        given: dict[str, Any],
        progress: OnProgress | None,
    ) -> T:
        """Begin a long-running operation, and return its report once it has ended."""
        begun = self._service.change("POST", path, _Operation, given)
        place, shown, wait = f"{self._base}/operations/{begun.id}", 0, _FIRST_LOOK
        while begun.state in ("queued", "running"):
            time.sleep(wait)
            wait = min(2 * wait, _LAST_LOOK)
            begun = self._service.get(place, _Operation)
            if progress is not None and begun.done > shown:
                progress(begun.done - shown)
                shown = begun.done
        if begun.state == "succeeded":
            report: T = msgspec.json.decode(begun.result, type=operation.answer)
            return report
        said = begun.detail or f"the operation was {begun.state}"
        if begun.state == "interrupted":
            raise Unavailable(f"{operation.name} of zone {self.name}: {said}; ask for it again")
        if begun.state == "cancelled":
            raise Busy(f"{operation.name} of zone {self.name}: somebody cancelled it")
        raise HomeError(said)

    def ingest(
        self,
        events: AnyEvent | Iterable[AnyEvent],
        *,
        wait: bool = True,
        principal: Mapping[str, str] | None = None,
    ) -> IngestReport:
        _check_principal(principal)
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
        meter, counts = ByteCounter(), ImportCounts(rejections=[], skipped=[])
        inputs = open_inputs(named, format, Options.of(timezone, date_order), meter)
        for one in inputs:
            counts.skipped += one.skipped
            counts.read += len(one.rejections)
            for rejection in one.rejections:
                reject(counts, rejection)
        report: IngestReport | None = None
        with show("reading", total_size(inputs), "bytes") as meter.on_bytes_read:
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
        placed = ImportCounts(rejections=[])
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

    def decide(self, progress: OnProgress | None = None) -> int:
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
                self._waits(token, _LONGEST_WAIT)
                return
            except DecisionTimeout:
                before, left = left, self.status().lag
                if before is not None and left >= before:
                    raise

    def wait_for(self, token: str, timeout: float = 30.0) -> None:
        deadline = time.monotonic() + timeout
        while True:
            try:
                self._waits(token, max(deadline - time.monotonic(), _MIN_WAIT))
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

    def write(
        self,
        *,
        limit: int | None = None,
        again: bool = False,
        dry_run: bool = False,
        progress: OnProgress | None = None,
        while_: Callable[[], bool] = lambda: True,
    ) -> WriteReport:
        _only_at_home("write", "recollect write asks the model where the service runs")

    def record_accesses(self, accesses: Iterable[RecallCount]) -> Receipt:
        _only_at_home("record_accesses", "a service counts what is recalled by itself")

    def choose(self, targets: ForgetTargets) -> Chosen:
        _only_at_home("choose", "forget(..., dry_run=True) says what would go")

    def erase(self, chosen: Chosen, *, dry_run: bool = False) -> ForgetReport:
        _only_at_home("erase", "forget erases what is named")

    def exists(self) -> bool:
        try:
            return not self.head().startswith("0:")
        except UnknownZone:
            return False

    def head(self) -> str:
        return self.status().head


def _check_principal(principal: object) -> None:
    if principal is not None:
        raise RequiresLocalHome("principal: over a network the token says who it is; leave it out")


def _part(name: str) -> str:
    """Return a text as one part of a path."""
    if not name:
        raise InvalidInput("id is empty; give one")
    # Whoever stands between would take them for a step in the path.
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")


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


def _parameter(value: Any) -> Any:
    """Return a value as an address may have it; an empty list as one empty text."""
    if isinstance(value, dict):
        return msgspec.json.encode(value).decode()
    return value or [""] if isinstance(value, list) else value


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)


def _only_at_home(method: str, instead: str) -> NoReturn:
    raise RequiresLocalHome(f"{method} works with a home alone; {instead}")
