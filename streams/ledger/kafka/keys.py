"""The keys of sealed payloads in the compacted `keys` topic, and a node's copy of them.

A key's record is a pair: its id and the key; its end is a record without a value, which
compaction follows. The copy remembers ended keys, so that an older record read later brings
nothing back.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from projections.sqlite import atomic, connect, rows, truncate_wal, value
from schemas.errors import HomeError
from schemas.seal import new_key
from streams.ledger.base import PARTITIONS, KeyStore, LedgerUnavailable
from streams.ledger.kafka.clients import Clients, KeyedValue, Place
from streams.ledger.kafka.topics import KEYS
from streams.ledger.partitioner import partition_of_key

if TYPE_CHECKING:
    from streams.ledger.kafka.copy import Received

PLACES: tuple[Place, ...] = tuple((KEYS, partition) for partition in range(PARTITIONS))

# What all nodes must agree on is here too: who finds nothing under a name writes what it would
# have, under a key of its own, so that compaction keeps all of them; the first counts.
_AGREED = b"agreed:"
_SECRET = "secret"
_AGREED_IN = 0
_AT_ONCE = 500

_SCHEMA = """
CREATE TABLE IF NOT EXISTS keys (
    key_id BLOB PRIMARY KEY,
    key    BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS destroyed (
    key_id BLOB PRIMARY KEY
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS agreed (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cursors (
    partition INTEGER PRIMARY KEY,
    next      INTEGER NOT NULL
);
"""


class KeysCopy:
    """copy/keys.db: what a node has read of the `keys` topic."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        self._connection = connect(path)
        with self._writing():
            self._connection.execute(_SCHEMA)

    def next(self, partition: int) -> int:
        """Return the offset from which a partition is to be read on."""
        with self._lock:
            found: int | None = value(
                self._connection, "SELECT next FROM cursors WHERE partition = ?", (partition,)
            )
        return found or 0

    def take(self, partition: int, records: Sequence[Received]) -> None:
        """Take records of a partition in; those that were taken before are passed over."""
        with self._writing():
            cursor = self.next(partition)
            fresh = [record for record in records if record.offset >= cursor and record.key]
            agreed = [record for record in fresh if _name_of(record)]
            keys = [record for record in fresh if not _name_of(record)]
            self._connection.executemany(
                "INSERT OR IGNORE INTO agreed VALUES (?, ?)",
                [(_name_of(record), record.value) for record in agreed if record.value],
            )
            self._add([(record.key, record.value) for record in keys if record.value is not None])
            ended = [(record.key,) for record in keys if record.value is None]
            self._end(ended)
            self._connection.execute(
                "INSERT OR REPLACE INTO cursors VALUES (?, ?)",
                (partition, max(cursor, records[-1].offset + 1)),
            )
        if ended:
            self._purge()

    def add(self, keys: Mapping[bytes, bytes]) -> None:
        """Keep keys, but for those that have been destroyed."""
        with self._writing():
            self._add(list(keys.items()))

    def destroy(self, key_ids: Iterable[bytes]) -> None:
        """Remove keys for good, and remember that they are."""
        with self._writing():
            self._end([(key_id,) for key_id in key_ids])
        self._purge()

    def get(self, key_ids: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the keys that are there."""
        return dict(self._select("SELECT key_id, key FROM keys WHERE key_id IN ({})", key_ids))

    def destroyed(self, key_ids: Sequence[bytes]) -> set[bytes]:
        """Return which of the keys are known to be destroyed."""
        found = self._select("SELECT key_id FROM destroyed WHERE key_id IN ({})", key_ids)
        return {key_id for (key_id,) in found}

    def agreed(self, name: str) -> bytes | None:
        """Return what the nodes agreed on, or None where nothing was read yet."""
        with self._lock:
            found: bytes | None = value(
                self._connection, "SELECT value FROM agreed WHERE name = ?", (name,)
            )
        return found

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock, atomic(self._connection):
            yield

    def _add(self, keys: Sequence[tuple[object, ...]]) -> None:
        self._connection.executemany(
            "INSERT OR IGNORE INTO keys SELECT ?1, ?2 "
            "WHERE NOT EXISTS (SELECT 1 FROM destroyed WHERE key_id = ?1)",
            keys,
        )

    def _end(self, key_ids: Sequence[tuple[object, ...]]) -> None:
        self._connection.executemany("DELETE FROM keys WHERE key_id = ?", key_ids)
        self._connection.executemany("INSERT OR IGNORE INTO destroyed VALUES (?)", key_ids)

    def _select(self, sql: str, key_ids: Sequence[bytes]) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        with self._lock:
            for start in range(0, len(key_ids), _AT_ONCE):
                some = key_ids[start : start + _AT_ONCE]
                found += rows(self._connection, sql.format(", ".join("?" * len(some))), some)
        return found

    def _purge(self) -> None:
        with self._lock:
            done = truncate_wal(self._connection)
        if not done:
            raise apsw.BusyError("keys.db: a reader keeps destroyed keys in the log")


def _name_of(record: Received) -> str:
    """Return under which name a record holds what was agreed on; empty where it is a key's."""
    if record.key is None or not record.key.startswith(_AGREED):
        return ""
    return record.key.split(b":")[1].decode(errors="replace")


class KafkaKeys(KeyStore):
    """The `keys` topic. A key is missing only after the topic was read to an end that was asked
    for after somebody named the key; whether it was destroyed or lost is not said here.

    `refresh` brings the copy up to the topic's end. `writes`: whether this node may end keys in
    the topic, or only in its copy, as a replica does. `secret` is the one that the ledger must
    have, or is given where it has none.

    Raises:
        HomeError: it has another.
    """

    def __init__(
        self,
        clients: Clients,
        copy: KeysCopy,
        refresh: Callable[[], None],
        *,
        writes: bool,
        secret: bytes | None = None,
    ) -> None:
        self._clients = clients
        self._copy = copy
        self._refresh = refresh
        self._writes = writes
        self._absent: set[bytes] = set()
        refresh()
        self._secret = self.agree(_SECRET, secret or new_key()[1])
        if secret not in (None, self._secret):
            raise HomeError(
                "these topics belong to another ledger: give another prefix "
                "(kafka://host:port/prefix)"
            )

    @property
    def secret(self) -> bytes:
        return self._secret

    def agree(self, name: str, value: bytes) -> bytes:
        """Return what all nodes of the ledger have for `name`: the value that came first.

        Raises:
            LedgerUnavailable: nothing was agreed on yet, and this node may not write.
        """
        if self._copy.agreed(name) is None:
            self._refresh()
        if self._copy.agreed(name) is None and self._writes:
            key = _AGREED + name.encode() + b":" + os.urandom(16)
            self._clients.produce(KEYS, {_AGREED_IN: [KeyedValue(key, value)]})
            self._refresh()
        found = self._copy.agreed(name)
        if found is None:
            raise LedgerUnavailable(
                f"topic {KEYS} has no {name}: nobody wrote to this ledger yet; start a worker"
            )
        return found

    def get(self, key_ids: Sequence[bytes]) -> dict[bytes, bytes]:
        found = self._copy.get(key_ids)
        missing = set(key_ids) - found.keys() - self._absent
        missing -= self._copy.destroyed(list(missing))
        if missing:
            self._refresh()
            found |= self._copy.get(list(missing))
            # It never comes: a key is in the topic before anything that is sealed with it.
            self._absent |= missing - found.keys()
        return found

    def add(self, keys: Mapping[bytes, bytes]) -> None:
        if keys:
            self._produce(keys)
            self._copy.add(keys)

    def destroy(self, key_ids: Iterable[bytes]) -> None:
        wanted = list(key_ids)
        if not wanted:
            return
        if self._writes:
            self._refresh()
            known = self._copy.destroyed(wanted)
            self._produce({key_id: None for key_id in wanted if key_id not in known})
        self._copy.destroy(wanted)

    def _produce(self, keys: Mapping[bytes, bytes | None]) -> None:
        by_partition: dict[int, list[KeyedValue]] = {}
        for key_id, key in keys.items():
            by_partition.setdefault(partition_of_key(key_id), []).append(KeyedValue(key_id, key))
        if by_partition:
            self._clients.produce(KEYS, by_partition)
