"""The timeline of a zone: when each record became known, and what was erased since."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import NamedTuple

from recollect.schemas.errors import IntegrityError, NewerFormat
from recollect.schemas.events import Forget
from recollect.schemas.ledger.records import GENESIS, read_event, record_hash, unseal_event
from recollect.streams.ledger import EVENTS, Ledger, partition_of
from recollect.streams.records.chain_readers import with_location
from recollect.streams.records.skipped_records import is_skipped

_BATCH_SIZE = 2_000


class Erasure(NamedTuple):
    """An erasure: the number of its command, and of the events that it names."""

    number: int
    targets: frozenset[int]


class Timeline:
    """When each record of a zone became known, read incrementally from the plain envelopes.

    A record is known since the latest `ingested_at` of all records up to it, so that the records
    known at any time are a prefix of the ledger. Records of older builds may claim an `ingested_at`
    later than their arrival. They count as known from their arrival, which the ledger records (on
    Kafka, with the record), so that every node agrees.
    """

    def __init__(self, ledger: Ledger, zone: str) -> None:
        self._ledger = ledger
        self._zone = zone
        self._offset = 0
        self._hash = GENESIS
        self._known_since = array("q")
        self._erasures: list[Erasure] = []

    def refresh(self) -> None:
        """Read the ledger's new records.

        Raises:
            IntegrityError: the targets of an erasure cannot be read.
            NewerFormat: a record has a format that is newer than this program.
        """
        partition = partition_of(self._zone)
        while records := self._ledger.read(
            EVENTS, partition, self._offset, _BATCH_SIZE, self._zone
        ):
            for offset, _, value in records:
                try:
                    self._add(offset, value)
                except (IntegrityError, NewerFormat) as error:
                    if not is_skipped(self._ledger, self._zone, EVENTS, offset, value):
                        raise with_location(error, EVENTS, self._zone, offset) from None
                self._offset = offset + 1

    def _add(self, offset: int, value: bytes) -> None:
        envelope, sealed = read_event(value)
        expected = (self._zone, len(self) + 1, self._hash)
        if (envelope.zone, envelope.number, envelope.previous) != expected:
            return
        self._hash = record_hash(value)
        known = self._known_since[-1] if self._known_since else 0
        if envelope.ingested_at > known:
            known = max(known, self._ingested_at(offset, envelope.ingested_at))
        self._known_since.append(known)
        if envelope.kind == "forget":
            key = self._ledger.keys.get([envelope.key_id]).get(envelope.key_id)
            if key is None:
                raise IntegrityError(
                    f"the key of erasure {envelope.number} is missing, so what "
                    "it erased is not known; run recollect verify"
                )
            payload = unseal_event(envelope, sealed, key).payload
            assert isinstance(payload, Forget)
            earlier = range(1, envelope.number)
            targets = frozenset(number for number in payload.targets if number in earlier)
            self._erasures.append(Erasure(envelope.number, targets))

    def _ingested_at(self, offset: int, claimed: int) -> int:
        """Return the claimed `ingested_at` of a record, or the time of its append if earlier."""
        partition = partition_of(self._zone)
        appended = self._ledger.appended_at(EVENTS, partition, offset)
        return claimed if appended is None else min(claimed, appended)

    def __len__(self) -> int:
        """Return the number of the last record."""
        return len(self._known_since)

    def last_known(self, time: int) -> int:
        """Return the last record that was known at a time (unix ms), or 0."""
        return bisect_right(self._known_since, time)

    def known_since(self, number: int) -> int:
        """Return when a record became known (unix ms); beyond the end, when the last one did."""
        return self._known_since[min(number, len(self)) - 1] if number and len(self) else 0

    def erased_since(self, number: int) -> list[Erasure]:
        """Return the erasures that come after a record and erase events up to it."""
        return [
            erasure
            for erasure in self._erasures
            if erasure.number > number and any(target <= number for target in erasure.targets)
        ]
