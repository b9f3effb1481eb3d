"""Opening SQLite files the way every part of recollect needs them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import msgspec

from projections.private import FILE_MODE, writable

BUSY_TIMEOUT_MS = 60_000
# SQLite's own 2 MB make an index of 100,000 facts twice as slow; a small file takes no more.
CACHE_KIB = 32_768
#: Bytes of a page of a new file. A table or index takes a page at least, and most files have dozens
#: that hold next to nothing.
PAGE = 2_048
# Each time one of those who meet gets through, so this many may meet.
_ATTEMPTS = 1_000
MAPPED_BYTES = 1 << 34
_PAGES_AT_ONCE = 10_000

_json = msgspec.json.Encoder()


def connect(
    path: Path | str, *, durable: bool = False, readonly: bool = False, page: int = PAGE
) -> apsw.Connection:
    """Return a connection in WAL mode that overwrites what it deletes.

    `page`: bytes of a page, where the file is new; one that exists keeps its own.
    `durable`: each commit survives a power cut. Without it a commit survives the death of the
    process, which is enough for a file that the ledger can make again. `readonly` needs nothing
    that can be written, neither the file nor a place beside it.
    """
    if readonly:
        return _connect_to_read(Path(path))
    new = not os.path.exists(path)
    connection = apsw.Connection(str(path))
    if new and os.path.exists(path):
        # Nothing is in it yet, and the log that is made beside it copies the mode.
        os.chmod(path, FILE_MODE)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection.execute(f"PRAGMA page_size = {page}").fetchall()
    _use_wal(connection)
    connection.execute("PRAGMA secure_delete = ON").fetchall()
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}").fetchall()
    return _set_up(connection)


def _set_up(connection: apsw.Connection) -> apsw.Connection:
    connection.execute("PRAGMA temp_store = MEMORY").fetchall()
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}").fetchall()
    return connection


def _connect_to_read(path: Path) -> apsw.Connection:
    if not path.exists() or writable(path.parent):
        return _open_to_read(str(path))
    log = path.with_name(path.name + "-wal")
    if not log.exists() or not log.stat().st_size:
        # Readers of a log need a file of their own beside it. Where there is no log, and nobody
        # here can begin one, what is in the file is all.
        return _open_to_read(f"{path.absolute().as_uri()}?immutable=1", apsw.SQLITE_OPEN_URI)
    connection = _open_to_read(str(path))
    try:
        # Who writes there, from where it can be written, has that file.
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        return connection
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
    with tempfile.TemporaryDirectory() as elsewhere:
        # Whoever wrote died: what the log holds is brought into a copy, which lives while it is
        # open.
        for source in (path, log):
            shutil.copyfile(source, Path(elsewhere) / source.name)
        connection = apsw.Connection(str(Path(elsewhere) / path.name))
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        connection.execute("PRAGMA query_only = ON").fetchall()
    return _set_up(connection)


def _open_to_read(name: str, flags: int = 0) -> apsw.Connection:
    connection = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | flags)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    # Rows from all over a large file: read where they lie, they need not be copied first.
    connection.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}").fetchall()
    return _set_up(connection)


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
        closing(connect(target, page=value(there, "PRAGMA page_size"))) as here,
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
