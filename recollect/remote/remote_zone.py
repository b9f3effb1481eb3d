"""A zone of a service, with the methods of a zone of a home."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, NoReturn, ParamSpec, TypeVar
from urllib.parse import quote

import msgspec

from recollect.home.open_zone import unix_ms
from recollect.library.library_zone import Zone
from recollect.operations.erasure.forgetting import ErasurePlan
from recollect.operations.exporting.zone_export import ExportFormat
from recollect.operations.ingestion import previewing
from recollect.operations.ingestion.ingesting import (
    AnyEvent,
    EventImport,
    Show,
    all_rejected_message,
    initial_counts,
    iterate_events,
    open_inputs,
    show_nothing,
)
from recollect.operations.table.operation import Operation
from recollect.remote.resendable_lines import ResendableLines, with_numbers
from recollect.remote.service_client import InvalidFields, ServiceClient
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
    ExportReport,
    ForgetReport,
    ForgetTargets,
    IngestReport,
    Preview,
    Receipt,
    Rejection,
    Status,
    WriteReport,
    WriterPromptComparison,
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
from recollect.streams.adapters.exported_zone import ExportedZone
from recollect.streams.projecting.projector import OnProgress

P = ParamSpec("P")
T = TypeVar("T")

# Seconds between polls of a long-running operation: first, and at most.
_FIRST_POLL, _MAX_POLL = 0.02, 1.0
# Timeout of a request that waits for decisions, in seconds; the service times out earlier.
_MAX_WAIT = 600.0
_MIN_WAIT = 0.05


class _Operation(msgspec.Struct):
    id: str
    state: str
    done: int
    detail: str | None = None
    result: msgspec.Raw = msgspec.Raw()


class RemoteZone(Zone):
    """The memory of one tenant in a service; see `Zone` for each method.

    These need a local home and raise RequiresLocalHome: `acting_as`, `event_import`,
    `follow_file`, `export`, `record_accesses`, `plan_erasure`, `erase`, `write`.
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
        given = operation.request_values(*args, **kwargs)
        if operation.stamp is not None and given.get(operation.stamp) is None:
            # Set here, so that a retry sends the same time.
            given[operation.stamp] = unix_ms()
        path = self._base + operation.path
        for name in operation.path_parameters:
            path = path.replace(f"{{{name}}}", _path_segment(str(given.pop(name))))
        if operation.long_running:
            progress = operation.signature.bind(*args, **kwargs).arguments.get("progress")
            return self._run_to_end(operation, path, given, progress)
        try:
            answer = self._answer(operation, path, given)
        except UnknownZone as error:
            missing: T = self._missing(operation, error)
            return missing
        result: T = (
            answer
            if operation.response_field is None
            else getattr(answer, operation.response_field)
        )
        return result

    def _answer(self, operation: Operation[..., Any], path: str, given: dict[str, Any]) -> Any:
        if operation.method == "GET":
            parameters = {name: _parameter(value) for name, value in given.items()}
            return self._service.get(path, operation.answer, **parameters)
        if operation.method == "DELETE":
            return self._service.change("DELETE", path, operation.answer, **given)
        if operation.reads_only and given.get("save_as") is None:
            return self._service.query(path, operation.answer, given)
        return self._service.change(operation.method, path, operation.answer, given)

    def _missing(self, operation: Operation[..., Any], error: UnknownZone) -> Any:
        """Return the answer for a 404 response of the service, or raise the error."""
        if operation.name == "hints":
            return [str(error)]
        if not operation.optional:
            raise error
        # Raises an error if what the service did not find is the zone, which has no events.
        self.status()
        return None

    def _run_to_end(
        self,
        operation: Operation[..., T],
        path: str,
        given: dict[str, Any],
        progress: OnProgress | None,
    ) -> T:
        """Start a long-running operation, poll it until it has ended, and return its report."""
        state = self._service.change("POST", path, _Operation, given)
        url, reported, wait = f"{self._base}/operations/{state.id}", 0, _FIRST_POLL
        while state.state in ("queued", "running"):
            time.sleep(wait)
            wait = min(2 * wait, _MAX_POLL)
            state = self._service.get(url, _Operation)
            if progress is not None and state.done > reported:
                progress(state.done - reported)
                reported = state.done
        if state.state == "succeeded":
            report: T = msgspec.json.decode(state.result, type=operation.answer)
            return report
        detail = state.detail or f"the operation was {state.state}"
        if state.state == "interrupted":
            raise Unavailable(f"{operation.name} of zone {self.name}: {detail}; start it again")
        if state.state == "cancelled":
            raise Busy(f"{operation.name} of zone {self.name}: another client cancelled it")
        raise HomeError(detail)

    def ingest(
        self,
        events: AnyEvent | Iterable[AnyEvent],
        *,
        wait: bool = True,
        principal: Mapping[str, str] | None = None,
    ) -> IngestReport:
        _check_principal(principal)
        started = time.monotonic()
        with ResendableLines(with_numbers(iterate_events(events))) as lines:
            report = self._send(lines, started)
        if report.read and report.rejected == report.read:
            raise InvalidInput(all_rejected_message(report))
        return self._await_decision(report, wait, started)

    execute_with_learning = Zone.execute_with_learning

    def acting_as(self, *, user: str | None = None, agent: str | None = None) -> Zone:
        _require_local_home("acting_as", "connect with a token of this user and agent")

    def event_import(self, principal: Mapping[str, str] | None = None) -> EventImport:
        _require_local_home("event_import", "give ingest an iterator that yields the events")

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
        started = time.monotonic()
        paths = [paths] if isinstance(paths, str | PathLike) else paths
        meter = ByteCounter()
        options = Options.of(timezone, date_order, historical=historical)
        inputs = open_inputs(paths, format, options, meter)
        counts = initial_counts(inputs)
        for export in exports_of(inputs):
            if isinstance(export.source, ExportedZone):
                raise RequiresLocalHome(
                    f"{export.path} is the export of a zone, which contains commands (such as "
                    "retractions) that a service does not accept; ingest it into a home on this "
                    "machine"
                )
        report: IngestReport | None = None
        with show("reading", total_size(inputs), "bytes") as meter.on_bytes_read:
            for export in exports_of(inputs):
                with ResendableLines(records(export.source)) as lines:
                    report = self._send(lines, started)
                for rejection in report.rejections:
                    reject(counts, rejection)
                counts.rejected += report.rejected - len(report.rejections)
                for name in ("read", "new", "duplicate", "clamped"):
                    setattr(counts, name, getattr(counts, name) + getattr(report, name))
        token = head = ""
        if report is not None and report.token:
            token, head = report.token, report.head
        elif self.exists():
            token, head = self.consistency_token(), self.head()
        total = IngestReport(**msgspec.structs.asdict(counts), seconds=0.0, token=token, head=head)
        return self._await_decision(total, wait, started)

    def preview_files(
        self,
        paths: str | PathLike[str] | Sequence[str | PathLike[str]],
        *,
        format: str = "auto",
        timezone: str | None = None,
        date_order: str | None = None,
        show: Show = show_nothing,
    ) -> Preview:
        return previewing.preview(
            [paths] if isinstance(paths, str | PathLike) else paths,
            format=format,
            timezone=timezone,
            date_order=date_order,
            show=show,
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
        _require_local_home("follow_file", "ingest the file again whenever it has grown")

    def export(
        self,
        path: str | PathLike[str],
        *,
        as_: ExportFormat = "jsonl",
        force: bool = False,
        show: Show = show_nothing,
    ) -> ExportReport:
        _require_local_home("export", "write the lines of export_lines to a file")

    def export_lines(self) -> Iterator[bytes]:
        return self._service.lines(f"{self._base}/export")

    def _send(self, lines: ResendableLines, started: float) -> IngestReport:
        """Send the events of one import and return its report."""
        try:
            report = self._service.stream(f"{self._base}/events", IngestReport, lines.replay)
        except InvalidFields as error:
            if not error.errors:
                raise
            report = _all_rejected_report(lines, error)
        # Merge the rejections of both sides, in the order of the source.
        merged = ImportCounts(rejections=[])
        rejections = list(lines.invalid.rejections)
        for rejection in report.rejections:
            path, line = lines.location(rejection.line)
            rejections.append(msgspec.structs.replace(rejection, path=path, line=line))
        order = {path: place for place, path in enumerate(lines.paths())}
        for rejection in sorted(rejections, key=lambda one: (order[one.path], one.line)):
            reject(merged, rejection)
        return msgspec.structs.replace(
            report,
            read=report.read + lines.invalid.rejected,
            rejected=report.rejected + lines.invalid.rejected,
            rejections=merged.rejections,
            seconds=_since(started),
        )

    def _await_decision(self, report: IngestReport, wait: bool, started: float) -> IngestReport:
        if wait and report.token:
            self._wait_while_progressing(report.token)
        return msgspec.structs.replace(report, seconds=_since(started))

    def decide(self, progress: OnProgress | None = None) -> int:
        lag = self.status().lag
        if lag:
            self._wait_while_progressing(self.consistency_token())
            if progress is not None:
                progress(lag)
        return lag

    def _wait_while_progressing(self, token: str) -> None:
        """Wait for a token for as long as the zone's lag decreases.

        Raises:
            DecisionTimeout: the service timed out, and the lag has not decreased.
        """
        lag: int | None = None
        while True:
            try:
                self._wait_once(token, _MAX_WAIT)
                return
            except DecisionTimeout:
                before, lag = lag, self.status().lag
                if before is not None and lag >= before:
                    raise

    def wait_for(self, token: str, timeout: float = 30.0) -> None:
        deadline = time.monotonic() + timeout
        while True:
            try:
                self._wait_once(token, max(deadline - time.monotonic(), _MIN_WAIT))
                return
            except (DecisionTimeout, Unavailable) as error:
                if time.monotonic() >= deadline:
                    raise DecisionTimeout(
                        f"zone {self.name} has not been processed up to the token after "
                        f"{timeout:g} s; wait again"
                    ) from None
                if isinstance(error, Unavailable):
                    raise

    def _wait_once(self, token: str, seconds: float) -> None:
        """Wait for a token until `seconds` have passed, or the service times out.

        Raises:
            DecisionTimeout: the service timed out.
            Unavailable: `seconds` have passed.
        """
        self._service.query(f"{self._base}/wait", Status, {"token": token}, seconds=seconds)

    def write(
        self,
        *,
        limit: int | None = None,
        again: bool = False,
        dry_run: bool = False,
        progress: OnProgress | None = None,
        while_: Callable[[], bool] = lambda: True,
    ) -> WriteReport:
        _require_local_home("write", "run recollect write on the service's machine")

    def compare_writer_proposal(self, id: str, *, limit: int = 10) -> WriterPromptComparison:
        _require_local_home(
            "compare_writer_proposal", "run recollect writer on the service's machine"
        )

    def record_accesses(self, accesses: Iterable[RecallCount]) -> Receipt:
        _require_local_home("record_accesses", "a service counts recalls by itself")

    def plan_erasure(self, targets: ForgetTargets | Mapping[str, Any]) -> ErasurePlan:
        _require_local_home("plan_erasure", "forget(..., dry_run=True) counts what would be erased")

    def erase(
        self, plan: ErasurePlan, *, dry_run: bool = False, certificate: bool = False
    ) -> ForgetReport:
        _require_local_home("erase", "use forget")

    def exists(self) -> bool:
        try:
            return not self.head().startswith("0:")
        except UnknownZone:
            return False

    def head(self) -> str:
        return self.status().head


def _check_principal(principal: object) -> None:
    if principal is not None:
        raise RequiresLocalHome("principal: a service takes it from the access token; leave it out")


def _path_segment(name: str) -> str:
    """Return a text as one percent-encoded segment of a path."""
    if not name:
        raise InvalidInput("id is empty; give one")
    # Clients and proxies would resolve a segment of dots.
    return name.replace(".", "%2E") if name in (".", "..") else quote(name, safe="")


def _all_rejected_report(lines: ResendableLines, error: InvalidFields) -> IngestReport:
    """Return the report of an import if the service has rejected all of its events."""
    rejections = []
    for field in error.errors:
        number = field.pointer.rpartition("/")[2]
        if not number.isdigit() or int(number) >= len(lines):
            # The service rejected something other than an event.
            raise error
        rejections.append(Rejection("events", int(number) + 1, field.detail))
    read = len(lines) - lines.invalid.rejected
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
    """Return a value as a query parameter; an empty list becomes one empty text."""
    if isinstance(value, dict):
        return msgspec.json.encode(value).decode()
    return value or [""] if isinstance(value, list) else value


def _since(started: float) -> float:
    return round(time.monotonic() - started, 3)


def _require_local_home(method: str, instead: str) -> NoReturn:
    raise RequiresLocalHome(f"{method} requires a local home; {instead}")
