"""Opening SQLite files the way every part of recollect needs them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import msgspec

from projections.private import FILE_MODE

BUSY_TIMEOUT_MS = 60_000
# SQLite's own 2 MB make an index of 100,000 facts twice as slow; a small file takes no more.
CACHE_KIB = 32_768
# Each time one of those who meet gets through, so this many may meet.
_ATTEMPTS = 1_000
MAPPED_BYTES = 1 << 34
_PAGES_AT_ONCE = 10_000

_json = msgspec.json.Encoder()


def connect(path: Path | str, *, durable: bool = False, readonly: bool = False) -> apsw.Connection:
    """Return a connection in WAL mode that overwrites what it deletes.

    `durable`: each commit survives a power cut. Without it a commit survives the death of the
    process, which is enough for a file that the ledger can make again.
    """
    flags = (
        apsw.SQLITE_OPEN_READONLY
        if readonly
        else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    )
    new = not readonly and not os.path.exists(path)
    connection = apsw.Connection(str(path), flags=flags)
    if new and os.path.exists(path):
        # Nothing is in it yet, and the log that is made beside it copies the mode.
        os.chmod(path, FILE_MODE)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    if not readonly:
        _use_wal(connection)
        connection.execute("PRAGMA secure_delete = ON").fetchall()
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}").fetchall()
    else:
        # Rows from all over a large file: read where they lie, they need not be copied first.
        connection.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}").fetchall()
    connection.execute("PRAGMA temp_store = MEMORY").fetchall()
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}").fetchall()
    return connection


def _use_wal(connection: apsw.Connection) -> None:
    """Put a file into WAL mode, whoever else does so at this moment.

    Two that meet there both hold what the other waits for, so SQLite refuses one at once.
    """
    for attempt in range(_ATTEMPTS):
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            return
        except apsw.BusyError:
            if attempt == _ATTEMPTS - 1:
                raise
            # SQLite waits here until nobody else writes.
            with atomic(connection):
                pass


def copy_file(source: Path, target: Path) -> None:
    """Copy a file as it stands at one moment, with what lies in its WAL; `target` is new."""
    with (
        closing(connect(source, readonly=True)) as there,
        closing(connect(target)) as here,
        here.backup("main", there, "main") as backup,
    ):
        while not backup.done:
            backup.step(_PAGES_AT_ONCE)


def rows(
    connection: apsw.Connection, sql: str, bindings: Sequence[object] = ()
) -> list[tuple[Any, ...]]:
    """Return the rows of a query whose columns the caller knows."""
    return connection.execute(sql, bindings).fetchall()


def value(connection: apsw.Connection, sql: str, bindings: Sequence[object] = ()) -> Any:
    """Return the first column of the first row, or None where there is none."""
    row = connection.execute(sql, bindings).fetchone()
    return None if row is None else row[0]


def listed(values: Sequence[object]) -> str:
    """Return values as what `json_each(?)` reads: one statement for any number of them."""
    return _json.encode(values).decode()


@contextmanager
def atomic(connection: apsw.Connection) -> Iterator[None]:
    """Run a write transaction; the lock is taken first, so what is read inside stays true."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def truncate_wal(connection: apsw.Connection) -> bool:
    """Move the WAL into the file and empty it; False if a reader stood in the way."""
    ((busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return not busy
