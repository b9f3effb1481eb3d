"""Finding records of a zone in its ledger: by the source's id, by number, or in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from recollect.schemas.errors import NewerFormat
from recollect.schemas.events import Event
from recollect.schemas.ledger.records import Envelope, EventRecord, read_event, unseal_event
from recollect.schemas.ledger.seal import source_digest
from recollect.streams.ledger import KeyStore, Ledger
from recollect.streams.reading.readers import Envelopes, sealed_events

_BATCH = 2_000


class Found(NamedTuple):
    """An accepted event as the ledger has it."""

    envelope: Envelope
    sealed: EventRecord

    def readable(self, keys: KeyStore) -> bool:
        """Return whether its key is there, so it was not erased."""
        return bool(keys.get([self.envelope.key_id]))

    def open(self, keys: KeyStore) -> Event | None:
        """Return what it says; None where it was erased, or is of a kind that is unknown here."""
        key = keys.get([self.envelope.key_id]).get(self.envelope.key_id)
        if key is None:
            return None
        try:
            return unseal_event(self.envelope, self.sealed, key)
        except (KeyError, NewerFormat):
            return None


def record_of(ledger: Ledger, zone: str, platform: str, source_id: str) -> Found | None:
    """Return the record that is known by a source's own id, also where it was erased."""
    value = ledger.event_of_source(
        zone, source_digest(ledger.keys.secret, zone, platform, source_id)
    )
    return None if value is None else Found(*read_event(value))


def records_at(ledger: Ledger, zone: str, numbers: Iterable[int]) -> dict[int, Found]:
    """Return the records with these running numbers; a number that is not there is absent."""
    return {
        record.envelope.number: Found(record.envelope, record.record)
        for record in sealed_events(ledger, zone, numbers)
    }


def records_of_kind(ledger: Ledger, zone: str, kind: str) -> list[Found]:
    """Return the accepted events of a kind, in order."""
    return [Found(*read_event(record.value)) for record in ledger.events_of_kind(zone, kind, 0)]


def all_records(ledger: Ledger, zone: str) -> Iterator[Found]:
    """Yield the accepted events of a zone in order, still sealed."""
    reader = Envelopes(ledger, zone)
    while walked := reader.walk(_BATCH):
        yield from (Found(record.envelope, record.record) for record in walked)
