"""The ledger of one machine: SQLite files with Kafka's topics, partitions and dense offsets."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from projections.sqlite import atomic, connect, rows, truncate_wal
from schemas.events import Draft
from schemas.records import GENESIS, open_event, read_event
from schemas.seal import KEY_BYTES, new_key
from schemas.zones import check_zone
from streams.failpoints import failpoint
from streams.ledger.base import EVENTS, PARTITIONS, TOPICS, KeyStore, Ledger, LedgerGap, Record
from streams.ledger.partitioner import partition_of
from streams.ledger.sequencer import Head, Held, Receipt, sequence
from streams.locks import exclusive

# A record's position is its partition and its offset in one integer: the primary key of its
# topic's table, so that records of a partition lie together and in order.
_OFFSET_BITS = 40
_POLL_SECONDS = 0.02
_KEYS_AT_ONCE = 500

_LEDGER_SCHEMA = """
CREATE TABLE IF NOT EXISTS zones (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS heads (
    zone   INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    hash   BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS sources (
    zone     INTEGER NOT NULL,
    source   BLOB NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (zone, source)
) WITHOUT ROWID;
""" + "".join(
    f"""
CREATE TABLE IF NOT EXISTS {topic} (
    position INTEGER PRIMARY KEY,
    zone     INTEGER NOT NULL,
    value    BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS {topic}_of_zone ON {topic}(zone, position);
"""
    for topic in TOPICS
)

_KEYS_SCHEMA = """
CREATE TABLE IF NOT EXISTS keys (
    key_id BLOB PRIMARY KEY,
    key    BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;
"""


class EmbeddedKeys(KeyStore):
    """keys.db: apart from the ledger, so that a copy of the ledger brings nothing back."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        self._connection = connect(path, durable=True)
        with atomic(self._connection):
            self._connection.execute(_KEYS_SCHEMA)
            self._connection.execute(
                "INSERT OR IGNORE INTO secrets VALUES ('source', ?)", (new_key()[1],)
            )
        ((secret,),) = self._connection.execute("SELECT value FROM secrets WHERE name = 'source'")
        self._secret = bytes(secret)
        assert len(self._secret) == KEY_BYTES

    @property
    def secret(self) -> bytes:
        return self._secret

    def get(self, key_ids: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        with self._lock:
            for start in range(0, len(key_ids), _KEYS_AT_ONCE):
                some = key_ids[start : start + _KEYS_AT_ONCE]
                marks = ", ".join("?" * len(some))
                found.update(
                    rows(
                        self._connection,
                        f"SELECT key_id, key FROM keys WHERE key_id IN ({marks})",
                        some,
                    )
                )
        return found

    def add(self, keys: Mapping[bytes, bytes]) -> None:
        with self._lock, atomic(self._connection):
            self._connection.executemany(
                "INSERT OR IGNORE INTO keys VALUES (?, ?)", list(keys.items())
            )

    def destroy(self, key_ids: Iterable[bytes]) -> None:
        with self._lock:
            with atomic(self._connection):
                self._connection.executemany(
                    "DELETE FROM keys WHERE key_id = ?", [(key_id,) for key_id in key_ids]
                )
            if not truncate_wal(self._connection):
                raise apsw.BusyError("keys.db: a reader keeps destroyed keys in the log")

    def close(self) -> None:
        with self._lock:
            self._connection.close()


class EmbeddedLedger(Ledger):
    """ledger.db and keys.db in a home directory, shared by any number of processes."""

    keys: EmbeddedKeys

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._path = directory / "ledger.db"
        self._lock = threading.RLock()
        # Two that turn a new file to WAL at once do not wait for each other: one gets "locked".
        with exclusive(directory / "ledger.lock"):
            self.keys = EmbeddedKeys(directory / "keys.db")
            self._connection = connect(self._path, durable=True)
            with atomic(self._connection):
                self._connection.execute(_LEDGER_SCHEMA)
        self._appended = _condition_of(self._path)

    def publish(self, zone: str, drafts: Sequence[Draft]) -> list[Receipt]:
        check_zone(zone)
        with self._lock, atomic(self._connection):
            head = self._head(zone)
            receipts, records, head = sequence(
                zone,
                drafts,
                head,
                secret=self.keys.secret,
                now=time.time_ns() // 1_000_000,
                held=lambda source: self._held(zone, source),
            )
            if records:
                self.keys.add({record.key_id: record.key for record in records})
                failpoint("append.keys")
                zone_id = self._zone_id(zone, create=True)
                positions = self._insert(EVENTS, zone, [record.value for record in records])
                self._connection.executemany(
                    "INSERT INTO sources VALUES (?, ?, ?)",
                    [
                        (zone_id, record.source, position)
                        for record, position in zip(records, positions, strict=True)
                    ],
                )
                self._connection.execute(
                    "INSERT INTO heads VALUES (?, ?, ?) ON CONFLICT (zone) "
                    "DO UPDATE SET number = excluded.number, hash = excluded.hash",
                    (zone_id, head.number, head.hash),
                )
        self._notify()
        failpoint("append.committed")
        return receipts

    def append(self, topic: str, zone: str, values: Sequence[bytes]) -> None:
        with self._lock, atomic(self._connection):
            self._zone_id(check_zone(zone), create=True)
            self._insert(topic, zone, values)
        self._notify()

    def read(
        self, topic: str, partition: int, offset: int, limit: int, zone: str | None = None
    ) -> list[Record]:
        first, last = _span(partition)
        with self._lock, self._snapshot():
            if zone is None:
                found = rows(
                    self._connection,
                    f"SELECT position, name, value FROM {_table(topic)} AS record "
                    "JOIN zones ON zones.id = record.zone "
                    "WHERE position BETWEEN ? AND ? ORDER BY position LIMIT ?",
                    (first + offset, last, limit),
                )
            else:
                end = self.end(topic, partition)
                if offset > end:
                    raise LedgerGap(_shrunk(topic, partition, offset, end))
                found = rows(
                    self._connection,
                    f"SELECT position, ?, value FROM {_table(topic)} "
                    "WHERE zone = ? AND position BETWEEN ? AND ? ORDER BY position LIMIT ?",
                    (zone, self._zone_id(zone), first + offset, last, limit),
                )
        records = [Record(position - first, name, value) for position, name, value in found]
        if zone is None:
            for expected, record in enumerate(records, offset):
                if record.offset != expected:
                    raise LedgerGap(
                        f"{topic}/{partition}: offset {expected} is missing; restore the ledger "
                        "from a backup that has it"
                    )
            if not records and offset > (end := self.end(topic, partition)):
                raise LedgerGap(_shrunk(topic, partition, offset, end))
        return records

    def end(self, topic: str, partition: int) -> int:
        first, last = _span(partition)
        with self._lock:
            row = self._connection.execute(
                f"SELECT max(position) FROM {_table(topic)} WHERE position BETWEEN ? AND ?",
                (first, last),
            ).fetchone()
        return 0 if row is None or row[0] is None else int(row[0]) - first + 1

    def zones(self) -> list[str]:
        with self._lock:
            return [
                name
                for (name,) in self._connection.execute(
                    "SELECT name FROM zones JOIN heads ON heads.zone = zones.id ORDER BY name"
                )
            ]

    def check(self, zone: str, sources: Sequence[tuple[int, bytes]], head: Head) -> list[str]:
        problems = []
        first, _ = _span(partition_of(zone))
        with self._lock, self._snapshot():
            if self._head(zone) != head:
                problems.append(f"ledger.heads: the head of zone {zone} is not its last event")
            held = dict(
                rows(
                    self._connection,
                    "SELECT source, position FROM sources WHERE zone = ?",
                    (self._zone_id(zone),),
                )
            )
        for offset, source in sources:
            if held.pop(source, None) != first + offset:
                problems.append(f"ledger.sources: the event at offset {offset} is not known by id")
        if held:
            problems.append(f"ledger.sources: {len(held)} ids of zone {zone} stand for no event")
        return problems

    def wait(self, ends: Mapping[tuple[str, int], int], timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        seen: int | None = None
        while True:
            with self._lock:
                # The pragma asks the file; Connection.data_version() would ask the last snapshot.
                ((others,),) = self._connection.execute("PRAGMA data_version")
                version = others + self._connection.total_changes()
                if version != seen:
                    seen = version
                    if any(self.end(*place) > end for place, end in ends.items()):
                        return True
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            with self._appended:
                self._appended.wait(min(left, _POLL_SECONDS))

    def close(self) -> None:
        with self._lock:
            self._connection.close()
            self.keys.close()

    def _notify(self) -> None:
        with self._appended:
            self._appended.notify_all()

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Let several statements see one state, inside a transaction or outside."""
        if self._connection.in_transaction:
            yield
            return
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("COMMIT")

    def _zone_id(self, zone: str, create: bool = False) -> int | None:
        row = self._connection.execute("SELECT id FROM zones WHERE name = ?", (zone,)).fetchone()
        if row is None and create:
            self._connection.execute("INSERT INTO zones (name) VALUES (?)", (zone,))
            return self._connection.last_insert_rowid()
        return None if row is None else int(row[0])

    def _head(self, zone: str) -> Head:
        row = self._connection.execute(
            "SELECT number, hash FROM heads WHERE zone = ?", (self._zone_id(zone),)
        ).fetchone()
        return Head(0, GENESIS) if row is None else Head(row[0], row[1])

    def _held(self, zone: str, source: bytes) -> Held | None:
        row = self._connection.execute(
            f"SELECT value FROM {EVENTS} WHERE position = "
            "(SELECT position FROM sources WHERE zone = ? AND source = ?)",
            (self._zone_id(zone), source),
        ).fetchone()
        if row is None:
            return None
        envelope, record = read_event(row[0])
        key = self.keys.get([envelope.key_id]).get(envelope.key_id)
        return Held(envelope.number, None if key is None else open_event(envelope, record, key))

    def _insert(self, topic: str, zone: str, values: Sequence[bytes]) -> list[int]:
        partition = partition_of(zone)
        start = _span(partition)[0] + self.end(topic, partition)
        zone_id = self._zone_id(zone)
        self._connection.executemany(
            f"INSERT INTO {_table(topic)} VALUES (?, ?, ?)",
            [(start + index, zone_id, value) for index, value in enumerate(values)],
        )
        return list(range(start, start + len(values)))


_conditions: dict[Path, threading.Condition] = {}
_conditions_lock = threading.Lock()


def _condition_of(path: Path) -> threading.Condition:
    """Return what wakes the readers of a ledger file inside this process."""
    with _conditions_lock:
        return _conditions.setdefault(path.resolve(), threading.Condition())


def _table(topic: str) -> str:
    if topic not in TOPICS:
        raise ValueError(f"no topic is called {topic}")
    return topic


def _span(partition: int) -> tuple[int, int]:
    if not 0 <= partition < PARTITIONS:
        raise ValueError(f"partition {partition} is not one of 0..{PARTITIONS - 1}")
    first = partition << _OFFSET_BITS
    return first, first + (1 << _OFFSET_BITS) - 1


def _shrunk(topic: str, partition: int, offset: int, end: int) -> str:
    return (
        f"{topic}/{partition} ends at offset {end}, but {offset} was read before: records are "
        "missing; restore the ledger from a backup that has them"
    )
