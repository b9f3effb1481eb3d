"""Find records of a zone in its ledger: by source id, by number, or by kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from recollect.schemas.errors import NewerFormat
from recollect.schemas.events import Event
from recollect.schemas.ledger.records import Envelope, EventRecord, read_event, unseal_event
from recollect.schemas.ledger.seal import source_digest
from recollect.streams.ledger import KeyStore, Ledger
from recollect.streams.records.chain_readers import sealed_events


class SealedRecord(NamedTuple):
    """An accepted event, still sealed."""

    envelope: Envelope
    sealed: EventRecord

    def readable(self, keys: KeyStore) -> bool:
        """Return whether its key exists, that is, whether it was not erased."""
        return bool(keys.get([self.envelope.key_id]))

    def open(self, keys: KeyStore) -> Event | None:
        """Return the event, or None if it was erased or its kind is unknown to this version."""
        key = keys.get([self.envelope.key_id]).get(self.envelope.key_id)
        if key is None:
            return None
        try:
            return unseal_event(self.envelope, self.sealed, key)
        except (KeyError, NewerFormat):
            return None


def record_of(ledger: Ledger, zone: str, platform: str, source_id: str) -> SealedRecord | None:
    """Return the record with a source id, even if it was erased; None if there is none."""
    value = ledger.event_of_source(
        zone, source_digest(ledger.keys.secret, zone, platform, source_id)
    )
    return None if value is None else SealedRecord(*read_event(value))


def records_at(ledger: Ledger, zone: str, numbers: Iterable[int]) -> dict[int, SealedRecord]:
    """Return the records with these event numbers; missing ones are left out."""
    return {
        record.envelope.number: SealedRecord(record.envelope, record.record)
        for record in sealed_events(ledger, zone, numbers)
    }


def records_of_kind(ledger: Ledger, zone: str, kind: str) -> list[SealedRecord]:
    """Return the accepted events of a kind, in order."""
    return [
        SealedRecord(*read_event(record.value)) for record in ledger.events_of_kind(zone, kind, 0)
    ]
