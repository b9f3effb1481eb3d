"""Distinguish erased events from lost keys: only a `forget` that names an event proves erasure.

A key may be missing for other reasons: the brokers lost the end of `keys`, or keys.db came from an
old backup. What the key sealed is then lost, not forgotten, and nothing may be decided without it.
So a missing key does not prove an erasure. Neither does a tombstone, since compaction removes
tombstones. The `forget` stays in `events` for ever, and nothing destroys the key of a `forget`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from weakref import WeakKeyDictionary

from recollect.schemas.errors import IntegrityError
from recollect.schemas.events import Forget
from recollect.schemas.ledger.records import Envelope, EventRecord, Source, read_event, unseal_event
from recollect.streams.ledger import KeyStore, Ledger

FORGET = "forget"


def forget_targets(keys: KeyStore, envelope: Envelope, record: EventRecord) -> tuple[int, ...]:
    """Return the event numbers that an erasure names.

    Raises:
        IntegrityError: its key is missing; no erasure destroys the key of another erasure.
    """
    key = keys.get([envelope.key_id]).get(envelope.key_id)
    if key is None:
        raise IntegrityError(
            f"the key of erasure {envelope.number} of zone {envelope.zone} is missing, so what it "
            f"erases is not known; {_RESTORE}"
        )
    payload = unseal_event(envelope, record, key).payload
    assert isinstance(payload, Forget)
    return payload.targets


def unexplained_missing_keys(ledger: Ledger, zone: str, numbers: Iterable[int]) -> list[int]:
    """Return which of these events, all without keys, no erasure of the zone names.

    Each erasure of the zone is read only once, and only if it is needed.
    """
    erased = _erased_numbers_of(ledger, zone)
    unexplained = [number for number in numbers if not erased.has(number)]
    if unexplained:
        erased.refresh(ledger, zone)
    return sorted(number for number in unexplained if not erased.has(number))


def erased_numbers(ledger: Ledger, zone: str) -> frozenset[int]:
    """Return the numbers of the events that the zone's erasures name."""
    erased = _erased_numbers_of(ledger, zone)
    erased.refresh(ledger, zone)
    return erased.numbers()


def lost_key_error(zone: str, number: int) -> IntegrityError:
    """Return the error for an event whose key is missing although it was not erased."""
    return IntegrityError(
        f"the key of event {number} is missing, although no erasure in the ledger names that "
        f"event: the key was lost, not deleted. Processing of the zone stops there; {_RESTORE}. "
        f"If no backup has the key, give up the event: recollect forget '#{number}' --zone {zone}"
    )


def check_sources(ledger: Ledger, zone: str, sources: Iterable[Source]) -> None:
    """Check that every missing key of these sources was destroyed by an erasure.

    Raises:
        IntegrityError: a key is missing for another reason.
    """
    numbers = {source.key_id: source.number for source in sources}
    present = ledger.keys.get(list(numbers))
    missing = {number for key_id, number in numbers.items() if key_id not in present}
    for number in unexplained_missing_keys(ledger, zone, missing):
        raise lost_key_error(zone, number)


_RESTORE = (
    "restore the keys (keys.db; on Kafka the topic keys) from a backup that has it, and run "
    "recollect verify"
)


class _ErasedNumbers:
    """The event numbers that a zone's erasures name, read incrementally."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._offset = 0
        self._targets: set[int] = set()
        self._erasures: set[int] = set()

    def has(self, number: int) -> bool:
        # An erasure cannot be erased: it holds nothing but numbers.
        return number in self._targets and number not in self._erasures

    def numbers(self) -> frozenset[int]:
        with self._lock:
            return frozenset(self._targets - self._erasures)

    def refresh(self, ledger: Ledger, zone: str) -> None:
        """Read the erasures since the last call."""
        with self._lock:
            for offset, _, value in ledger.events_of_kind(zone, FORGET, self._offset):
                envelope, record = read_event(value)
                targets = forget_targets(ledger.keys, envelope, record)
                self._erasures.add(envelope.number)
                self._targets.update(t for t in targets if 0 < t < envelope.number)
                self._offset = offset + 1


_erased_numbers: WeakKeyDictionary[Ledger, dict[str, _ErasedNumbers]] = WeakKeyDictionary()
_erased_lock = threading.Lock()


def _erased_numbers_of(ledger: Ledger, zone: str) -> _ErasedNumbers:
    with _erased_lock:
        return _erased_numbers.setdefault(ledger, {}).setdefault(zone, _ErasedNumbers())
