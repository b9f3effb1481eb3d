"""The timeline of a zone: when each record became known, and what was erased since."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import NamedTuple

from recollect.schemas.errors import IntegrityError, NewerFormat
from recollect.schemas.events import Forget
from recollect.schemas.ledger.records import GENESIS, read_event, record_hash, unseal_event
from recollect.streams.ledger import EVENTS, Ledger, partition_of
from recollect.streams.reading.readers import located

_BATCH = 2_000


class Erasure(NamedTuple):
    """An erasure: the number of its command, and of the events that it names."""

    number: int
    targets: frozenset[int]


class Timeline:
    """Read from the unencrypted envelopes alone, and continued as the ledger grows.

    A record is known since the latest `ingested_at` of all records up to it, so what was known at
    a time is always a beginning of the ledger. Records of older builds may claim an `ingested_at`
    after they came. They are known since they came, which the ledger notes (on Kafka in the
    record), so that every node agrees.
    """

    def __init__(self, ledger: Ledger, zone: str) -> None:
        self._ledger = ledger
        self._zone = zone
        self._offset = 0
        self._hash = GENESIS
        self._known_since = array("q")
        self._erasures: list[Erasure] = []

    def refresh(self) -> None:
        """Read what the ledger has gained.

        Raises:
            IntegrityError: what an erasure erased cannot be read.
            NewerFormat: a record is of a form that only a newer program reads.
        """
        place = partition_of(self._zone)
        while records := self._ledger.read(EVENTS, place, self._offset, _BATCH, self._zone):
            for offset, _, value in records:
                try:
                    self._take(offset, value)
                except (IntegrityError, NewerFormat) as error:
                    raise located(error, EVENTS, self._zone, offset) from None
                self._offset = offset + 1

    def _take(self, offset: int, value: bytes) -> None:
        envelope, sealed = read_event(value)
        after = (self._zone, len(self) + 1, self._hash)
        if (envelope.zone, envelope.number, envelope.previous) != after:
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
            own = range(1, envelope.number)
            targets = frozenset(number for number in payload.targets if number in own)
            self._erasures.append(Erasure(envelope.number, targets))

    def _ingested_at(self, offset: int, claimed: int) -> int:
        """Return when a record could be known: not after it came to the ledger."""
        place = partition_of(self._zone)
        appended = self._ledger.appended_at(EVENTS, place, offset)
        return claimed if appended is None else min(claimed, appended)

    def __len__(self) -> int:
        """Return the number of the last record."""
        return len(self._known_since)

    def last_known(self, time: int) -> int:
        """Return the last record that was known at a time (unix ms); 0: none was."""
        return bisect_right(self._known_since, time)

    def known_since(self, number: int) -> int:
        """Return since when (unix ms) a record is known, or the last where there is none yet."""
        return self._known_since[min(number, len(self)) - 1] if number and len(self) else 0

    def erased_since(self, number: int) -> list[Erasure]:
        """Return the erasures after a record of events up to it."""
        return [
            erasure
            for erasure in self._erasures
            if erasure.number > number and any(target <= number for target in erasure.targets)
        ]
