"""The inbox: events that any Kafka client publishes, one JSON event per record, keyed by zone.

The owner of a partition reads it in order, publishes its records to the ledger, and deletes them. A
record that was ingested before is dropped as a duplicate, so rereading from the first remaining
record neither loses nor duplicates anything.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from recollect.schemas.errors import InvalidInput, NewerFormat
from recollect.schemas.events import Draft, Park
from recollect.schemas.inbound import MAX_RECORD_BYTES, decode_inbound, draft_of
from recollect.schemas.wire import Receipt
from recollect.schemas.zones import check_zone
from recollect.streams.ledger import Ledger
from recollect.streams.publishing.commands import command
from recollect.streams.records.lookup import record_of

_log = logging.getLogger(__name__)

#: The zone in which records without a zone are parked.
UNADDRESSED_ZONE = "unaddressed"
# Characters; a reason may quote the record.
_MAX_REASON_LENGTH = 1_000


class InboxRecord(NamedTuple):
    """A record of the inbox; `timestamp` is in unix ms."""

    key: bytes | None
    value: bytes | None
    timestamp: int


def ingest_records(ledger: Ledger, records: Sequence[InboxRecord]) -> set[str]:
    """Publish records, in order within each zone; return the zones with new events.

    A record that cannot be decoded, or whose id belongs to an event with other content, is parked
    with the reason. Everything is durable on return.

    Raises:
        NewerFormat: a zone holds events that only a newer version can read; the records of other
            zones are published.
    """
    by_zone: dict[str, list[tuple[InboxRecord, Draft]]] = {}
    for record in records:
        zone, draft = _parse_record(record)
        by_zone.setdefault(zone, []).append((record, draft))
    try:
        receipts = ledger.publish_all(
            {zone: [draft for _, draft in zone_records] for zone, zone_records in by_zone.items()}
        )
    except NewerFormat:
        if len(by_zone) == 1:
            raise
        return _ingest_each_zone(
            ledger,
            [[record for record, _ in zone_records] for zone_records in by_zone.values()],
        )
    for zone, zone_receipts in receipts.items():
        if clamped := sum(receipt.clamped for receipt in zone_receipts):
            _log.warning(
                "zone %s: %d events had an ingested_at in the future; the ledger's time is used "
                "instead",
                *(zone, clamped),
            )
    parks = {
        zone: [
            draft if isinstance(draft.payload, Park) else _park(record, _conflict(draft))
            for (record, draft), receipt in zip(zone_records, receipts[zone], strict=True)
            if receipt.status == "conflict"
        ]
        for zone, zone_records in by_zone.items()
    }
    parked = _publish_parks(ledger, {zone: drafts for zone, drafts in parks.items() if drafts})
    return {
        zone
        for zone, zone_receipts in receipts.items()
        if any(receipt.status == "new" for receipt in zone_receipts + parked.get(zone, []))
    }


def park_gap(ledger: Ledger, partition: int, offsets: range, at: int) -> str:
    """Park, once, a notice that records were deleted before they were ingested; return its text.

    `at` is when the gap was found (unix ms).
    """
    reason = (
        f"inbox/{partition} begins at offset {offsets.stop}, but only records before offset "
        f"{offsets.start} were ingested: {len(offsets)} records were deleted before that, by hand "
        "or by changed topic settings; publish them again"
    )
    source_id = f"lost:inbox/{partition}:{offsets.start}-{offsets.stop}"
    parked = Park(source_id=source_id, reason=reason, body=b"")
    # A duplicate if another process has parked it already.
    ledger.publish(UNADDRESSED_ZONE, [command(parked, at)])
    return reason


def _publish_parks(
    ledger: Ledger, parks: Mapping[str, Sequence[Draft]]
) -> dict[str, list[Receipt]]:
    """Publish `park` events; a record that was parked before is not parked again.

    Older versions did not reserve the ids of these events. If another event already has the id, a
    derived id is used.
    """
    receipts = ledger.publish_all(parks)
    retries: dict[str, list[Draft]] = {}
    for zone, drafts in parks.items():
        for draft, receipt in zip(drafts, receipts[zone], strict=True):
            if receipt.status != "conflict":
                continue
            source_id = draft.payload.source_id
            existing = record_of(ledger, zone, draft.platform, source_id)
            if existing is not None and existing.envelope.kind != "park":
                # Derived from the number of that event, so that the record is parked only once.
                payload = msgspec.structs.replace(
                    draft.payload, source_id=f"{source_id}:{receipt.number}"
                )
                retry = msgspec.structs.replace(draft, payload=payload)
                retries.setdefault(zone, []).append(retry)
    if retries:
        for zone, zone_receipts in _publish_parks(ledger, retries).items():
            receipts[zone] += zone_receipts
    return receipts


def _conflict(draft: Draft) -> str:
    return (
        f"conflict: id {draft.payload.source_id!r} of platform {draft.platform!r} is already "
        "in the ledger with different content, which is kept"
    )


def _ingest_each_zone(ledger: Ledger, zones: Sequence[Sequence[InboxRecord]]) -> set[str]:
    """Ingest the records of each zone, and return what `ingest_records` does.

    If a zone fails, the others are still ingested, and the last error is raised at the end.
    """
    new: set[str] = set()
    failed: NewerFormat | None = None
    for records in zones:
        try:
            new |= ingest_records(ledger, records)
        except NewerFormat as error:
            failed = error
    if failed is not None:
        raise failed
    return new


def _parse_record(record: InboxRecord) -> tuple[str, Draft]:
    """Return the zone and the draft of a record; a `park` if it cannot be decoded."""
    zone = UNADDRESSED_ZONE
    try:
        zone = check_zone((record.key or b"").decode())
        return zone, draft_of(decode_inbound(record.value or b""))
    except (InvalidInput, UnicodeDecodeError) as error:
        reason = (
            str(error)
            if isinstance(error, InvalidInput)
            else "the key, which names the zone, is not UTF-8"
        )
        return zone, _park(record, reason)


def _park(record: InboxRecord, reason: str) -> Draft:
    # The id is derived from the bytes, so that the record is parked only once.
    digest = hashlib.sha256()
    for part in (record.key or b"", record.value or b""):
        digest.update(len(part).to_bytes(8, "big") + part)
    park = Park(
        source_id=f"park:{digest.hexdigest()}",
        # A compressed inbox record may be of any size; a record of the ledger may not.
        reason=reason[:_MAX_REASON_LENGTH],
        body=(record.value or b"")[:MAX_RECORD_BYTES],
    )
    return command(park, record.timestamp)
