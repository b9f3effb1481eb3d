"""Writing to a zone: events, export files, remembered texts and commands; waiting for decisions."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from recollect.home.consistency_token import LedgerPosition
from recollect.home.memory_spans import SpanRecord, memory_span
from recollect.home.open_zone import OpenZone, unix_ms
from recollect.projections.events.event_queries import event_by_id, places_where_said
from recollect.schemas.errors import AlreadyClosed, DecisionTimeout, InvalidInput, UnknownId
from recollect.schemas.events import RESERVED_PLATFORM, AnyPayload, Command, Content, Draft
from recollect.schemas.inbound import InboundEvent, check_platform, internal_draft_of
from recollect.schemas.times import parse_time
from recollect.schemas.wire import IngestReport, Receipt, RememberReceipt, Time
from recollect.streams.adapters import (
    ByteCounter,
    ChatMessage,
    ChatPlace,
    ImportCounts,
    JsonObjects,
    Options,
    RefusedExport,
    import_source,
    reject,
)
from recollect.streams.ledger import EVENTS
from recollect.streams.projecting.projector import OnProgress
from recollect.streams.publishing.commands import command as draft_of_command
from recollect.streams.publishing.commands import publish_commands, random_id
from recollect.streams.system.paths import given_path

# The formats take a tenth of a second to load.
if TYPE_CHECKING:
    from recollect.streams.adapters import Input

#: The types in which an event may be given.
AnyEvent = Mapping[str, Any] | InboundEvent

#: The metadata key under which the service records an event's sender.
PRINCIPAL = "recollect_principal"

_POLL_SECONDS = 0.02
# The maximum number of reasons in the message if all events of an import are rejected.
_MAX_SHOWN = 5


class Show(Protocol):
    """Displays the progress of a step.

    `total`: the amount of work, None if unknown; `unit`: `records` or `bytes`.
    """

    def __call__(
        self, step: str, total: int | None = None, unit: str = "records", /
    ) -> AbstractContextManager[OnProgress]: ...


def show_nothing(
    step: str, total: int | None = None, unit: str = "records", /
) -> AbstractContextManager[OnProgress]:
    """Show no progress."""
    return nullcontext(lambda done: None)


def ingest(
    zone: OpenZone,
    events: AnyEvent | Iterable[AnyEvent],
    *,
    wait: bool = True,
    principal: Mapping[str, str] | None = None,
) -> IngestReport:
    """Append events to the ledger, and wait until they are decided.

    Raises:
        InvalidInput: `events` contains no event, or all of them are invalid.
    """
    event_import = EventImport(zone, principal)
    event_import.add(iterate_events(events))
    report = event_import.report(wait=wait)
    if report.read and report.rejected == report.read:
        raise InvalidInput(all_rejected_message(report))
    if wait and report.read > 1:
        # Imported here: it loads the agents, which a query does not need.
        from recollect.home.ticks.after_import import conclude_import

        conclude_import(zone, of_files=False)
        return msgspec.structs.replace(report, head=zone.head())
    return report


def iterate_events(events: AnyEvent | Iterable[AnyEvent]) -> Iterable[AnyEvent]:
    """Return an iterable of events; wrap a single event.

    Raises:
        InvalidInput: `events` is neither an event nor an iterable of them.
    """
    if isinstance(events, str | bytes | PathLike):
        raise InvalidInput(
            f"events is {type(events).__name__}; give dicts, use ingest_files for a file, or "
            "remember for a text"
        )
    if isinstance(events, Mapping | InboundEvent):
        return [events]
    if not isinstance(events, Iterable):
        raise InvalidInput(
            f"events is {type(events).__name__}; give a dict or an iterable of dicts"
        )
    return events


def all_rejected_message(report: IngestReport) -> str:
    """Return the message for an import whose events were all rejected."""
    which = "the event" if report.read == 1 else f"none of {report.read} events"
    verb = "cannot" if report.read == 1 else "can"
    reasons = [f"event {one.line}: {one.reason}" for one in report.rejections[:_MAX_SHOWN]]
    return "; ".join([f"{which} {verb} be stored", *reasons])


class EventImport:
    """An import whose events arrive in several parts, as over a network.

    `principal` identifies the sender; it is recorded in each event's metadata, and replaces any
    value given there.
    """

    def __init__(self, zone: OpenZone, principal: Mapping[str, str] | None = None) -> None:
        self._zone = zone
        self._principal = principal
        self._started = time.monotonic()
        self._counts = ImportCounts(rejections=[], skipped=[])
        self._duplicate_counts: Counter[str] = Counter()
        self._read = 0

    def add(self, events: Iterable[AnyEvent | bytes]) -> None:
        """Append events, each a dict or a line of JSON; on return they are durable."""
        with self._zone.open_home.call_guard():
            source = JsonObjects(self._counting(events), "events", already_read=self._read)
            import_source(
                source, self._publish, self._counts, duplicate_counts=self._duplicate_counts
            )

    def report(self, *, wait: bool = False) -> IngestReport:
        """Return the report so far; with `wait`, first wait until all events are decided."""
        with self._zone.open_home.call_guard():
            return report_of(self._zone, self._counts, self._started, wait=wait)

    def _counting(self, events: Iterable[AnyEvent | bytes]) -> Iterator[AnyEvent | bytes]:
        for event in events:
            yield event
            self._read += 1

    def _publish(self, drafts: Sequence[Draft]) -> list[Receipt]:
        if self._principal is not None:
            drafts = [_with_principal(draft, self._principal) for draft in drafts]
        return publish(self._zone, drafts)


def _with_principal(draft: Draft, principal: Mapping[str, str]) -> Draft:
    """Return the draft with this principal, and no other, in its metadata."""
    payload = draft.payload
    assert isinstance(payload, Content)
    metadata = {name: value for name, value in payload.metadata.items() if name != PRINCIPAL}
    if principal:
        metadata[PRINCIPAL] = dict(principal)
    if metadata == payload.metadata:
        return draft
    return msgspec.structs.replace(
        draft, payload=msgspec.structs.replace(payload, metadata=metadata)
    )


def ingest_files(
    zone: OpenZone,
    paths: Sequence[str | PathLike[str]],
    *,
    format: str = "auto",
    timezone: str | None = None,
    date_order: str | None = None,
    historical: bool = False,
    wait: bool = True,
    show: Show = show_nothing,
) -> IngestReport:
    """Append the events of files, folders and archives to the ledger; wait until they are decided.

    `historical`: events count as known from the time at which they occurred.

    Raises:
        InvalidInput: an input cannot be read or has an unknown format, or every input needs an
            option that is missing; nothing is imported then.
    """
    from recollect.operations.ingestion.restoring_exports import ExportPublisher
    from recollect.streams.adapters import exports_of, total_size
    from recollect.streams.adapters.exported_zone import ExportedZone

    started = time.monotonic()
    meter = ByteCounter()
    # All files are opened before any is read, so that nothing is ingested if one fails.
    options = msgspec.structs.replace(
        Options.of(timezone, date_order, historical=historical), find_places=partial(_places, zone)
    )
    inputs = open_inputs(paths, format, options, meter)
    counts = initial_counts(inputs)
    is_own = True
    refused: dict[str, RefusedExport] = {}
    with show("reading", total_size(inputs), "bytes") as meter.on_bytes_read:
        for export in exports_of(inputs):
            if isinstance(export.source, ExportedZone):
                try:
                    import_source(export.source, ExportPublisher(zone), counts)
                except RefusedExport as error:
                    refused[export.path] = error
                continue
            is_own = False
            import_source(export.source, partial(publish, zone), counts)
    _reject_refused(refused, counts)
    report = report_of(zone, counts, started, wait=wait, show=show)
    # A zone's export has the commands that followed its imports.
    if wait and not is_own:
        # Imported here: it loads the agents, which a query does not need.
        from recollect.home.ticks.after_import import conclude_import

        conclude_import(zone, of_files=True)
        return msgspec.structs.replace(report, head=zone.head())
    return report


def _reject_refused(refused: Mapping[str, RefusedExport], counts: ImportCounts) -> None:
    """Count exports that were refused when read; raise the first if nothing else was read."""
    from recollect.streams.adapters import refusal

    if not refused:
        return
    # What was read of a refused export before it was refused has no other outcome.
    counts.read = counts.new + counts.duplicate + counts.rejected
    if not counts.read:
        raise next(iter(refused.values()))
    for path, error in refused.items():
        counts.read += 1
        reject(counts, refusal(path, error))


def _places(
    zone: OpenZone, platforms: Sequence[str], messages: Sequence[ChatMessage]
) -> list[list[ChatPlace]]:
    """Return, for each message, the conversations in which the zone already has it."""
    if not zone.exists():
        return [[] for _ in messages]
    if not zone.open_home.has_follower:
        # Includes the events that this import has published so far.
        if zone.node.ledger.shared:
            zone.node.follow(zone.name)
        else:
            zone.node.project_turns(zone.name)
    with zone.files() as files, files.read_transaction():
        return [
            [
                ChatPlace(*place)
                for place in places_where_said(files.events.connection, platforms, *message)
            ]
            for message in messages
        ]


def open_inputs(
    paths: Sequence[str | PathLike[str]], format: str, options: Options, meter: ByteCounter
) -> list[Input]:
    """Open files, folders and archives, and recognise their formats.

    Of several inputs, those that are ambiguous or need an option are rejected, the others are read.

    Raises:
        InvalidInput: as `ingest_files`.
    """
    from recollect.streams.adapters import Input, open_input, refusal

    inputs: list[Input] = []
    rejected: list[RefusedExport] = []
    for path in paths:
        try:
            inputs.append(open_input(given_path("path", path), format, options, meter))
        except RefusedExport as error:
            rejected.append(error)
            inputs.append(Input(rejections=[refusal(os.fspath(path), error)]))
    if rejected and not any(one.exports for one in inputs):
        raise rejected[0]
    return inputs


def initial_counts(inputs: Sequence[Input]) -> ImportCounts:
    """Return the counts before reading: of files that were skipped or rejected when opened."""
    counts = ImportCounts(rejections=[], skipped=[])
    for one in inputs:
        counts.skipped += one.skipped
        for rejection in one.rejections:
            counts.read += 1
            reject(counts, rejection)
    return counts


def report_of(
    zone: OpenZone, counts: ImportCounts, started: float, *, wait: bool, show: Show = show_nothing
) -> IngestReport:
    """Return the report of an import so far; `wait`: decide everything first.

    `started`: when it began, in seconds of the monotonic clock.
    """
    token, head = consistency_token(zone), zone.head()
    if wait:
        pending = zone.node.ledger.head(zone.name).number - decided_up_to(zone)
        with show("deciding", pending) as advance:
            zone.decide(advance)
    return IngestReport(
        read=counts.read,
        new=counts.new,
        duplicate=counts.duplicate,
        clamped=counts.clamped,
        rejected=counts.rejected,
        rejections=counts.rejections,
        skipped=counts.skipped,
        seconds=round(time.monotonic() - started, 3),
        token=token,
        head=head,
    )


def publish(zone: OpenZone, drafts: Sequence[Draft]) -> list[Receipt]:
    """Append events to the ledger; they are searchable as raw turns immediately.

    Raises:
        InvalidInput: an event has the platform reserved for commands; none is published then.
    """
    for draft in drafts:
        check_platform(draft.platform)
    with memory_span("upsert_memory", zone.name) as span:
        receipts = _note_published(zone, zone.node.ledger.publish(zone.name, drafts))
        span.set_records(len(drafts), lambda: _span_records(drafts, receipts))
    return receipts


def _span_records(drafts: Sequence[Draft], receipts: Sequence[Receipt]) -> Iterator[SpanRecord]:
    """Yield the ids and texts of published events."""
    for draft, receipt in zip(drafts, receipts, strict=True):
        assert isinstance(draft.payload, Content)
        yield receipt.event_id, draft.payload.content, None


def remember(
    zone: OpenZone,
    content: str,
    *,
    sender_id: str = "user",
    at: Time | None = None,
    principal: Mapping[str, str] | None = None,
    replaces: str | None = None,
    memory_type: str = "fact",
) -> RememberReceipt:
    """Store a text verbatim as an event.

    `principal` identifies the author. `replaces`: the id of the fact or event that the text
    replaces. `memory_type`: "directive" if the text is a standing instruction.

    Raises:
        InvalidInput: the text or the sender is invalid.
    """
    draft = remember_draft(
        content,
        sender_id=sender_id,
        at=at,
        principal=principal,
        attributes={"replaces": replaces, "memory_type": memory_type},
    )
    receipt = _publish_command(zone, draft)
    return _remember_receipt(receipt, consistency_token(zone), decided=True)


def remember_all(zone: OpenZone, drafts: Sequence[Draft]) -> list[RememberReceipt]:
    """Store texts as events, in one step."""
    receipts = publish_and_decide(zone, drafts)
    token = consistency_token(zone)
    return [_remember_receipt(each, token, decided=True) for each in receipts]


def remember_draft(
    content: str,
    *,
    sender_id: str = "user",
    at: Time | None = None,
    principal: Mapping[str, str] | None = None,
    attributes: Mapping[str, Any],
    source_id: str | None = None,
    peer_id: str | None = None,
) -> Draft:
    """Return the event of a text to be remembered; `attributes` are fields of `Remember`.

    `source_id`: None if it follows from the text, its sender and its time. Without a time, it is
    random: commands name a memory by its id, which must not tell its text once it is forgotten.
    `peer_id`: the conversation of a private memory.

    Raises:
        InvalidInput: the text or the sender is invalid.
    """
    draft = internal_draft_of(
        InboundEvent(
            platform=RESERVED_PLATFORM,
            sender_id=sender_id,
            occurred_at=unix_ms() if at is None else _checked_time(at),
            content=content,
            kind="remember",
            id=random_id("memory") if at is None else source_id,
            peer_id=peer_id,
        )
    )
    draft = msgspec.structs.replace(
        draft, payload=msgspec.structs.replace(draft.payload, **attributes)
    )
    return draft if principal is None else _with_principal(draft, principal)


def _checked_time(at: Time) -> str | int:
    """Return a given time with its UTC offset, which decides what "today" in the text means."""
    parse_time(at, "at")
    return at if isinstance(at, str | int) else at.isoformat()


def command(zone: OpenZone, payload: AnyPayload, at: int | None = None) -> Receipt:
    """Append a command to the ledger and decide it.

    Raises:
        CommandConflict: the ledger has a different event with its id.
    """
    return _publish_command(zone, draft_of_command(payload, unix_ms() if at is None else at))


def _publish_command(zone: OpenZone, draft: Draft) -> Receipt:
    (receipt,) = publish_and_decide(zone, [draft])
    return receipt


def publish_and_decide(zone: OpenZone, drafts: Sequence[Draft]) -> list[Receipt]:
    """Append commands to the ledger, with who gives them, and decide them.

    Raises:
        CommandConflict: the ledger has a different event with the id of one.
    """
    drafts = [_given_by(draft, zone.given_by) for draft in drafts]
    receipts = _note_published(zone, publish_commands(zone.node.ledger, zone.name, drafts))
    zone.decide()
    return receipts


def _given_by(draft: Draft, giver: str) -> Draft:
    if not isinstance(draft.payload, Command):
        return draft
    payload = msgspec.structs.replace(draft.payload, given_by=giver)
    return msgspec.structs.replace(draft, payload=payload)


def _note_published(zone: OpenZone, receipts: list[Receipt]) -> list[Receipt]:
    zone.note_published(max((receipt.number for receipt in receipts), default=0))
    call = _call.get()
    if call is not None and receipts:
        call.undecided = _remember_receipt(receipts[-1], consistency_token(zone), decided=False)
    return receipts


def _remember_receipt(receipt: Receipt, token: str, *, decided: bool) -> RememberReceipt:
    fields = msgspec.structs.asdict(receipt)
    return RememberReceipt(**fields, token=token, decided=decided)


class PublishingCall:
    """A call that publishes events and then decides them.

    `undecided`: the receipt of the latest event, until that is decided.
    """

    def __init__(self) -> None:
        self.undecided: RememberReceipt | None = None

    def raise_if_stored(self) -> None:
        """Raise StoredButUndecided if the call, which has timed out, has published something."""
        if self.undecided is not None:
            raise StoredButUndecided(self.undecided)


class StoredButUndecided(DecisionTimeout):
    """A call timed out after its events were durable and before they were decided."""

    def __init__(self, receipt: RememberReceipt) -> None:
        super().__init__(
            f"it is stored as record {receipt.number}, but not processed yet: do not send it "
            f"again; wait for consistency token {receipt.token}"
        )
        self.receipt = receipt


_call: ContextVar[PublishingCall | None] = ContextVar("publishing_call", default=None)


@contextmanager
def track_published_events() -> Iterator[PublishingCall]:
    """Yield a `PublishingCall` that tracks what this context and its threads publish."""
    call = PublishingCall()
    reset = _call.set(call)
    try:
        yield call
    finally:
        _call.reset(reset)


def consistency_token(zone: OpenZone) -> str:
    """Return a consistency token for everything published so far through this open home."""
    return str(
        LedgerPosition(zone.partition, zone.node.ledger.end(EVENTS, zone.partition), zone.published)
    )


def wait_for(zone: OpenZone, token: str, timeout: float) -> None:
    """Wait until everything up to a consistency token is decided and can be recalled here.

    Raises:
        InvalidInput: `token` is not a token of this zone.
        DecisionTimeout: `timeout` seconds have passed.
        AlreadyClosed: the home is being closed.
    """
    target = LedgerPosition.parse(token)
    if target.partition != zone.partition:
        raise InvalidInput(f"{token!r} is not a token of zone {zone.name}")
    deadline = time.monotonic() + timeout
    while (number := _decide_up_to(zone)) < target.number:
        if zone.open_home.closing:
            raise AlreadyClosed(
                f"zone {zone.name} is being closed; open Recollect again, and wait again"
            )
        if time.monotonic() > deadline:
            raise DecisionTimeout(
                f"after {timeout:g} s, zone {zone.name} has been processed only up to record "
                f"{number}, and the token needs record {target.number}; wait again, or check that "
                "a worker runs"
            )
        time.sleep(_POLL_SECONDS)


def decided_up_to(zone: OpenZone) -> int:
    """Return the number of the zone's last decided record; 0 if it has no files."""
    if not zone.node.zone(zone.name).exists():
        return 0
    with zone.files() as files:
        return files.memory.watermark().number


def unknown_or_undecided(
    zone: OpenZone, unknown: UnknownId, event_id: str | None = None
) -> UnknownId | DecisionTimeout:
    """Return the error for an id that no decided record has; a pending one may have it.

    `event_id`: the id of an event that the error is about; if it is decided, or not in the zone,
    no pending record can have the id.
    """
    if not zone.node.zone(zone.name).exists():
        return unknown
    with zone.files() as files:
        decided = files.memory.watermark().number
        known = max(files.events.watermark().number, zone.published)
        if event_id is not None:
            event = event_by_id(files.events.connection, event_id)
            known = 0 if event is None else event.number
    if decided >= known:
        return unknown
    return DecisionTimeout(
        f"{unknown}; {known - decided} records are not processed yet, so ask again, and see "
        "status and dead_letters"
    )


def _decide_up_to(zone: OpenZone) -> int:
    """Decide pending records, unless another process does; return the last decided one."""
    if not zone.open_home.has_follower and zone.node.writes:
        zone.decide()
    return decided_up_to(zone)
