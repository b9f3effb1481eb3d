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

from recollect.projections.file_permissions import FILE_MODE, read_only

BUSY_TIMEOUT_MS = 60_000
# With SQLite's default of 2 MB an index of 100,000 facts is twice as slow; small files take less.
CACHE_KIB = 32_768
#: Bytes of a page of a new file. A table or index takes a page at least, and most files have dozens
#: that hold next to nothing.
PAGE = 2_048
# Of several processes that collide, one succeeds each time, so this many may collide.
_ATTEMPTS = 1_000
MAPPED_BYTES = 1 << 34
_PAGES_PER_STEP = 10_000

_json = msgspec.json.Encoder()


def connect(
    path: Path | str, *, durable: bool = False, readonly: bool = False, page: int = PAGE
) -> apsw.Connection:
    """Return a connection in WAL mode that overwrites what it deletes.

    `page`: bytes of a page, where the file is new; one that exists keeps its own. `durable`: each
    commit survives a power cut. Without it a commit survives the death of the process, which is
    enough for a file that can be made again from the ledger. `readonly` writes nothing, neither the
    file nor its directory.
    """
    if readonly:
        return _connect_to_read(Path(path))
    new = not os.path.exists(path)
    connection = apsw.Connection(str(path))
    if new and os.path.exists(path):
        # The file is still empty, and SQLite gives the WAL the same mode.
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
    if not path.exists() or not read_only(path.parent):
        return _open_to_read(str(path))
    log = path.with_name(path.name + "-wal")
    if not log.exists() or not log.stat().st_size:
        # Readers of a WAL need a file of their own next to it. If there is no WAL, and no process
        # here can begin one, the file is complete. On a full disk that is so until there is room:
        # whoever keeps the connection opens another one then.
        return _open_to_read(f"{path.absolute().as_uri()}?immutable=1", apsw.SQLITE_OPEN_URI)
    connection = _open_to_read(str(path))
    try:
        # A process that can write there has made that file.
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        return connection
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
    with tempfile.TemporaryDirectory() as elsewhere:
        # The writer died: the WAL is applied to a copy, which exists while it is open.
        for source in (path, log):
            shutil.copyfile(source, Path(elsewhere) / source.name)
        connection = apsw.Connection(str(Path(elsewhere) / path.name))
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        connection.execute("PRAGMA query_only = ON").fetchall()
    return _set_up(connection)


def _open_to_read(name: str, flags: int = 0) -> apsw.Connection:
    connection = apsw.Connection(name, flags=apsw.SQLITE_OPEN_READONLY | flags)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    # Rows from all over a large file are read from the map, without copying.
    connection.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}").fetchall()
    return _set_up(connection)


def _use_wal(connection: apsw.Connection) -> None:
    """Put a file into WAL mode, even if other processes do so at this moment.

    Two processes would each wait for the other's lock, so SQLite refuses one at once.
    """
    for attempt in range(_ATTEMPTS):
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            return
        except apsw.BusyError:
            if attempt == _ATTEMPTS - 1:
                raise
            # SQLite waits here until no other process writes.
            with atomic(connection):
                pass


def copy_file(source: Path, target: Path) -> None:
    """Copy one state of a file, with the content of its WAL; `target` must not exist."""
    with (
        closing(connect(source, readonly=True)) as there,
        closing(connect(target, page=scalar(there, "PRAGMA page_size"))) as here,
    ):
        _copy(there, here)


def copy_standalone(there: apsw.Connection, target: Path) -> None:
    """Copy what a connection sees into a new file, which needs none beside it to be read.

    It is flushed to the disk, and opening it for reading alone writes nothing.
    """
    with closing(connect(target, durable=True, page=scalar(there, "PRAGMA page_size"))) as here:
        _copy(there, here)
        here.execute("PRAGMA journal_mode = DELETE").fetchall()
    with target.open("rb") as file:
        os.fsync(file.fileno())


def _copy(there: apsw.Connection, here: apsw.Connection) -> None:
    with here.backup("main", there, "main") as backup:
        while not backup.done:
            backup.step(_PAGES_PER_STEP)


@contextmanager
def snapshot_connection(path: Path) -> Iterator[apsw.Connection]:
    """Lend a connection that sees a file as it is now, whatever others write meanwhile."""
    with closing(connect(path, readonly=True)) as connection:
        # A read error must be an exception; with mmap it would kill the process.
        connection.execute("PRAGMA mmap_size = 0").fetchall()
        connection.execute("BEGIN").fetchall()
        # The transaction begins with the first query.
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        yield connection
        connection.execute("COMMIT").fetchall()


def rows(
    connection: apsw.Connection, sql: str, bindings: Sequence[object] = ()
) -> list[tuple[Any, ...]]:
    """Return the rows of a query whose columns the caller knows."""
    return connection.execute(sql, bindings).fetchall()


def scalar(connection: apsw.Connection, sql: str, bindings: Sequence[object] = ()) -> Any:
    """Return the first column of the first row, or None if there is no row."""
    row = connection.execute(sql, bindings).fetchone()
    return None if row is None else row[0]


def json_array(values: Sequence[object]) -> str:
    """Return values as a JSON array for `json_each(?)`: one statement for any number of them."""
    return _json.encode(values).decode()


@contextmanager
def atomic(connection: apsw.Connection) -> Iterator[None]:
    """Run a write transaction; it takes the lock first, so what it reads stays valid."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def truncate_wal(connection: apsw.Connection) -> bool:
    """Move the WAL into the file and empty it; False if a reader prevented it."""
    ((busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return not busy
