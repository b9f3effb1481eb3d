"""Find the events erased since a backup was made, from the home's files or a later backup.

A home is restored because it is damaged, so its ledger is read here as far as it is readable. If a
zone's event chain is intact, its `forget` records list the erased events. If not, the remaining
keys show them: an event was erased if the backup can decrypt it and the home cannot. If keys.db is
lost, the headers of change records list the events that they erased.

Events are matched by the keyed hash of their source id, since an event may have another number
after a fork, or be absent from the backup.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import apsw
import msgspec

from recollect.projections.sqlite import rows, scalar, snapshot_connection
from recollect.schemas.errors import CorruptFile, InvalidInput, RecollectError
from recollect.schemas.events import Forget
from recollect.schemas.ledger.fragments import Assembler
from recollect.schemas.ledger.records import (
    GENESIS,
    Envelope,
    EventRecord,
    read_change,
    read_event,
    record_hash,
    unseal_event,
    write_erased_event,
)
from recollect.schemas.ledger.seal import event_key
from recollect.schemas.zones import check_zone
from recollect.streams.ledger import CHANGES, EVENTS, Ledger, partition_of
from recollect.streams.ledger.embedded_ledger import KEYS_FILE, LEDGER_FILE, home_id
from recollect.streams.ledger.ledger_file import position_range
from recollect.streams.publishing.commands import command, publish_commands, random_id
from recollect.streams.records.chain_readers import (
    NEVER_ERASED,
    SealedEvent,
    SealedReader,
    sealed_events,
)
from recollect.streams.records.erased_keys import FORGET, forget_targets
from recollect.streams.records.lookup import records_of_kind

_BATCH_SIZE = 1_000
# Kinds without content.
_CONTENT_FREE_KINDS = frozenset({FORGET, "certify", "tick", "switch", "skip_record"})


class PostBackupState(NamedTuple):
    """What a home or a later backup records about a zone since a backup was made.

    `numbers`: events of the backup that were erased since. `absent`: envelopes of erased events
    that the backup lacks. `id_hashes`: keyed hashes of forgotten ids. `newer_events`: the number of
    events that the backup lacks, without erased ones; None if unknown. `is_current`: the home or
    later backup is at least as recent as the backup. `complete`: all erasures since are known.
    """

    numbers: frozenset[int]
    absent: tuple[Envelope, ...]
    id_hashes: frozenset[bytes]
    newer_events: int | None
    is_current: bool
    complete: bool


class _TailScan(NamedTuple):
    """A zone's events after the last one in common with a backup.

    `common`: the number of that event. `fork_number`: the first number at which the backup has a
    different event, or None. `last`: the number of the last event. `intact`: every record was
    readable, and the chain is unbroken.
    """

    common: int
    fork_number: int | None
    last: int
    newer_envelopes: dict[int, Envelope]
    forgets: list[tuple[bytes, Envelope, EventRecord]]
    intact: bool


class SalvageLedger:
    """Read-only access to the files of a ledger that may be damaged, missing or in use."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._stack = ExitStack()
        self._ledger = self._open(LEDGER_FILE)
        self._keys = self._open(KEYS_FILE)

    def _open(self, name: str) -> apsw.Connection | None:
        """Return a connection to a file; None if it is missing or not a database."""
        path = self.directory / name
        if path.is_file():
            with suppress(apsw.Error):
                return self._stack.enter_context(snapshot_connection(path))
        return None

    def close(self) -> None:
        """Close the files."""
        with suppress(apsw.Error):
            self._stack.close()

    def home_ids(self) -> set[str]:
        """Return the home ids that the ledger's files state."""
        ids = set()
        with suppress(CorruptFile):
            ids.add(home_id(self.directory))
        for connection, query in (
            (self._ledger, "SELECT home FROM identity"),
            (self._keys, "SELECT value FROM secrets WHERE name = 'home'"),
        ):
            with suppress(apsw.Error):
                stored_id = None if connection is None else scalar(connection, query)
                ids.add(stored_id.hex() if isinstance(stored_id, bytes) else None)
        return {home for home in ids if home is not None}

    def is_empty(self) -> bool:
        """Return whether its ledger is readable and has no event."""
        with suppress(apsw.Error):
            return self._ledger is not None and not rows(self._ledger, "SELECT 1 FROM heads")
        return False

    def zones(self) -> list[str]:
        """Return the names of all readable zones, even of zones without events."""
        names = []
        with suppress(apsw.Error):
            for (name,) in rows(self._ledger, "SELECT name FROM zones") if self._ledger else ():
                with suppress(InvalidInput):
                    names.append(check_zone(name))
        return sorted(names)

    def state_since(self, zone: str, backup: Ledger) -> PostBackupState:
        """Compare a zone with a backup's ledger of the same home."""
        tail = self._scan_tail(zone, backup)
        targets, id_hashes, complete = self._forgotten_targets(zone, tail)
        numbers = {target for target in targets if target <= tail.common}
        absent: dict[bytes, Envelope] = {}
        newer_events = 0
        for number, envelope in tail.newer_envelopes.items():
            if envelope.kind in NEVER_ERASED:
                continue
            backed_up = backup.event_of_source(zone, envelope.source)
            if number not in targets:
                newer_events += backed_up is None and envelope.kind not in _CONTENT_FREE_KINDS
            elif backed_up is None:
                absent[envelope.source] = envelope
            else:
                numbers.add(read_event(backed_up)[0].number)
        is_current = tail.fork_number is not None or tail.last >= backup.head(zone).number
        if not (tail.intact and complete):
            destroyed = self._destroyed_keys(zone, backup, tail.fork_number)
            complete = destroyed is not None
            if destroyed is not None:
                numbers |= destroyed
                is_current = True
        return PostBackupState(
            frozenset(_erasable(backup, zone, numbers)),
            tuple(absent.values()),
            frozenset(id_hashes),
            newer_events if tail.intact else None,
            is_current,
            complete,
        )

    def _scan_tail(self, zone: str, backup: Ledger) -> _TailScan:
        """Scan a zone's events side by side with those of the backup."""
        backup_events = _events_of(backup, zone)
        backup_event = next(backup_events, None)
        common, fork_number, last, intact = 0, None, 0, True
        newer_envelopes: dict[int, Envelope] = {}
        forgets = []
        previous = GENESIS
        for record in self._salvage_records(EVENTS, zone):
            try:
                if record is None:
                    raise CorruptFile("a record cannot be read")
                envelope, sealed = read_event(record)
            except RecollectError:
                intact = False
                continue
            if envelope.zone != zone or envelope.number <= last:
                # A void record.
                continue
            intact &= (envelope.number, envelope.previous) == (last + 1, previous)
            last, previous = envelope.number, record_hash(record)
            while backup_event is not None and backup_event.envelope.number < last:
                backup_event = next(backup_events, None)
            if (
                fork_number is None
                and backup_event is not None
                and backup_event.envelope.number == last
            ):
                if backup_event.hash == previous:
                    common = last
                    continue
                fork_number = last
            newer_envelopes[last] = envelope
            if envelope.kind == FORGET:
                forgets.append((previous, envelope, sealed))
        return _TailScan(
            common,
            fork_number,
            last,
            newer_envelopes,
            forgets,
            intact and self._last_number(zone) == last,
        )

    def _last_number(self, zone: str) -> int | None:
        """Return the number of the zone's last event in the table of heads."""
        with suppress(apsw.Error):
            if self._ledger is not None:
                last: int = scalar(
                    self._ledger,
                    "SELECT coalesce((SELECT number FROM heads JOIN zones ON zones.id = heads.zone "
                    "WHERE name = ?), 0)",
                    (zone,),
                )
                return last
        return None

    def _salvage_records(self, topic: str, zone: str) -> Iterator[bytes | None]:
        """Yield a zone's records in order; None in place of unreadable ones."""
        if self._ledger is None:
            return
        position, end = position_range(partition_of(zone))
        query = (
            f"SELECT position, value FROM {topic} "
            "WHERE zone = (SELECT id FROM zones WHERE name = ?) AND position BETWEEN ? AND ? "
            "ORDER BY position LIMIT ?"
        )
        while True:
            try:
                record_rows = rows(self._ledger, query, (zone, position, end, _BATCH_SIZE))
            except apsw.Error:
                yield None
                break
            for _, record in record_rows:
                yield record
            if not record_rows:
                return
            position = record_rows[-1][0] + 1
        # A page is damaged: read the remaining records one by one.
        with suppress(apsw.Error):
            last = scalar(
                self._ledger,
                f"SELECT max(position) FROM {topic} WHERE position BETWEEN ? AND ?",
                (position, end),
            )
            for at in range(position, -1 if last is None else last + 1):
                with suppress(apsw.Error):
                    yield scalar(
                        self._ledger, f"SELECT value FROM {topic} WHERE position = ?", (at,)
                    )

    def _forgotten_targets(self, zone: str, tail: _TailScan) -> tuple[set[int], set[bytes], bool]:
        """Return the event numbers and id hashes in `forget` records, and if both are complete.

        They are incomplete if a record cannot be opened and no change record shows what it erased.
        """
        targets: set[int] = set()
        id_hashes: set[bytes] = set()
        complete = True
        destroyed: dict[tuple[int, bytes], set[int]] | None = None
        for hash_, envelope, sealed in tail.forgets:
            payload = self._open_forget(envelope, sealed)
            if payload is not None:
                targets |= {target for target in payload.targets if 0 < target < envelope.number}
                id_hashes |= set(payload.names)
                continue
            if destroyed is None:
                destroyed = self._erased_by_changes(zone)
            if (envelope.number, hash_) in destroyed:
                targets |= destroyed[envelope.number, hash_]
            else:
                complete = False
        return targets, id_hashes, complete

    def _open_forget(self, envelope: Envelope, sealed: EventRecord) -> Forget | None:
        with suppress(RecollectError, KeyError):
            if key := self._keys_of([envelope.key_id]).get(envelope.key_id):
                payload = unseal_event(envelope, sealed, key).payload
                return payload if isinstance(payload, Forget) else None
        return None

    def _erased_by_changes(self, zone: str) -> dict[tuple[int, bytes], set[int]]:
        """Map (number, hash) of a `forget` event to the events that its change record erased."""
        erased: dict[tuple[int, bytes], set[int]] = {}
        assembler = Assembler()
        for record in self._salvage_records(CHANGES, zone):
            with suppress(RecollectError):
                change = None if record is None else assembler.add(record)
                if change is not None:
                    header, _ = read_change(change)
                    if header.zone == zone and header.erased_events:
                        event = header.number, header.event_hash
                        erased[event] = {source.number for source in header.erased_events}
        return erased

    def _destroyed_keys(
        self, zone: str, backup: Ledger, fork_number: int | None
    ) -> set[int] | None:
        """Return the events whose keys the backup has and this ledger lacks.

        Events from a fork on are left out, since this ledger never had them. Return None if the
        keys are unreadable or belong to another home.
        """
        if self._keys is None:
            return None
        destroyed: set[int] = set()
        try:
            secret = scalar(self._keys, "SELECT value FROM secrets WHERE name = 'source'")
            intact = scalar(self._keys, "PRAGMA quick_check(1)") == "ok"
            if not intact or secret != backup.keys.secret:
                return None
            reader = SealedReader(backup, zone)
            while batch := reader.read_sealed(_BATCH_SIZE):
                ids = {
                    event.envelope.key_id: event.envelope.number
                    for event in batch
                    if fork_number is None or event.envelope.number < fork_number
                }
                backed_up = backup.keys.get(list(ids))
                remaining = self._keys_of(list(backed_up))
                destroyed |= {ids[key_id] for key_id in backed_up.keys() - remaining.keys()}
        except apsw.Error:
            return None
        return destroyed

    def _keys_of(self, key_ids: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for start in range(0, len(key_ids) if self._keys is not None else 0, _BATCH_SIZE):
            assert self._keys is not None
            batch = key_ids[start : start + _BATCH_SIZE]
            marks = ", ".join("?" * len(batch))
            found.update(
                rows(self._keys, f"SELECT key_id, key FROM keys WHERE key_id IN ({marks})", batch)
            )
        return found


def _events_of(ledger: Ledger, zone: str) -> Iterator[SealedEvent]:
    reader = SealedReader(ledger, zone)
    while batch := reader.read_sealed(_BATCH_SIZE):
        yield from batch


def _erasable(ledger: Ledger, zone: str, numbers: Set[int]) -> Iterator[int]:
    """Yield the numbers of those events that can be erased and have not been erased yet."""
    events = {
        event.envelope.key_id: event.envelope.number
        for event in sealed_events(ledger, zone, numbers)
        if event.envelope.kind not in NEVER_ERASED
    }
    for key_id in ledger.keys.get(list(events)):
        yield events[key_id]


def erase_again(
    ledger: Ledger, zone: str, numbers: Set[int], absent: Iterable[Envelope], id_hashes: Set[bytes]
) -> None:
    """Publish one command that erases a zone's events with these numbers.

    `absent` envelopes are appended as erased events, so that an import does not restore them.
    `id_hashes`: keyed hashes of forgotten ids, which the command repeats.
    """
    head = ledger.head(zone)
    number, previous = head.number, head.hash
    records = []
    for envelope in absent:
        number += 1
        key_id, _ = event_key(ledger.keys.secret, zone, envelope.source)
        records.append(
            write_erased_event(
                msgspec.structs.replace(
                    envelope, zone=zone, number=number, previous=previous, key_id=key_id
                )
            )
        )
        previous = record_hash(records[-1])
    if records:
        ledger.append(EVENTS, zone, records)
    targets = tuple(sorted({*numbers, *range(head.number + 1, number + 1)}))
    forget = Forget(source_id=random_id(FORGET), targets=targets, names=tuple(sorted(id_hashes)))
    publish_commands(ledger, zone, [command(forget, time.time_ns() // 1_000_000)])


def has_pending_erasure(ledger: Ledger, zone: str) -> bool:
    """Return whether a requested erasure has not destroyed all of its keys yet."""
    targets: set[int] = set()
    for found in records_of_kind(ledger, zone, FORGET):
        targets |= {
            target
            for target in forget_targets(ledger.keys, found.envelope, found.sealed)
            if target < found.envelope.number
        }
    return any(True for _ in _erasable(ledger, zone, targets))
