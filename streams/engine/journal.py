"""driver.db: crash-recovery state of the drivers; not part of the memory."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import apsw
import msgspec

from recollect.projections.migrations import Migrations
from recollect.projections.sqlite import atomic, connect, rows, scalar
from recollect.schemas.ledger.records import GENESIS
from recollect.streams.system.locks import exclusive

_MIGRATIONS = Migrations(Path(__file__).parent / "migrations")


class OutboxCursor(msgspec.Struct, frozen=True):
    """The last change record whose outbox was published."""

    number: int = 0
    offset: int = 0
    hash: bytes = GENESIS


class ZoneProgress(msgspec.Struct, frozen=True):
    """The last record that a zone's files hold, and when they reached it (unix ms)."""

    number: int = 0
    at: int = 0


def _connect(path: Path) -> apsw.Connection:
    """Open the file; if it is corrupt, replace it by an empty one, from which drivers recover."""
    for attempt in range(2):
        connection: apsw.Connection | None = None
        try:
            connection = connect(path)
            if scalar(connection, "PRAGMA quick_check(1)") == "ok":
                return connection
        except (apsw.CorruptError, apsw.NotADBError):
            if attempt:
                raise
        if connection is not None:
            connection.close()
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    return connect(path)


class Journal:
    """Attempts, cursors and progress of the drivers of one home."""

    def __init__(self, path: Path | None) -> None:
        """`path` None: keep the journal in memory, for a read-only home."""
        self._lock = threading.RLock()
        self.in_memory = path is None
        if path is None:
            path = Path(":memory:")
            self._connection = connect(path)
        else:
            with exclusive(path.with_name("journal.lock")):
                self._connection = _connect(path)
        _MIGRATIONS.migrate(self._connection, path)

    def begin(self, zone: str, chain: str, last: int) -> None:
        """Record that the records up to `last` are being decided."""
        with self._lock:
            self._connection.execute(
                "INSERT INTO in_flight VALUES (?, ?, ?) "
                "ON CONFLICT (zone, chain) DO UPDATE SET last = max(last, excluded.last)",
                (zone, chain, last),
            )

    def interrupted_batch_end(self, zone: str, chain: str) -> int:
        """Return the last record of the batch that was begun but not ended, or 0."""
        with self._lock:
            row = self._connection.execute(
                "SELECT last FROM in_flight WHERE zone = ? AND chain = ?", (zone, chain)
            ).fetchone()
        return 0 if row is None else int(row[0])

    def count_attempt(self, zone: str, chain: str, number: int) -> int:
        """Count an attempt at a record, durably; return the number of attempts before it."""
        with self._lock, atomic(self._connection):
            row = self._connection.execute(
                "SELECT count FROM attempts WHERE zone = ? AND chain = ? AND number = ?",
                (zone, chain, number),
            ).fetchone()
            before = 0 if row is None else int(row[0])
            self._connection.execute(
                "INSERT OR REPLACE INTO attempts VALUES (?, ?, ?, ?)",
                (zone, chain, number, before + 1),
            )
        return before

    def uncount_attempt(self, zone: str, chain: str, number: int) -> None:
        """Uncount the last attempt at a record: the failure was not the record's fault."""
        with self._lock:
            self._connection.execute(
                "UPDATE attempts SET count = count - 1 WHERE zone = ? AND chain = ? AND number = ?",
                (zone, chain, number),
            )

    def end(self, zone: str, chain: str, number: int) -> None:
        """Record that everything up to `number` is decided."""
        with self._lock, atomic(self._connection):
            self._connection.execute(
                "DELETE FROM in_flight WHERE zone = ? AND chain = ? AND last <= ?",
                (zone, chain, number),
            )
            self._connection.execute(
                "DELETE FROM attempts WHERE zone = ? AND chain = ? AND number <= ?",
                (zone, chain, number),
            )

    def outbox(self, zone: str, chain: str) -> OutboxCursor:
        """Return how far the outbox of a chain was published."""
        with self._lock:
            row = self._connection.execute(
                "SELECT number, offset, hash FROM outboxes WHERE zone = ? AND chain = ?",
                (zone, chain),
            ).fetchone()
        return OutboxCursor() if row is None else OutboxCursor(*row)

    def save_outbox(self, zone: str, chain: str, cursor: OutboxCursor) -> None:
        """Record that the outbox was published up to `cursor`."""
        with self._lock:
            self._connection.execute(
                "INSERT OR REPLACE INTO outboxes VALUES (?, ?, ?, ?, ?)",
                (zone, chain, cursor.number, cursor.offset, cursor.hash),
            )

    def save_progress(self, zone: str, number: int) -> None:
        """Save the last record that a zone's files hold; the time changes only with the number."""
        with self._lock:
            self._connection.execute(
                "INSERT INTO moves VALUES (?, ?, ?) ON CONFLICT (zone) DO UPDATE "
                "SET number = excluded.number, at = excluded.at WHERE number != excluded.number",
                (zone, number, time.time_ns() // 1_000_000),
            )

    def progress_of(self, zone: str) -> ZoneProgress:
        """Return the last record that a zone's files hold, and since when."""
        with self._lock:
            row = self._connection.execute(
                "SELECT number, at FROM moves WHERE zone = ?", (zone,)
            ).fetchone()
        return ZoneProgress() if row is None else ZoneProgress(*row)

    def legacy_pending_purges(self) -> list[str]:
        """Return the zones for which an older build recorded a pending purge in the journal."""
        with self._lock:
            if not rows(self._connection, "SELECT 1 FROM sqlite_schema WHERE name = 'purges'"):
                return []
            return [zone for (zone,) in rows(self._connection, "SELECT zone FROM purges")]

    def drop_legacy_purges(self) -> None:
        """Drop the records of pending purges from the journal, once the zones' files have them."""
        with self._lock:
            self._connection.execute("DROP TABLE IF EXISTS purges")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()
