"""The sequencer: decides for each draft whether it is new, a duplicate or a conflict.

It alone numbers, chains and seals events. It has no state of its own: the ledger gives it the
zone's head and looks up known events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from recollect.schemas.errors import NewerFormat
from recollect.schemas.events import Content, Draft, Event
from recollect.schemas.ids import event_id
from recollect.schemas.ledger.records import read_event, record_hash, unseal_event, write_event
from recollect.schemas.ledger.seal import event_key, source_digest
from recollect.schemas.wire import Receipt
from recollect.streams.ledger.ledger import Head, KeyStore


class Sequenced(msgspec.Struct, frozen=True):
    """A new event's record, with the key that must be durable before it."""

    number: int
    source: bytes
    key_id: bytes
    key: bytes
    value: bytes


class KnownEvent(msgspec.Struct, frozen=True):
    """The event that a ledger has under a source id.

    `event` is None if it was erased, and if it is `unknown`: only a newer program can read it.
    """

    number: int
    event: Event | None
    unknown: bool = False


def known_event(value: bytes, keys: KeyStore) -> KnownEvent:
    """Return the event of an accepted record."""
    envelope, record = read_event(value)
    key = keys.get([envelope.key_id]).get(envelope.key_id)
    if key is None:
        return KnownEvent(envelope.number, None)
    try:
        return KnownEvent(envelope.number, unseal_event(envelope, record, key))
    except (KeyError, NewerFormat):
        return KnownEvent(envelope.number, None, unknown=True)


# Fields that deduplication ignores: the sender's display name, the exporter's metadata, and the
# time zone in which an instant is written.
_NON_IDENTITY_FIELDS: dict[str, object] = {"sender_name": None, "metadata": {}, "utc_offset": 0}


def sequence(
    zone: str,
    drafts: Sequence[Draft],
    head: Head,
    *,
    secret: bytes,
    now: int,
    find_known: Callable[[bytes], KnownEvent | None],
) -> tuple[list[Receipt], list[Sequenced], Head]:
    """Return receipts for all drafts, the records to append, and the zone's head after them.

    `find_known` looks up an event by the keyed hash of its source id. `now` (unix ms) is the
    ingested_at of drafts that give none, and the latest that any may have: a later one would
    postpone when all following events count as known.
    """
    receipts: list[Receipt] = []
    records: list[Sequenced] = []
    within: dict[bytes, tuple[int, Draft]] = {}
    number, previous = head.number, head.hash
    for draft in drafts:
        source = source_digest(secret, zone, draft.platform, draft.payload.source_id)
        identity = event_id(zone, draft.platform, draft.payload.source_id, draft.occurred_at)
        known = within.get(source)
        if known is not None:
            same = _same(draft, known[1].payload, known[1].occurred_at)
            receipts.append(Receipt("duplicate" if same else "conflict", known[0], identity))
            continue
        if (there := find_known(source)) is not None:
            if there.event is None:
                same = not there.unknown
            else:
                same = _same(draft, there.event.payload, there.event.occurred_at)
            receipts.append(Receipt("duplicate" if same else "conflict", there.number, identity))
            continue
        number += 1
        given = now if draft.ingested_at is None else draft.ingested_at
        key_id, key = event_key(secret, zone, source)
        value = write_event(
            draft,
            zone=zone,
            number=number,
            previous=previous,
            ingested_at=min(given, now),
            source=source,
            key_id=key_id,
            key=key,
        )
        previous = record_hash(value)
        within[source] = (number, draft)
        records.append(Sequenced(number, source, key_id, key, value))
        receipts.append(Receipt("new", number, identity, clamped=given > now))
    return receipts, records, Head(number, previous)


def _same(draft: Draft, payload: object, occurred_at: int) -> bool:
    return draft.occurred_at == occurred_at and _comparable(draft.payload) == _comparable(payload)


def _comparable(payload: object) -> object:
    if isinstance(payload, Content):
        return msgspec.structs.replace(payload, **_NON_IDENTITY_FIELDS)
    return payload
