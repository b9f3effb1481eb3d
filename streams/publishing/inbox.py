"""The inbox: what any Kafka client publishes, one JSON event a record, with the zone as its key.

The owner of a partition reads it in order, publishes what it holds to the ledger, and deletes it.
A record that was taken in before is a duplicate, so reading again from the first record that is
left loses and doubles nothing.
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
from recollect.streams.reading.lookup import record_of

_log = logging.getLogger(__name__)

#: The zone in which records are parked that name none.
UNADDRESSED = "unaddressed"
# A reason quotes what was sent.
_MAX_REASON_LENGTH = 1_000


class Posted(NamedTuple):
    """A record of the inbox; `timestamp` is in unix ms."""

    key: bytes | None
    value: bytes | None
    timestamp: int


def take_in(ledger: Ledger, records: Sequence[Posted]) -> set[str]:
    """Publish records, in order within each zone; return the zones that have something new.

    A record that cannot be understood, or that has other content than the event with its id, is
    parked with the reason. All of it is durable when this returns.

    Raises:
        NewerFormat: a zone holds events that only a newer program reads; the other zones have
            what is theirs.
    """
    by_zone: dict[str, list[tuple[Posted, Draft]]] = {}
    for record in records:
        zone, draft = _addressed(record)
        by_zone.setdefault(zone, []).append((record, draft))
    try:
        receipts = ledger.publish_all(
            {zone: [draft for _, draft in posted] for zone, posted in by_zone.items()}
        )
    except NewerFormat:
        if len(by_zone) == 1:
            raise
        return _take_in_each(ledger, [[each for each, _ in some] for some in by_zone.values()])
    for zone, found in receipts.items():
        if clamped := sum(receipt.clamped for receipt in found):
            _log.warning(
                "zone %s: %d events gave an ingested_at in the future; the time of the ledger was "
                "taken instead",
                *(zone, clamped),
            )
    parks = {
        zone: [
            draft if isinstance(draft.payload, Park) else _park(record, _conflict(draft))
            for (record, draft), receipt in zip(posted, receipts[zone], strict=True)
            if receipt.status == "conflict"
        ]
        for zone, posted in by_zone.items()
    }
    parked = _publish_parks(ledger, {zone: some for zone, some in parks.items() if some})
    return {
        zone
        for zone, found in receipts.items()
        if any(receipt.status == "new" for receipt in found + parked.get(zone, []))
    }


def park_lost(ledger: Ledger, partition: int, offsets: range, at: int) -> str:
    """Park, once, a note that records were deleted before they were taken in; return it.

    `at` is when that was found (unix ms).
    """
    reason = (
        f"inbox/{partition} begins at offset {offsets.stop}, and what is in the ledger ends at "
        f"{offsets.start}: {len(offsets)} records were deleted before they were taken in, by hand "
        "or by settings that are not recollect's; have them published again"
    )
    source_id = f"lost:inbox/{partition}:{offsets.start}-{offsets.stop}"
    parked = Park(source_id=source_id, reason=reason, body=b"")
    # Another process may have noted it already.
    ledger.publish(UNADDRESSED, [command(parked, at)])
    return reason


def _publish_parks(
    ledger: Ledger, parks: Mapping[str, Sequence[Draft]]
) -> dict[str, list[Receipt]]:
    """Publish what is parked; what was parked before, at another time, is there already.

    Under an older build anybody could take the id of a park; then another id is used.
    """
    receipts = ledger.publish_all(parks)
    taken: dict[str, list[Draft]] = {}
    for zone, drafts in parks.items():
        for draft, receipt in zip(drafts, receipts[zone], strict=True):
            if receipt.status != "conflict":
                continue
            source_id = draft.payload.source_id
            there = record_of(ledger, zone, draft.platform, source_id)
            if there is not None and there.envelope.kind != "park":
                # Derived from the number of what holds the id, so it is parked only once.
                payload = msgspec.structs.replace(
                    draft.payload, source_id=f"{source_id}:{receipt.number}"
                )
                again = msgspec.structs.replace(draft, payload=payload)
                taken.setdefault(zone, []).append(again)
    if taken:
        for zone, found in _publish_parks(ledger, taken).items():
            receipts[zone] += found
    return receipts


def _conflict(draft: Draft) -> str:
    return (
        f"conflict: id {draft.payload.source_id!r} of platform {draft.platform!r} is in the ledger "
        "with other content; that stays"
    )


def _take_in_each(ledger: Ledger, zones: Sequence[Sequence[Posted]]) -> set[str]:
    """Publish zone after zone; errors are raised after the last one."""
    new: set[str] = set()
    failed: NewerFormat | None = None
    for records in zones:
        try:
            new |= take_in(ledger, records)
        except NewerFormat as error:
            failed = error
    if failed is not None:
        raise failed
    return new


def _addressed(record: Posted) -> tuple[str, Draft]:
    """Return the zone and the draft of a record; a `park` where it cannot be understood."""
    zone = UNADDRESSED
    try:
        zone = check_zone((record.key or b"").decode())
        return zone, draft_of(decode_inbound(record.value or b""))
    except (InvalidInput, UnicodeDecodeError) as error:
        reason = str(error) if isinstance(error, InvalidInput) else "the key, a zone, is not UTF-8"
        return zone, _park(record, reason)


def _park(record: Posted, reason: str) -> Draft:
    # Derived from the bytes, so it is parked only once.
    digest = hashlib.sha256()
    for part in (record.key or b"", record.value or b""):
        digest.update(len(part).to_bytes(8, "big") + part)
    park = Park(
        source_id=f"park:{digest.hexdigest()}",
        # A compressed record may be of any size; a record of the ledger may not.
        reason=reason[:_MAX_REASON_LENGTH],
        body=(record.value or b"")[:MAX_RECORD_BYTES],
    )
    return command(park, record.timestamp)
