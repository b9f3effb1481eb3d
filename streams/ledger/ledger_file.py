"""A ledger's topics in one SQLite file: dense offsets per partition, an index by zone.

On one machine this file is the ledger; with Kafka it is a node's local copy. In both cases it also
records the head of each zone and the source ids of the accepted events.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import apsw

from recollect.projections.migrations import Migrations
from recollect.projections.sqlite import atomic, connect, rows, scalar, truncate_wal
from recollect.schemas.errors import IntegrityError, NewerFormat
from recollect.schemas.ledger.records import GENESIS, Envelope, read_event, record_hash
from recollect.schemas.ledger.seal import is_key_of
from recollect.streams.ledger.ledger import (
    EVENTS,
    PARTITIONS,
    SEEK_WINDOW,
    TOPICS,
    Head,
    LedgerGap,
    Record,
)
from recollect.streams.ledger.partitioner import partition_of

# A record's position combines its partition and its offset in one integer. It is the primary key of
# the topic's table, so that the records of a partition lie together and in order.
_OFFSET_BITS = 40

# Greater than every position.
_END = 1 << 62

# Small pages waste less space in the last, partly filled page of a large record.
_PAGE = 1_024


def _version_of_unnumbered(connection: apsw.Connection) -> int:
    """Return the schema version of a file that records none: -1 for the first format, else 0."""
    columns = {name for (name,) in rows(connection, "SELECT name FROM pragma_table_info('events')")}
    return -1 if columns and "appended_at" not in columns else 0


# The migration that indexes events by kind.
_KINDS = 3

#: The migrations, which define the file's tables.
MIGRATIONS = Migrations(Path(__file__).parent / "migrations" / "ledger", _version_of_unnumbered)


class Appended(NamedTuple):
    """A record to be written into a partition: its zone, its bytes, and its time (unix ms)."""

    zone: str
    value: bytes
    at: int


class _LockedConnection:
    """A connection that only the thread that holds `lock` may use."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        self.lock = threading.RLock()


class LedgerFile:
    """The tables of a ledger; any thread may call any method.

    Methods that write must be called inside `writing`. Methods that read have a connection of their
    own, so that they never wait for a writer.
    """

    def __init__(self, path: Path | str, *, durable: bool, readonly: bool = False) -> None:
        self._path = Path(path)
        self._writing = _LockedConnection(
            connect(path, durable=durable, readonly=readonly, page=_PAGE)
        )
        # A read-only file, or one in memory, needs no second connection.
        single = readonly or str(path) == ":memory:"
        self._reading: _LockedConnection | None = self._writing if single else None
        self._opening = threading.Lock()
        self._writer: int | None = None
        self._zone_ids: dict[str, int] = {}
        #: Whether the file is from before kinds were indexed; it can be read as it is.
        self._is_older = readonly and MIGRATIONS.version(self.connection, Path(path)) < _KINDS
        if readonly:
            return
        with self.write_connection():
            MIGRATIONS.migrate(self.connection, Path(path), self._index_kinds)
            if rows(self.connection, "SELECT 1 FROM unread LIMIT 1"):
                with atomic(self.connection):
                    self._accept_unrecognised()

    @property
    def _thread_connection(self) -> _LockedConnection:
        """The connection for the calling thread.

        The thread that writes gets the write connection, so that it sees its uncommitted rows.
        """
        if self._writer == threading.get_ident():
            return self._writing
        if self._reading is None:
            with self._opening:
                if self._reading is None:
                    self._reading = _LockedConnection(connect(self._path, readonly=True))
                    # A read error must be an exception; with mmap it would kill the process.
                    self._reading.connection.execute("PRAGMA mmap_size = 0").fetchall()
        return self._reading

    @property
    def connection(self) -> apsw.Connection:
        """The connection of this thread; hold `lock` to use it."""
        return self._thread_connection.connection

    @property
    def lock(self) -> threading.RLock:
        """The lock of `connection`."""
        return self._thread_connection.lock

    @contextmanager
    def write_connection(self) -> Iterator[None]:
        """Hold the write connection without beginning a transaction."""
        with self._writing.lock:
            before, self._writer = self._writer, threading.get_ident()
            try:
                yield
            finally:
                self._writer = before

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the file for one write transaction."""
        with self.write_connection(), atomic(self.connection):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Run several statements on one snapshot, inside or outside of a write transaction."""
        with self.lock:
            if self.connection.in_transaction:
                yield
                return
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                self.connection.execute("COMMIT")

    def write(self, topic: str, partition: int, offset: int, records: Sequence[Appended]) -> None:
        """Write records at `offset`, which is the partition's end.

        Events that extend their zone's chain are accepted: the head moves, and their source ids are
        known from then on. The others are recorded as void.
        """
        first = position_range(partition)[0] + offset
        names = dict.fromkeys(record.zone for record in records)
        zones = {zone: self._zone_id(zone, create=True) for zone in names}
        self.connection.executemany(
            f"INSERT INTO {_table(topic)} (position, zone, value, appended_at) VALUES (?, ?, ?, ?)",
            [
                (first + index, zones[zone], record, at)
                for index, (zone, record, at) in enumerate(records)
            ],
        )
        if topic == EVENTS:
            self._accept(
                [
                    (position, record.zone, record.value)
                    for position, record in enumerate(records, first)
                ],
                zones,
            )

    def _accept_unrecognised(self) -> None:
        """Accept events that an older program copied but could not read."""
        waiting = rows(
            self.connection,
            "SELECT unread.zone, name, position FROM unread JOIN zones ON zones.id = unread.zone",
        )
        for zone_id, zone, position in waiting:
            self.connection.execute("DELETE FROM unread WHERE zone = ?", (zone_id,))
            unrecognised = rows(
                self.connection,
                f"SELECT position, ?, value FROM {EVENTS} WHERE zone = ? AND position >= ? "
                "ORDER BY position",
                (zone, zone_id, position),
            )
            self._accept(unrecognised, {zone: zone_id})

    def _index_kinds(self) -> None:
        """Record the kinds and platforms of the events that an older program accepted."""
        for zone_id in (id_ for (id_,) in rows(self.connection, "SELECT id FROM zones")):
            for position, _, envelope in self._accepted(zone_id, 0, _END):
                self._add_kinds([(zone_id, position, envelope)])

    def _add_kinds(self, accepted: Sequence[tuple[int | None, int, Envelope]]) -> None:
        """Record the kinds and platforms of accepted events (id of the zone, position, event)."""
        self.connection.executemany(
            "INSERT OR IGNORE INTO kinds VALUES (?, ?, ?)",
            [(zone_id, envelope.kind, position) for zone_id, position, envelope in accepted],
        )
        self.connection.executemany(
            "INSERT OR IGNORE INTO platforms VALUES (?, ?)",
            {(zone_id, envelope.platform) for zone_id, _, envelope in accepted},
        )

    def _accept(
        self, records: Sequence[tuple[int, str, bytes]], zones: Mapping[str, int | None]
    ) -> None:
        """Accept those events (position, zone, bytes) that extend their zone's chain, in order."""
        heads: dict[str, Head] = {}
        accepted: list[tuple[int | None, int, Envelope]] = []
        void: list[tuple[int, bytes]] = []
        # A zone's records count only in its own partition.
        partitions = {zone: partition_of(zone) for zone in zones if zone}
        unrecognised = {zone for zone in zones if self._has_unrecognised(zone)}
        for position, zone, record in records:
            if partitions.get(zone) != position >> _OFFSET_BITS:
                continue
            if zone in unrecognised:
                # It may extend an event that this program cannot read, so it may be valid.
                continue
            try:
                envelope, _ = read_event(record)
            except IntegrityError:
                # Not an event record; reading the zone reports it.
                continue
            except NewerFormat:
                unrecognised.add(zone)
                self.connection.execute("INSERT INTO unread VALUES (?, ?)", (zones[zone], position))
                continue
            if envelope.zone != zone:
                # A copy of another zone's event; its key belongs to that zone.
                continue
            head = heads.get(zone) or self.head(zone)
            if (envelope.number, envelope.previous) == (head.number + 1, head.hash):
                heads[zone] = Head(envelope.number, record_hash(record))
                accepted.append((zones[zone], position, envelope))
            else:
                void.append((position, envelope.key_id))
        self.connection.executemany(
            "INSERT OR IGNORE INTO sources VALUES (?, ?, ?)",
            [(zone_id, envelope.source, position) for zone_id, position, envelope in accepted],
        )
        self._add_kinds(accepted)
        self.connection.executemany(
            "INSERT INTO heads VALUES (?, ?, ?) ON CONFLICT (zone) "
            "DO UPDATE SET number = excluded.number, hash = excluded.hash",
            [(zones[zone], head.number, head.hash) for zone, head in heads.items()],
        )
        self.connection.executemany("INSERT OR IGNORE INTO voids VALUES (?, ?)", void)

    def void_keys(self, partition: int, secret: bytes) -> list[bytes]:
        """Return the ids of keys that must be destroyed because their events are void.

        A key is returned only if its id was derived from a void event of the partition and no
        accepted event of the zone uses it.
        """
        to_destroy: list[bytes] = []
        to_keep: list[int] = []
        with self.lock:
            for position, zone, record in rows(
                self.connection,
                f"SELECT voids.position, zones.name, {EVENTS}.value FROM voids "
                f"JOIN {EVENTS} ON {EVENTS}.position = voids.position "
                f"JOIN zones ON zones.id = {EVENTS}.zone "
                "WHERE voids.position BETWEEN ? AND ?",
                position_range(partition),
            ):
                envelope, _ = read_event(record)
                if not is_key_of(envelope.key_id, secret, zone, envelope.source):
                    to_keep.append(position)
                elif envelope.number > self.head(zone).number:
                    # It arrived before its predecessors, and may arrive again after them.
                    continue
                elif self._reuses_accepted_key(zone, envelope):
                    to_keep.append(position)
                else:
                    to_destroy.append(envelope.key_id)
        if to_keep:
            with self.writing():
                self.connection.executemany(
                    "DELETE FROM voids WHERE position = ?", [(position,) for position in to_keep]
                )
        return to_destroy

    def _reuses_accepted_key(self, zone: str, envelope: Envelope) -> bool:
        """Return whether an accepted event has the same source id and key as a void one."""
        accepted = self.event_of_source(zone, envelope.source)
        return accepted is not None and read_event(accepted)[0].key_id == envelope.key_id

    def forget_void_keys(self, key_ids: Sequence[bytes]) -> None:
        """Record that these keys of void events have been destroyed."""
        with self.writing():
            self.connection.executemany(
                "DELETE FROM voids WHERE key_id = ?", [(key_id,) for key_id in key_ids]
            )

    def replace(self, topic: str, partition: int, offsets: Sequence[int], record: bytes) -> None:
        """Replace the records at these offsets by one record."""
        first, _ = position_range(partition)
        self.connection.executemany(
            f"UPDATE {_table(topic)} SET value = ? WHERE position = ?",
            ((record, first + offset) for offset in offsets),
        )

    def compact(self) -> int:
        """Give the file's unused space back to the disk; return the number of bytes."""
        with self.write_connection():
            before = self._size()
            self.connection.execute("VACUUM")
            truncate_wal(self.connection)
            return before - self._size()

    def _size(self) -> int:
        pages, size = (
            int(scalar(self.connection, f"PRAGMA {name}")) for name in ("page_count", "page_size")
        )
        return pages * size

    def read(
        self, topic: str, partition: int, offset: int, limit: int, zone: str | None = None
    ) -> list[Record]:
        """Return up to `limit` records from `offset` on, as `Ledger.read` does."""
        first, last = position_range(partition)
        table = _table(topic)
        with self.lock:
            if zone is None:
                record_rows = rows(
                    self.connection,
                    f"SELECT position, name, value FROM {table} AS record "
                    "JOIN zones ON zones.id = record.zone "
                    "WHERE position BETWEEN ? AND ? ORDER BY position LIMIT ?",
                    (first + offset, last, limit),
                )
            else:
                record_rows = rows(
                    self.connection,
                    f"SELECT position, ?, value FROM {table} "
                    "WHERE zone = ? AND position BETWEEN ? AND ? ORDER BY position LIMIT ?",
                    (zone, self._zone_id(zone), first + offset, last, limit),
                )
            # A record that is read is before the end.
            if not record_rows and offset > (end := self.end(topic, partition)):
                raise LedgerGap(
                    f"{topic}/{partition} ends at offset {end}, but {offset} was read before: "
                    "records are missing; restore the ledger from a backup that has them, or name "
                    "the one that these files were made from (RECOLLECT_LEDGER)"
                )
        records = [Record(position - first, name, value) for position, name, value in record_rows]
        if zone is None:
            for expected, record in enumerate(records, offset):
                if record.offset != expected:
                    raise LedgerGap(
                        f"{topic}/{partition}: offset {expected} is missing; restore the ledger "
                        "from a backup that has it"
                    )
        return records

    def end(self, topic: str, partition: int) -> int:
        """Return the offset that the next record of a partition will have."""
        first, last = position_range(partition)
        with self.lock:
            position = scalar(
                self.connection,
                f"SELECT max(position) FROM {_table(topic)} WHERE position BETWEEN ? AND ?",
                (first, last),
            )
        return 0 if position is None else int(position) - first + 1

    def appended_at(self, topic: str, partition: int, offset: int) -> int | None:
        """Return when a record was appended (unix ms), or None if that is not recorded."""
        with self.lock:
            at: int | None = scalar(
                self.connection,
                f"SELECT appended_at FROM {_table(topic)} WHERE position = ?",
                (position_range(partition)[0] + offset,),
            )
        return at

    def zones(self) -> list[str]:
        """Return every zone that has an accepted event, sorted."""
        with self.lock:
            found = rows(
                self.connection,
                "SELECT name FROM zones JOIN heads ON heads.zone = zones.id ORDER BY name",
            )
        return [name for (name,) in found]

    def head(self, zone: str) -> Head:
        """Return the last accepted event of a zone."""
        with self.lock:
            found = rows(
                self.connection,
                "SELECT number, hash FROM heads WHERE zone = ?",
                (self._zone_id(zone),),
            )
        return Head(*found[0]) if found else Head(0, GENESIS)

    def chain_end(self, zone: str) -> Head:
        """Return the event that a zone's next event must follow.

        Raises:
            NewerFormat: only a newer program can read the last events.
        """
        with self.lock:
            if self._has_unrecognised(zone):
                raise NewerFormat(
                    f"zone {zone} holds events that a newer recollect wrote, so this version "
                    "cannot append to it; upgrade recollect to write there"
                )
            return self.head(zone)

    def _has_unrecognised(self, zone: str) -> bool:
        return bool(
            rows(self.connection, "SELECT 1 FROM unread WHERE zone = ?", (self._zone_id(zone),))
        )

    def event_of_source(self, zone: str, source: bytes) -> bytes | None:
        """Return the record of the accepted event with this hash of its source id."""
        with self.lock:
            record: bytes | None = scalar(
                self.connection,
                f"SELECT value FROM {EVENTS} WHERE position = "
                "(SELECT position FROM sources WHERE zone = ? AND source = ?)",
                (self._zone_id(zone), source),
            )
        return record

    def events_of_kind(self, zone: str, kind: str, offset: int) -> list[Record]:
        """Return a zone's accepted events of a kind, from `offset` on."""
        first, last = position_range(partition_of(zone))
        with self.reading():
            if self._is_older:
                return [
                    Record(position - first, zone, record)
                    for position, record, envelope in self._accepted(
                        self._zone_id(zone), first + offset, _END
                    )
                    if envelope.kind == kind
                ]
            found = rows(
                self.connection,
                f"SELECT position, value FROM kinds JOIN {EVENTS} USING (position) "
                "WHERE kinds.zone = ? AND kind = ? AND position BETWEEN ? AND ? ORDER BY position",
                (self._zone_id(zone), kind, first + offset, last),
            )
        return [Record(position - first, zone, record) for position, record in found]

    def platforms(self, zone: str) -> list[str]:
        """Return the platforms of a zone's accepted events, sorted."""
        with self.reading():
            if self._is_older:
                accepted = self._accepted(self._zone_id(zone), 0, _END)
                return sorted({envelope.platform for _, _, envelope in accepted})
            found = rows(
                self.connection,
                "SELECT platform FROM platforms WHERE zone = ? ORDER BY platform",
                (self._zone_id(zone),),
            )
        return [platform for (platform,) in found]

    def seek(self, zone: str, number: int) -> tuple[int, int, bytes]:
        """Return an accepted event after which to start reading, as `Ledger.seek` does.

        Offsets grow with numbers, so this is an interpolation search. Every second step halves the
        range instead, in case the numbers are spread unevenly.
        """
        first, _ = position_range(partition_of(zone))
        with self.reading():
            below, above = 0, self.head(zone).number + 1
            number = min(number, above)
            position, end = first - 1, first + self.end(EVENTS, partition_of(zone))
            hash_, tries = GENESIS, 0
            while number - below > SEEK_WINDOW and end - position > 1:
                tries += 1
                share = (number - below) / (above - below) if tries % 2 else 0.5
                middle = position + 1 + int((end - position - 1) * min(share, 1.0))
                middle = min(middle, end - 1)
                accepted = next(self._accepted(self._zone_id(zone), middle, end), None)
                if accepted is None or accepted[2].number > number:
                    # Every accepted event from there on has a larger number.
                    end = middle
                    above = above if accepted is None else accepted[2].number
                else:
                    position, record, envelope = accepted
                    below, hash_ = envelope.number, record_hash(record)
        return below, position - first + 1, hash_

    def _accepted(
        self, zone_id: int | None, start: int, end: int
    ) -> Iterator[tuple[int, bytes, Envelope]]:
        """Yield a zone's accepted events between two positions: position, record, envelope."""
        for position, record in self.connection.execute(
            f"SELECT position, value FROM {EVENTS} "
            "WHERE zone = ? AND position >= ? AND position < ? ORDER BY position",
            (zone_id, start, end),
        ):
            with suppress(IntegrityError, NewerFormat):
                envelope, _ = read_event(record)
                if scalar(
                    self.connection,
                    "SELECT 1 FROM sources WHERE zone = ? AND source = ? AND position = ?",
                    (zone_id, envelope.source, position),
                ):
                    yield position, record, envelope

    def check(self, zone: str, events: Sequence[tuple[int, Envelope]], head: Head) -> list[str]:
        """Return where heads, source ids, kinds and platforms differ from the accepted events."""
        problems = []
        first, _ = position_range(partition_of(zone))
        zone_id = self._zone_id(zone)
        with self.reading():
            if self.head(zone) != head:
                problems.append(f"ledger.heads: the head of zone {zone} is not its last event")
            indexed = dict(
                rows(
                    self.connection,
                    "SELECT source, position FROM sources WHERE zone = ?",
                    (zone_id,),
                )
            )
            if not self._is_older:
                kinds = rows(
                    self.connection, "SELECT position, kind FROM kinds WHERE zone = ?", (zone_id,)
                )
                expected = {(first + offset, envelope.kind) for offset, envelope in events}
                for position, kind in sorted(expected.symmetric_difference(kinds)):
                    verb = "is not" if (position, kind) in expected else "must not be"
                    problems.append(
                        f"ledger.kinds: the event at offset {position - first} {verb} listed as "
                        f"{kind}"
                    )
                if self.platforms(zone) != sorted({each.platform for _, each in events}):
                    problems.append(f"ledger.platforms: zone {zone} has other platforms")
        for offset, envelope in events:
            if indexed.pop(envelope.source, None) != first + offset:
                problems.append(f"ledger.sources: the event at offset {offset} is not known by id")
        if indexed:
            problems.append(f"ledger.sources: {len(indexed)} ids of zone {zone} have no event")
        return problems

    def identity(self) -> bytes | None:
        """Return the id of the home that the file belongs to, or None if it records none."""
        with self.lock:
            if not rows(self.connection, "SELECT 1 FROM sqlite_schema WHERE name = 'identity'"):
                return None
            found: bytes | None = scalar(self.connection, "SELECT home FROM identity")
        return found

    def identify(self, home: bytes) -> None:
        """Record which home the file belongs to."""
        with self.writing():
            self.connection.execute("INSERT INTO identity VALUES (?)", (home,))

    def close(self) -> None:
        """Close the file."""
        for shared in (self._reading, self._writing):
            if shared is not None:
                with shared.lock:
                    shared.connection.close()

    def _zone_id(self, zone: str, create: bool = False) -> int | None:
        # Cached for good: an id is never given to another zone.
        if zone in self._zone_ids:
            return self._zone_ids[zone]
        zone_id: int | None = scalar(
            self.connection, "SELECT id FROM zones WHERE name = ?", (zone,)
        )
        if zone_id is None and create:
            self.connection.execute("INSERT INTO zones (name) VALUES (?)", (zone,))
            return self.connection.last_insert_rowid()
        if zone_id is not None:
            self._zone_ids[zone] = zone_id
        return zone_id


def _table(topic: str) -> str:
    if topic not in TOPICS:
        raise ValueError(f"no topic is called {topic}")
    return topic


def position_range(partition: int) -> tuple[int, int]:
    """Return the first and the last position that a record of a partition may have."""
    if not 0 <= partition < PARTITIONS:
        raise ValueError(f"partition {partition} is not one of 0..{PARTITIONS - 1}")
    first = partition << _OFFSET_BITS
    return first, first + (1 << _OFFSET_BITS) - 1
