"""What was erased after a backup was made, as a home or a later backup knows it.

A home is restored because something is wrong with it, so its ledger is read here however damaged it
is. Where a zone's chain is whole, its `forget` records say what was erased. Where it is not, the
keys that are left say it: the key of an event that the backup can open and the home cannot was
destroyed. Where keys.db is lost, the headers of change records name the events that they ended.

An event is known again by the keyed hash of its source's id: it may stand at another number, where
the histories part, or not be in the backup at all.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import apsw
import msgspec

from recollect.projections.sqlite import pinned, rows, value
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
# Kinds that nobody misses: they hold nothing that was said or done.
_NOTHING_SAID = frozenset({FORGET, "tick", "switch"})


class Since(NamedTuple):
    """What a place knows of a zone beyond a backup.

    `numbers`: events that the backup can open and that were erased there. `absent`: envelopes of
    erased ones that the backup does not have. `names`: keyed hashes of ids that were asked to be
    forgotten. `newer`: how many events it has that the backup lacks, without erased ones.
    `reaches`: it knows what came after the backup. `complete`: nothing of that was unreadable.
    """

    numbers: frozenset[int]
    absent: tuple[Envelope, ...]
    names: frozenset[bytes]
    newer: int | None
    reaches: bool
    complete: bool


class _Read(NamedTuple):
    """The events of a zone that come after what it has in common with a backup.

    `parted`: the number at which the backup has another event; None: it has none there.
    """

    common: int
    parted: int | None
    last: int
    beyond: dict[int, Envelope]
    forgets: list[tuple[bytes, Envelope, EventRecord]]
    whole: bool


class LaterLedger:
    """The files of a ledger that may be damaged, missing or in use: read, never written."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._held = ExitStack()
        self._ledger = self._open(LEDGER_FILE)
        self._keys = self._open(KEYS_FILE)

    def _open(self, name: str) -> apsw.Connection | None:
        """Return a connection to a file; None where it is missing, or no database any more."""
        path = self.directory / name
        if path.is_file():
            with suppress(apsw.Error):
                return self._held.enter_context(pinned(path))
        return None

    def close(self) -> None:
        """Close the files."""
        with suppress(apsw.Error):
            self._held.close()

    def homes(self) -> set[str]:
        """Return the ids of the homes to which its files say that they belong."""
        found = set()
        with suppress(CorruptFile):
            found.add(home_id(self.directory))
        for connection, query in (
            (self._ledger, "SELECT home FROM identity"),
            (self._keys, "SELECT value FROM secrets WHERE name = 'home'"),
        ):
            with suppress(apsw.Error):
                said = None if connection is None else value(connection, query)
                found.add(said.hex() if isinstance(said, bytes) else None)
        return {home for home in found if home is not None}

    def is_empty(self) -> bool:
        """Return whether its ledger can be read and has no event."""
        with suppress(apsw.Error):
            return self._ledger is not None and not rows(self._ledger, "SELECT 1 FROM heads")
        return False

    def zones(self) -> list[str]:
        """Return the zones that can be read; also those that it once had."""
        names = []
        with suppress(apsw.Error):
            for (name,) in rows(self._ledger, "SELECT name FROM zones") if self._ledger else ():
                with suppress(InvalidInput):
                    names.append(check_zone(name))
        return sorted(names)

    def since(self, zone: str, backup: Ledger) -> Since:
        """Return what it knows of a zone beyond a backup's ledger of the same home."""
        read = self._read(zone, backup)
        targets, names, complete = self._erased(zone, read)
        numbers = {target for target in targets if target <= read.common}
        absent: dict[bytes, Envelope] = {}
        newer = 0
        for number, envelope in read.beyond.items():
            if envelope.kind in NEVER_ERASED:
                continue
            known = backup.event_of_source(zone, envelope.source)
            if number not in targets:
                newer += known is None and envelope.kind not in _NOTHING_SAID
            elif known is None:
                absent[envelope.source] = envelope
            else:
                numbers.add(read_event(known)[0].number)
        reaches = read.parted is not None or read.last >= backup.head(zone).number
        if not (read.whole and complete):
            ended = self._keys_ended(zone, backup, read.parted)
            complete = ended is not None
            if ended is not None:
                numbers |= ended
                reaches = True
        return Since(
            frozenset(_readable(backup, zone, numbers)),
            tuple(absent.values()),
            frozenset(names),
            newer if read.whole else None,
            reaches,
            complete,
        )

    def _read(self, zone: str, backup: Ledger) -> _Read:
        """Read a zone's events beside those of the backup."""
        others = _events_of(backup, zone)
        other = next(others, None)
        common, parted, last, whole = 0, None, 0, True
        beyond: dict[int, Envelope] = {}
        forgets = []
        previous = GENESIS
        for record in self._values(EVENTS, zone):
            try:
                if record is None:
                    raise CorruptFile("a record cannot be read")
                envelope, sealed = read_event(record)
            except RecollectError:
                whole = False
                continue
            if envelope.zone != zone or envelope.number <= last:
                # A void one.
                continue
            whole &= (envelope.number, envelope.previous) == (last + 1, previous)
            last, previous = envelope.number, record_hash(record)
            while other is not None and other.envelope.number < last:
                other = next(others, None)
            if parted is None and other is not None and other.envelope.number == last:
                if other.hash == previous:
                    common = last
                    continue
                parted = last
            beyond[last] = envelope
            if envelope.kind == FORGET:
                forgets.append((previous, envelope, sealed))
        return _Read(common, parted, last, beyond, forgets, whole and self._ends(zone) == last)

    def _ends(self, zone: str) -> int | None:
        """Return the number of the zone's last event, as the ledger noted it."""
        with suppress(apsw.Error):
            if self._ledger is not None:
                last: int = value(
                    self._ledger,
                    "SELECT coalesce((SELECT number FROM heads JOIN zones ON zones.id = heads.zone "
                    "WHERE name = ?), 0)",
                    (zone,),
                )
                return last
        return None

    def _values(self, topic: str, zone: str) -> Iterator[bytes | None]:
        """Yield a zone's records in order; None for one, or some, that cannot be read."""
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
                found = rows(self._ledger, query, (zone, position, end, _BATCH_SIZE))
            except apsw.Error:
                yield None
                break
            for _, record in found:
                yield record
            if not found:
                return
            position = found[-1][0] + 1
        # A page is damaged: what can be read of the others is looked for one by one.
        with suppress(apsw.Error):
            last = value(
                self._ledger,
                f"SELECT max(position) FROM {topic} WHERE position BETWEEN ? AND ?",
                (position, end),
            )
            for place in range(position, -1 if last is None else last + 1):
                with suppress(apsw.Error):
                    yield value(
                        self._ledger, f"SELECT value FROM {topic} WHERE position = ?", (place,)
                    )

    def _erased(self, zone: str, read: _Read) -> tuple[set[int], set[bytes], bool]:
        """Return the numbers that `forget` records name, the names in them, and whether that is
        all.
        """
        targets: set[int] = set()
        names: set[bytes] = set()
        complete = True
        ended: dict[tuple[int, bytes], set[int]] | None = None
        for hash_, envelope, sealed in read.forgets:
            payload = self._payload(envelope, sealed)
            if payload is not None:
                targets |= {target for target in payload.targets if 0 < target < envelope.number}
                names |= set(payload.names)
                continue
            if ended is None:
                ended = self._ended_by_changes(zone)
            if (envelope.number, hash_) in ended:
                targets |= ended[envelope.number, hash_]
            else:
                complete = False
        return targets, names, complete

    def _payload(self, envelope: Envelope, sealed: EventRecord) -> Forget | None:
        with suppress(RecollectError, KeyError):
            if key := self._keys_of([envelope.key_id]).get(envelope.key_id):
                payload = unseal_event(envelope, sealed, key).payload
                return payload if isinstance(payload, Forget) else None
        return None

    def _ended_by_changes(self, zone: str) -> dict[tuple[int, bytes], set[int]]:
        """Return the events that change records end, by the number and the hash of their event."""
        found: dict[tuple[int, bytes], set[int]] = {}
        assembler = Assembler()
        for record in self._values(CHANGES, zone):
            with suppress(RecollectError):
                whole = None if record is None else assembler.add(record)
                if whole is not None:
                    header, _ = read_change(whole)
                    if header.zone == zone and header.erased_events:
                        place = header.number, header.event_hash
                        found[place] = {source.number for source in header.erased_events}
        return found

    def _keys_ended(self, zone: str, backup: Ledger, parted: int | None) -> set[int] | None:
        """Return the events whose keys the backup has and this place has not.

        Those are left out that never were here, since the histories parted before. None: the keys
        cannot be read, or are not those of the backup's home.
        """
        if self._keys is None:
            return None
        ended: set[int] = set()
        try:
            secret = value(self._keys, "SELECT value FROM secrets WHERE name = 'source'")
            whole = value(self._keys, "PRAGMA quick_check(1)") == "ok"
            if not whole or secret != backup.keys.secret:
                return None
            reader = SealedReader(backup, zone)
            while walked := reader.read_sealed(_BATCH_SIZE):
                ids = {
                    event.envelope.key_id: event.envelope.number
                    for event in walked
                    if parted is None or event.envelope.number < parted
                }
                there = backup.keys.get(list(ids))
                here = self._keys_of(list(there))
                ended |= {ids[key_id] for key_id in there.keys() - here.keys()}
        except apsw.Error:
            return None
        return ended

    def _keys_of(self, key_ids: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for start in range(0, len(key_ids) if self._keys is not None else 0, _BATCH_SIZE):
            assert self._keys is not None
            some = key_ids[start : start + _BATCH_SIZE]
            marks = ", ".join("?" * len(some))
            found.update(
                rows(self._keys, f"SELECT key_id, key FROM keys WHERE key_id IN ({marks})", some)
            )
        return found


def _events_of(ledger: Ledger, zone: str) -> Iterator[SealedEvent]:
    reader = SealedReader(ledger, zone)
    while walked := reader.read_sealed(_BATCH_SIZE):
        yield from walked


def _readable(ledger: Ledger, zone: str, numbers: Set[int]) -> Iterator[int]:
    """Yield those of a zone's events that can be erased, and are not yet."""
    events = {
        event.envelope.key_id: event.envelope.number
        for event in sealed_events(ledger, zone, numbers)
        if event.envelope.kind not in NEVER_ERASED
    }
    for key_id in ledger.keys.get(list(events)):
        yield events[key_id]


def erase_again(
    ledger: Ledger, zone: str, numbers: Set[int], absent: Iterable[Envelope], names: Set[bytes]
) -> None:
    """Have the events of a zone with these numbers erased, by one command at the ledger's end.

    `absent` are known as erased from then on, so that they do not come back with an import.
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
    forget = Forget(source_id=random_id(FORGET), targets=targets, names=tuple(sorted(names)))
    publish_commands(ledger, zone, [command(forget, time.time_ns() // 1_000_000)])


def waiting(ledger: Ledger, zone: str) -> bool:
    """Return whether an erasure of a zone was asked for and has not ended all its keys."""
    targets: set[int] = set()
    for found in records_of_kind(ledger, zone, FORGET):
        targets |= {
            target
            for target in forget_targets(ledger.keys, found.envelope, found.sealed)
            if target < found.envelope.number
        }
    return any(True for _ in _readable(ledger, zone, targets))
