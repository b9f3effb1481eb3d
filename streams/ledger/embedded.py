"""The ledger of one machine: SQLite files with Kafka's topics, partitions and dense offsets."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import apsw

from projections.private import make_directory
from projections.sqlite import atomic, connect, rows, truncate_wal
from schemas.events import Draft
from schemas.seal import KEY_BYTES, new_key
from schemas.zones import check_zone
from streams.failpoints import failpoint
from streams.ledger.base import EVENTS, KeyStore, Ledger, Record
from streams.ledger.file import Appended, LedgerFile
from streams.ledger.partitioner import partition_of
from streams.ledger.sequencer import Head, Held, Receipt, held_event, sequence
from streams.locks import exclusive

_POLL_SECONDS = 0.02
_KEYS_AT_ONCE = 500

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
    """ledger.db and keys.db in a home directory, shared by any number of processes.

    It pickles as what opens it again.
    """

    def __init__(self, directory: Path, keys: EmbeddedKeys | None = None) -> None:
        make_directory(directory)
        path = directory / "ledger.db"
        # Two that turn a new file to WAL at once do not wait for each other: one gets "locked".
        with exclusive(directory / "ledger.lock"):
            self._keys = keys or EmbeddedKeys(directory / "keys.db")
            self._file = LedgerFile(path, durable=True)
        self._appended = _condition_of(path)
        self._opened_with = (directory, *([keys] if keys else []))

    def __reduce__(self) -> tuple[type[EmbeddedLedger], tuple[object, ...]]:
        return type(self), self._opened_with

    @property
    def keys(self) -> EmbeddedKeys:
        return self._keys

    def publish(self, zone: str, drafts: Sequence[Draft]) -> list[Receipt]:
        check_zone(zone)
        now = _now()
        with self._file.writing():
            receipts, records, _ = sequence(
                zone,
                drafts,
                self._file.end_of(zone),
                secret=self.keys.secret,
                now=now,
                held=lambda source: self._held(zone, source),
            )
            if records:
                self.keys.add({record.key_id: record.key for record in records})
                failpoint("append.keys")
                self._append(EVENTS, zone, [record.value for record in records], now)
        self._notify()
        failpoint("append.committed")
        return receipts

    def append(self, topic: str, zone: str, values: Sequence[bytes]) -> None:
        with self._file.writing():
            self._append(topic, check_zone(zone), values, _now())
        self._notify()

    def read(
        self, topic: str, partition: int, offset: int, limit: int, zone: str | None = None
    ) -> list[Record]:
        return self._file.read(topic, partition, offset, limit, zone)

    def end(self, topic: str, partition: int) -> int:
        return self._file.end(topic, partition)

    def appended_at(self, topic: str, partition: int, offset: int) -> int | None:
        return self._file.appended_at(topic, partition, offset)

    def zones(self) -> list[str]:
        return self._file.zones()

    def head(self, zone: str) -> Head:
        return self._file.head(zone)

    def near(self, zone: str, number: int) -> tuple[int, int, bytes]:
        return self._file.near(zone, number)

    def of_kind(self, zone: str, kind: str, offset: int) -> list[Record]:
        return self._file.of_kind(zone, kind, offset)

    def check(self, zone: str, sources: Sequence[tuple[int, bytes]], head: Head) -> list[str]:
        return self._file.check(zone, sources, head)

    def wait(self, ends: Mapping[tuple[str, int], int], timeout: float) -> bool:
        deadline = time.monotonic() + timeout
        seen: int | None = None
        connection = self._file.connection
        while True:
            with self._file.lock:
                # The pragma asks the file; Connection.data_version() would ask the last snapshot.
                ((others,),) = connection.execute("PRAGMA data_version")
                version = others + connection.total_changes()
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
        self._file.close()
        self.keys.close()

    def _append(self, topic: str, zone: str, values: Sequence[bytes], at: int) -> None:
        partition = partition_of(zone)
        self._file.write(
            topic,
            partition,
            self._file.end(topic, partition),
            [Appended(zone, value, at) for value in values],
        )

    def _held(self, zone: str, source: bytes) -> Held | None:
        record = self._file.held(zone, source)
        return None if record is None else held_event(record, self.keys)

    def _notify(self) -> None:
        with self._appended:
            self._appended.notify_all()


_conditions: dict[Path, threading.Condition] = {}
_conditions_lock = threading.Lock()


def _condition_of(path: Path) -> threading.Condition:
    """Return what wakes the readers of a ledger file inside this process."""
    with _conditions_lock:
        return _conditions.setdefault(path.resolve(), threading.Condition())


def _now() -> int:
    return time.time_ns() // 1_000_000
