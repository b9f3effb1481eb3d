"""SQLite connections with recollect's settings, and helpers for queries and transactions."""

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
# With SQLite's default of 2 MB, indexing 100,000 facts takes twice as long. Small files use less.
CACHE_KIB = 32_768
#: The page size of a new file, in bytes: small, since each of dozens of nearly empty tables and
#: indexes takes at least a page.
PAGE = 2_048
# The number of prepared statements that are kept for each connection. A decision runs some hundred
# different ones; with APSW's default of 100, they would be prepared again and again.
STATEMENTS = 512
# Attempts to set the journal mode. Whenever processes collide, one of them succeeds; so this many
# processes may collide.
_WAL_ATTEMPTS = 1_000
MAPPED_BYTES = 1 << 34
_PAGES_PER_STEP = 10_000

_json = msgspec.json.Encoder()


def connect(
    path: Path | str, *, durable: bool = False, readonly: bool = False, page: int = PAGE
) -> apsw.Connection:
    """Return a connection in WAL mode that overwrites deleted content.

    `page`: the page size of a new file, in bytes. `durable`: commits survive a power failure.
    Otherwise they survive only a crash of the process; this suffices for a file that can be rebuilt
    from the ledger. `readonly`: write to neither the file nor its directory.
    """
    if readonly:
        return _connect_readonly(Path(path))
    new = not os.path.exists(path)
    connection = apsw.Connection(str(path), statementcachesize=STATEMENTS)
    if new and os.path.exists(path):
        # The file is still empty, and SQLite will give the WAL the same mode.
        os.chmod(path, FILE_MODE)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection.execute(f"PRAGMA page_size = {page}").fetchall()
    _use_wal(connection)
    connection.execute("PRAGMA secure_delete = ON").fetchall()
    connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}").fetchall()
    return _configure(connection)


def _configure(connection: apsw.Connection) -> apsw.Connection:
    # Otherwise, SQLite plans some kept statements again for each value of a parameter, which takes
    # longer than running them. No plan here depends on the values.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute("PRAGMA temp_store = MEMORY").fetchall()
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}").fetchall()
    return connection


def _connect_readonly(path: Path) -> apsw.Connection:
    if not path.exists() or not read_only(path.parent):
        return _open_readonly(str(path))
    log = path.with_name(path.name + "-wal")
    if not log.exists() or not log.stat().st_size:
        # A reader in WAL mode needs a shared-memory file, which cannot be created here. Without a
        # WAL, and while no process can create one, the file is immutable. On a full disk, this is
        # true until space is freed; the holder of the connection must then open a new one.
        return _open_readonly(f"{path.absolute().as_uri()}?immutable=1", apsw.SQLITE_OPEN_URI)
    connection = _open_readonly(str(path))
    try:
        # Works if a process with write access has created the shared-memory file.
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        return connection
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
    with tempfile.TemporaryDirectory() as elsewhere:
        # The writer crashed: replay its WAL into a temporary copy, which is unlinked but kept open.
        for source in (path, log):
            shutil.copyfile(source, Path(elsewhere) / source.name)
        connection = apsw.Connection(str(Path(elsewhere) / path.name))
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        connection.execute("PRAGMA query_only = ON").fetchall()
    return _configure(connection)


def _open_readonly(name: str, flags: int = 0) -> apsw.Connection:
    connection = apsw.Connection(
        name, flags=apsw.SQLITE_OPEN_READONLY | flags, statementcachesize=STATEMENTS
    )
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    # Scattered rows of a large file are read from the mapping, without copying.
    connection.execute(f"PRAGMA mmap_size = {MAPPED_BYTES}").fetchall()
    return _configure(connection)


def _use_wal(connection: apsw.Connection) -> None:
    """Switch a file to WAL mode, even if other processes do so at the same time.

    Two processes would wait for each other's lock. To avoid that, SQLite fails in one of them at
    once, with SQLITE_BUSY.
    """
    for attempt in range(_WAL_ATTEMPTS):
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            return
        except apsw.BusyError:
            if attempt == _WAL_ATTEMPTS - 1:
                raise
            # Taking the write lock waits until no other process writes.
            with atomic(connection):
                pass


def copy_file(source: Path, target: Path) -> None:
    """Copy a consistent snapshot of a file, WAL included; `target` must not exist."""
    with (
        closing(connect(source, readonly=True)) as original,
        closing(connect(target, page=scalar(original, "PRAGMA page_size"))) as copy,
    ):
        _copy(original, copy)


def copy_standalone(source: apsw.Connection, target: Path) -> None:
    """Copy the snapshot that a connection sees into a new file without a WAL, and flush it.

    Opening the copy read-only writes nothing.
    """
    with closing(connect(target, durable=True, page=scalar(source, "PRAGMA page_size"))) as copy:
        _copy(source, copy)
        copy.execute("PRAGMA journal_mode = DELETE").fetchall()
    with target.open("rb") as file:
        os.fsync(file.fileno())


def _copy(source: apsw.Connection, target: apsw.Connection) -> None:
    with target.backup("main", source, "main") as backup:
        while not backup.done:
            backup.step(_PAGES_PER_STEP)


@contextmanager
def raw_file(path: str, *, writable: bool = False) -> Iterator[apsw.VFSFile]:
    """Open the bytes of a database file through SQLite.

    If it were opened otherwise, closing it would release the locks that this process has on it.
    """
    mode = apsw.SQLITE_OPEN_READWRITE if writable else apsw.SQLITE_OPEN_READONLY
    file = apsw.VFSFile("", path, [apsw.SQLITE_OPEN_MAIN_DB | mode, 0])
    try:
        yield file
    finally:
        file.xClose()


@contextmanager
def snapshot_connection(path: Path) -> Iterator[apsw.Connection]:
    """Open a connection with a read transaction on the current state of a file."""
    with closing(connect(path, readonly=True)) as connection:
        # With mmap, a read error would kill the process instead of raising.
        connection.execute("PRAGMA mmap_size = 0").fetchall()
        connection.execute("BEGIN").fetchall()
        # The transaction begins with the first query.
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        yield connection
        connection.execute("COMMIT").fetchall()


def rows(
    connection: apsw.Connection, sql: str, bindings: Sequence[object] = ()
) -> list[tuple[Any, ...]]:
    """Return all rows of a query, untyped."""
    return connection.execute(sql, bindings).fetchall()


def scalar(connection: apsw.Connection, sql: str, bindings: Sequence[object] = ()) -> Any:
    """Return the first column of the first row, or None if there is no row."""
    row = connection.execute(sql, bindings).fetchone()
    return None if row is None else row[0]


def json_array(values: Sequence[object]) -> str:
    """Encode values as a JSON array for `json_each(?)`, which takes any number of them."""
    return _json.encode(values).decode()


@contextmanager
def atomic(connection: apsw.Connection) -> Iterator[None]:
    """Run a transaction that takes the write lock first, so that its reads stay valid."""
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
