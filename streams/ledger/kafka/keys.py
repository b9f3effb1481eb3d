"""The compacted `keys` topic with the keys of sealed payloads, and a node's copy of it.

A record's key is the id of an encryption key, and its value is the encryption key. A tombstone
deletes the encryption key, and compaction removes the older record. The copy remembers deleted
keys, so that an older record that is read later does not restore them.

Compaction skips the active segment, and the broker starts a new one with the first record after
`segment.ms`. If no record follows a deletion, a marker is appended.
"""

from __future__ import annotations

import math
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from recollect.projections.migrations import Migrations
from recollect.projections.scrubbing import scrub
from recollect.projections.sqlite import atomic, connect, rows, scalar
from recollect.schemas.errors import HomeError
from recollect.schemas.ledger.seal import new_key
from recollect.streams.ledger.kafka.clients import (
    Clients,
    DeliveredRecord,
    KeyedValue,
    LedgerPartition,
)
from recollect.streams.ledger.kafka.topics import KEYS
from recollect.streams.ledger.ledger import PARTITIONS, KeyStore, LedgerUnavailable
from recollect.streams.ledger.partitioner import partition_of_key

KEY_PARTITIONS: tuple[LedgerPartition, ...] = tuple(
    (KEYS, partition) for partition in range(PARTITIONS)
)

# The topic also holds values that all nodes share. A node that finds no value under a name writes
# its own. Each node uses a different record key, so that compaction keeps all values; the first one
# counts.
_SHARED_KEY_PREFIX = b"agreed:"
_SECRET = "secret"
# The topic also holds the offset up to which each partition of the inbox was sequenced; of several,
# the greatest counts. These record keys are shorter than any id of an encryption key.
_SEQUENCED_KEY = re.compile(rb"inbox:([0-9]{1,2})")
_INBOX = "inbox"
_ROLL_MARKER = b"marker"
_SHARED_PARTITION = 0
# The broker's clock may differ from ours.
_SLACK_SECONDS = 1.0
_BATCH_SIZE = 500

_MIGRATIONS = Migrations(Path(__file__).parent / "migrations")


class KeysCopy:
    """copy/keys.db: a node's copy of the `keys` topic."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        self._connection = connect(path)
        _MIGRATIONS.migrate(self._connection, path)

    def next(self, partition: int) -> int:
        """Return the offset of the next record to copy from a partition."""
        with self._lock:
            found: int | None = scalar(
                self._connection, "SELECT next FROM cursors WHERE partition = ?", (partition,)
            )
        return found or 0

    def append_delivered(self, partition: int, records: Sequence[DeliveredRecord]) -> None:
        """Copy records of a partition, except those that were copied before."""
        with self._transaction():
            cursor = self.next(partition)
            fresh = [record for record in records if record.offset >= cursor and record.key]
            shared = [record for record in fresh if _name_of(record)]
            matched = [(_SEQUENCED_KEY.fullmatch(record.key or b""), record) for record in fresh]
            keys = [
                record
                for match, record in matched
                if not match and record.key != _ROLL_MARKER and not _name_of(record)
            ]
            self._save_sequenced(
                [(int(match[1]), int(record.value or b"0")) for match, record in matched if match]
            )
            self._connection.executemany(
                "INSERT OR IGNORE INTO agreed VALUES (?, ?)",
                [(_name_of(record), record.value) for record in shared if record.value],
            )
            self._add([(record.key, record.value) for record in keys if record.value is not None])
            destroyed = self._destroy([(record.key,) for record in keys if record.value is None])
            if fresh:
                deletions = [record.timestamp for record in keys if record.value is None]
                self._connection.execute(
                    "INSERT INTO times VALUES (?, ?, ?) ON CONFLICT (partition) DO UPDATE SET "
                    "ended_at = max(ended_at, excluded.ended_at), last_at = excluded.last_at",
                    (partition, max(deletions, default=0), fresh[-1].timestamp),
                )
            self._connection.execute(
                "INSERT OR REPLACE INTO cursors VALUES (?, ?)",
                (partition, max(cursor, records[-1].offset + 1)),
            )
        if destroyed:
            self._purge()

    def sequenced_offsets(self) -> dict[int, int]:
        """Return the recorded offsets up to which partitions of the inbox are in the ledger."""
        with self._lock:
            return dict(rows(self._connection, "SELECT partition, next FROM taken_in"))

    def save_sequenced_offsets(self, offsets: Mapping[int, int]) -> None:
        """Record up to which offset partitions of the inbox are in the ledger."""
        with self._transaction():
            self._save_sequenced(list(offsets.items()))

    def last_unrolled_deletion(self, partition: int, milliseconds: float) -> int | None:
        """Return the time of the last deletion (unix ms) if its segment is active; else None.

        `milliseconds` is `segment.ms`.
        """
        if self.next(partition) == 0:
            return None
        with self._lock:
            times = rows(
                self._connection,
                "SELECT ended_at, last_at FROM times WHERE partition = ?",
                (partition,),
            )
        if not times:
            # An older program copied the partition without recording times.
            return 0
        ((ended_at, last_at),) = times
        return ended_at if ended_at and last_at <= ended_at + milliseconds else None

    def add(self, keys: Mapping[bytes, bytes]) -> None:
        """Store keys, except those that were destroyed."""
        with self._transaction():
            self._add(list(keys.items()))

    def destroy(self, key_ids: Iterable[bytes]) -> None:
        """Remove keys for good, and remember that they were destroyed."""
        with self._transaction():
            self._destroy([(key_id,) for key_id in key_ids])
        self._purge()

    def get(self, key_ids: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the requested keys that the copy has."""
        return dict(self._select("SELECT key_id, key FROM keys WHERE key_id IN ({})", key_ids))

    def destroyed(self, key_ids: Sequence[bytes]) -> set[bytes]:
        """Return the ids of those keys that are known to be destroyed."""
        found = self._select("SELECT key_id FROM destroyed WHERE key_id IN ({})", key_ids)
        return {key_id for (key_id,) in found}

    def shared_value(self, name: str) -> bytes | None:
        """Return the value that all nodes share under `name`, or None if it was not read yet."""
        with self._lock:
            found: bytes | None = scalar(
                self._connection, "SELECT value FROM agreed WHERE name = ?", (name,)
            )
        return found

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock, atomic(self._connection):
            yield

    def _add(self, keys: Sequence[tuple[object, ...]]) -> None:
        self._connection.executemany(
            "INSERT OR IGNORE INTO keys SELECT ?1, ?2 "
            "WHERE NOT EXISTS (SELECT 1 FROM destroyed WHERE key_id = ?1)",
            keys,
        )

    def _save_sequenced(self, sequenced_offsets: Sequence[tuple[int, int]]) -> None:
        self._connection.executemany(
            "INSERT INTO taken_in VALUES (?, ?) ON CONFLICT (partition) DO UPDATE "
            "SET next = max(next, excluded.next)",
            sequenced_offsets,
        )

    def _destroy(self, key_ids: Sequence[tuple[object, ...]]) -> int:
        """Delete keys, in the caller's transaction; return how many of them the copy had."""
        before = self._connection.total_changes()
        self._connection.executemany("DELETE FROM keys WHERE key_id = ?", key_ids)
        deleted = self._connection.total_changes() - before
        self._connection.executemany("INSERT OR IGNORE INTO destroyed VALUES (?)", key_ids)
        return deleted

    def _select(self, sql: str, key_ids: Sequence[bytes]) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        with self._lock:
            for start in range(0, len(key_ids), _BATCH_SIZE):
                batch = key_ids[start : start + _BATCH_SIZE]
                found += rows(self._connection, sql.format(", ".join("?" * len(batch))), batch)
        return found

    def _purge(self) -> None:
        with self._lock:
            done = scrub(self._connection)
        if not done:
            raise apsw.BusyError(
                "destroyed keys remain in the write-ahead log of keys.db while another process "
                "reads it; end that process and try again"
            )


def _name_of(record: DeliveredRecord) -> str:
    """Return the name of the shared value in a record; empty for other records."""
    if record.key is None or not record.key.startswith(_SHARED_KEY_PREFIX):
        return ""
    return record.key.split(b":")[1].decode(errors="replace")


class KafkaKeys(KeyStore):
    """The `keys` topic.

    A key that the copy lacks counts as missing only after the topic has been read up to its current
    end. This class cannot tell whether a missing key was destroyed or lost.

    `refresh` brings the copy up to the topic's end. `writes` False: a replica, which deletes keys
    only in its copy. `secret`: the secret that the ledger must have; it is written if the ledger
    has none.

    Raises:
        HomeError: the ledger has another secret.
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
        self._rolled_at: dict[int, float] = {}
        refresh()
        self._secret = self.get_or_set_shared(_SECRET, secret or new_key()[1])
        if secret not in (None, self._secret):
            raise HomeError(
                "these topics belong to another ledger: give another prefix "
                "(kafka://host:port/prefix)"
            )

    @property
    def secret(self) -> bytes:
        return self._secret

    def get_or_set_shared(self, name: str, value: bytes) -> bytes:
        """Return the value that all nodes share under `name`; write `value` if there is none.

        Raises:
            LedgerUnavailable: there is none yet, and this node may not write.
        """
        if self._copy.shared_value(name) is None:
            self._refresh()
        if self._copy.shared_value(name) is None and self._writes:
            key = _SHARED_KEY_PREFIX + name.encode() + b":" + os.urandom(16)
            self._clients.produce(KEYS, {_SHARED_PARTITION: [KeyedValue(key, value)]})
            self._refresh()
        shared = self._copy.shared_value(name)
        if shared is None:
            raise LedgerUnavailable(
                f"topic {KEYS} has no {name}: nothing was written to this ledger yet; start a "
                "worker"
            )
        return shared

    def begin_inbox(self, starts: Callable[[], Sequence[int]]) -> None:
        """Record where each partition of the inbox begins, unless that is recorded already."""
        if self._copy.shared_value(_INBOX) is None:
            self.get_or_set_shared(_INBOX, b",".join(b"%d" % start for start in starts()))

    def sequenced_offsets(self) -> list[int]:
        """Return the offset up to which each partition of the inbox is in the ledger.

        Older builds deleted records without recording an offset. In their ledgers, the offset is
        the start of the partition.
        """
        self._refresh()
        recorded = self._copy.sequenced_offsets()
        begun = map(int, (self._copy.shared_value(_INBOX) or b"").split(b","))
        return [max(start, recorded.get(partition, 0)) for partition, start in enumerate(begun)]

    def save_sequenced_offsets(self, offsets: Mapping[int, int]) -> None:
        """Record up to which offset inbox partitions are in the ledger; durable on return."""
        recorded = self._copy.sequenced_offsets()
        new = {number: at for number, at in offsets.items() if at > recorded.get(number, 0)}
        if new:
            self._clients.produce(
                KEYS,
                {
                    number: [KeyedValue(b"inbox:%d" % number, b"%d" % offset)]
                    for number, offset in new.items()
                },
            )
            self._copy.save_sequenced_offsets(new)

    def roll_segments(self, partitions: Iterable[int], seconds: float) -> None:
        """Roll active segments that contain deletions, so that compaction removes the deleted keys.

        `seconds` is `segment.ms` in seconds.
        """

        def due(partition: int) -> bool:
            ended_at = self._copy.last_unrolled_deletion(partition, seconds * 1_000)
            waited = time.monotonic() - self._rolled_at.get(partition, -math.inf)
            return (
                ended_at is not None
                and time.time() > ended_at / 1_000 + seconds + _SLACK_SECONDS
                and waited > seconds
            )

        if due_partitions := [partition for partition in partitions if due(partition)]:
            # Another node may have rolled them meanwhile.
            self._refresh()
            if still_due := [partition for partition in due_partitions if due(partition)]:
                self._rolled_at |= dict.fromkeys(still_due, time.monotonic())
                marker = KeyedValue(_ROLL_MARKER, b"-")
                self._clients.produce(KEYS, {partition: [marker] for partition in still_due})

    def get(self, key_ids: Sequence[bytes]) -> dict[bytes, bytes]:
        found = self._copy.get(key_ids)
        missing = set(key_ids) - found.keys() - self._absent
        missing -= self._copy.destroyed(list(missing))
        if missing:
            self._refresh()
            found |= self._copy.get(list(missing))
            # Keys missing now never arrive: a key is written before any record sealed with it.
            self._absent |= missing - found.keys()
        return found

    def add(self, keys: Mapping[bytes, bytes]) -> None:
        if keys:
            self._produce(keys)
            self._copy.add(keys)

    def destroy(self, key_ids: Iterable[bytes]) -> None:
        to_destroy = list(key_ids)
        if not to_destroy:
            return
        if self._writes:
            self._refresh()
            destroyed = self._copy.destroyed(to_destroy)
            self._produce({key_id: None for key_id in to_destroy if key_id not in destroyed})
        self._copy.destroy(to_destroy)

    def _produce(self, keys: Mapping[bytes, bytes | None]) -> None:
        by_partition: dict[int, list[KeyedValue]] = {}
        for key_id, key in keys.items():
            by_partition.setdefault(partition_of_key(key_id), []).append(KeyedValue(key_id, key))
        if by_partition:
            self._clients.produce(KEYS, by_partition)
