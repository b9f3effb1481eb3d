"""Writing to a zone: events, files of events, texts to remember; and waiting until they are
decided.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from recollect.home.consistency_token import LedgerPosition
from recollect.home.memory_spans import SpanRecord, memory_span
from recollect.home.open_zone import OpenZone, unix_ms
from recollect.projections.events.event_queries import places_where_said
from recollect.schemas.errors import AlreadyClosed, DecisionTimeout, InvalidInput
from recollect.schemas.events import RESERVED_PLATFORM, AnyPayload, Content, Draft
from recollect.schemas.inbound import InboundEvent, check_platform, internal_draft_of
from recollect.schemas.times import parse_time
from recollect.schemas.wire import IngestReport, Receipt, Time
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
from recollect.streams.publishing.commands import publish_commands

# The formats take a tenth of a second to load.
if TYPE_CHECKING:
    from recollect.streams.adapters import Input

#: The types in which an event may be given.
AnyEvent = Mapping[str, Any] | InboundEvent

#: The key of an event's metadata under which the service says who sent it.
PRINCIPAL = "recollect_principal"

_WAIT_SECONDS = 0.02
# Events of which it is told why they are refused, where all are.
_MAX_SHOWN = 5


class Show(Protocol):
    """Shows how far a step is, of `total` where that is known; `unit` is `records` or `bytes`."""

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
    """Put events into the ledger, and wait until they are recallable; `principal` says who sends.

    Raises:
        InvalidInput: what is given holds no events, or none of them can be kept.
    """
    begun = EventImport(zone, principal)
    begun.add(several(events))
    report = begun.report(wait=wait)
    if report.read and report.rejected == report.read:
        raise InvalidInput(none_kept(report))
    return report


def several(events: AnyEvent | Iterable[AnyEvent]) -> Iterable[AnyEvent]:
    """Return events as what yields them.

    Raises:
        InvalidInput: they are none.
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
            f"events is {type(events).__name__}; give a dict, or something that yields dicts"
        )
    return events


def none_kept(report: IngestReport) -> str:
    """Return what to say of an import of which every event was refused."""
    which = "the event" if report.read == 1 else f"none of {report.read} events"
    verb = "cannot" if report.read == 1 else "can"
    told = [f"event {one.line}: {one.reason}" for one in report.rejections[:_MAX_SHOWN]]
    return "; ".join([f"{which} {verb} be kept", *told])


class EventImport:
    """An import whose events come in parts, of any number, as over a network.

    `principal` says who sends them; each event is marked with it, whatever it says itself.
    """

    def __init__(self, zone: OpenZone, principal: Mapping[str, str] | None = None) -> None:
        self._zone = zone
        self._principal = principal
        self._started = time.monotonic()
        self._counts = ImportCounts(rejections=[], skipped=[])
        self._same: Counter[str] = Counter()
        self._before = 0

    def add(self, events: Iterable[AnyEvent | bytes]) -> None:
        """Put some events into the ledger, each a dict or a line of JSON; they are durable then."""
        with self._zone.open_home.call_guard():
            source = JsonObjects(self._counted(events), "events", already_read=self._before)
            import_source(source, self._publish, self._counts, duplicate_counts=self._same)

    def report(self, *, wait: bool = False) -> IngestReport:
        """Return what became of them so far; `wait`: when they are recallable."""
        with self._zone.open_home.call_guard():
            return report_of(self._zone, self._counts, self._started, wait=wait)

    def _counted(self, events: Iterable[AnyEvent | bytes]) -> Iterator[AnyEvent | bytes]:
        for event in events:
            yield event
            self._before += 1

    def _publish(self, drafts: Sequence[Draft]) -> list[Receipt]:
        if self._principal is not None:
            drafts = [_marked(draft, self._principal) for draft in drafts]
        return publish(self._zone, drafts)


def _marked(draft: Draft, principal: Mapping[str, str]) -> Draft:
    """Return a draft that says who sent it; what it says of that itself does not count."""
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
    wait: bool = True,
    show: Show = show_nothing,
) -> IngestReport:
    """Put the events of files, folders and archives into the ledger; wait until they count.

    Raises:
        InvalidInput: an input cannot be read or is in no format that is known, or none can be read
            without an option that is missing; then nothing is.
    """
    from recollect.streams.adapters import exports_of, total_size

    started = time.monotonic()
    meter = ByteCounter()
    # All files are opened before any is read: if one fails, nothing is ingested.
    options = msgspec.structs.replace(
        Options.of(timezone, date_order), find_places=partial(_places, zone)
    )
    inputs = open_inputs(paths, format, options, meter)
    counts = begun(inputs)
    with show("reading", total_size(inputs), "bytes") as meter.on_bytes_read:
        for export in exports_of(inputs):
            import_source(export.source, partial(publish, zone), counts)
    report = report_of(zone, counts, started, wait=wait, show=show)
    if wait:
        # It loads what decides, which a question does without.
        from recollect.home.abandoned_turns import end_abandoned_turns

        end_abandoned_turns(zone)
    return report


def _places(
    zone: OpenZone, platforms: Sequence[str], messages: Sequence[ChatMessage]
) -> list[list[ChatPlace]]:
    """Return for each message the places where the zone has it already."""
    if not zone.exists():
        return [[] for _ in messages]
    if not zone.open_home.has_follower:
        # Also what this import brought so far.
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
    """Return what files, folders and archives hold; of several, one that is ambiguous or lacks an
    option is refused by name, and the others are read.

    Raises:
        InvalidInput: as `ingest_files`.
    """
    from recollect.streams.adapters import Input, open_input, refusal

    inputs: list[Input] = []
    refused: list[RefusedExport] = []
    for path in paths:
        try:
            inputs.append(open_input(Path(path).expanduser(), format, options, meter))
        except RefusedExport as error:
            refused.append(error)
            inputs.append(Input(rejections=[refusal(os.fspath(path), error)]))
    if refused and not any(one.exports for one in inputs):
        raise refused[0]
    return inputs


def begun(inputs: Sequence[Input]) -> ImportCounts:
    """Return the counts of an import of which nothing was read yet: what was passed over or refused
    as it was opened."""
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
    """Return what became of an import so far; `wait`: when what is published is recallable.

    `started`: when it began, by the monotonic clock.
    """
    token_, head = token(zone), zone.head()
    if wait:
        waiting = zone.node.ledger.head(zone.name).number - decided(zone)
        with show("deciding", waiting) as advance:
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
        token=token_,
        head=head,
    )


def publish(zone: OpenZone, drafts: Sequence[Draft]) -> list[Receipt]:
    """Put events into the ledger; they are searchable at once as raw turns.

    Raises:
        InvalidInput: one has the platform of commands; then none is published.
    """
    for draft in drafts:
        check_platform(draft.platform)
    with memory_span("upsert_memory", zone.name) as span:
        receipts = _noted(zone, zone.node.ledger.publish(zone.name, drafts))
        span.set_records(len(drafts), lambda: _shown(drafts, receipts))
    return receipts


def _shown(drafts: Sequence[Draft], receipts: Sequence[Receipt]) -> Iterator[SpanRecord]:
    """Yield what a span may show of events."""
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
) -> Receipt:
    """Remember a text as it is.

    `principal` says on whose behalf; `replaces` is the id of the fact or event that it replaces.

    Raises:
        InvalidInput: it cannot be stored, as in an import.
    """
    if not isinstance(content, str):
        raise InvalidInput(f"content is {type(content).__name__}; give a text")
    draft = internal_draft_of(
        InboundEvent(
            platform=RESERVED_PLATFORM,
            sender_id=sender_id,
            occurred_at=unix_ms() if at is None else _checked_time(at),
            content=content,
            kind="remember",
        )
    )
    if replaces is not None:
        payload = msgspec.structs.replace(draft.payload, replaces=replaces)
        draft = msgspec.structs.replace(draft, payload=payload)
    return _publish_command(zone, draft if principal is None else _marked(draft, principal))


def _checked_time(at: Time) -> str | int:
    """Return a time that was given, with its offset, on which the days of its words depend."""
    parse_time(at, "at")
    return at if isinstance(at, str | int) else at.isoformat()


def command(zone: OpenZone, payload: AnyPayload, at: int | None = None) -> Receipt:
    """Put a command into the ledger and decide it.

    Raises:
        CommandConflict: the ledger has another event under its id.
    """
    return _publish_command(zone, draft_of_command(payload, unix_ms() if at is None else at))


def _publish_command(zone: OpenZone, draft: Draft) -> Receipt:
    (receipt,) = _noted(zone, publish_commands(zone.node.ledger, zone.name, [draft]))
    zone.decide()
    return receipt


def _noted(zone: OpenZone, receipts: list[Receipt]) -> list[Receipt]:
    zone.note_published(max((receipt.number for receipt in receipts), default=0))
    return receipts


def token(zone: OpenZone) -> str:
    """Return a token for everything that was published here; `wait_for` takes it, also
    elsewhere.
    """
    return str(
        LedgerPosition(zone.partition, zone.node.ledger.end(EVENTS, zone.partition), zone.published)
    )


def wait_for(zone: OpenZone, token: str, timeout: float) -> None:
    """Wait until everything up to a token is decided, and can be recalled here.

    Raises:
        InvalidInput: it is no token of this zone.
        DecisionTimeout: it was not within `timeout` seconds.
        AlreadyClosed: the home is being closed.
    """
    wanted = LedgerPosition.parse(token)
    if wanted.partition != zone.partition:
        raise InvalidInput(f"token {token!r} is not of zone {zone.name}")
    deadline = time.monotonic() + timeout
    while (number := _brought_up(zone)) < wanted.number:
        if zone.open_home.closing:
            raise AlreadyClosed(
                f"zone {zone.name} is being closed; open Recollect again, and ask again"
            )
        if time.monotonic() > deadline:
            raise DecisionTimeout(
                f"zone {zone.name} is at record {number} after {timeout:g} s, and the token "
                f"stands for {wanted.number}; ask again, or see that a worker runs"
            )
        time.sleep(_WAIT_SECONDS)


def decided(zone: OpenZone) -> int:
    """Return the last record that the zone's files hold; 0 where there are none."""
    if not zone.node.zone(zone.name).exists():
        return 0
    with zone.files() as files:
        return files.memory.watermark().number


def _brought_up(zone: OpenZone) -> int:
    """Return the last record of the files, after updating them if no other process does."""
    if not zone.open_home.has_follower and zone.node.writes:
        zone.decide()
    return decided(zone)
