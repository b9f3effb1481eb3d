"""SQLite databases of other programs: read from a copy, so that the original is never written."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry, InputFile

#: The beginning of every SQLite database.
SQLITE = b"SQLite format 3\x00"
#: What the name of a write-ahead log adds to that of its database.
WAL = "-wal"


def write_ahead_log(database: InputEntry) -> InputEntry | None:
    """Return the write-ahead log beside a database on disk, or None if it has none."""
    path = Path(f"{database.path}{WAL}")
    return InputFile(path) if isinstance(database, InputFile) and path.is_file() else None


@contextmanager
def opened_copy(
    database: InputEntry, wal: InputEntry | None, kind: str
) -> Iterator[sqlite3.Connection]:
    """Open a copy of a database, with what its write-ahead log holds.

    `kind`: what the database should be, for the error, such as "a Messages database".

    Raises:
        DamagedInput: the database is damaged, truncated, has views, or lacks a table that the
            caller reads.
    """
    with tempfile.TemporaryDirectory(prefix="recollect-") as directory:
        copy = Path(directory) / "copy.db"
        _copy(database, copy)
        truncated = copy.stat().st_size < _declared_size(copy)
        if wal is not None:
            _copy(wal, Path(f"{copy}{WAL}"))
        with closing(sqlite3.connect(copy)) as connection:
            connection.text_factory = lambda raw: raw.decode(errors="replace")
            connection.row_factory = sqlite3.Row
            try:
                connection.execute("PRAGMA trusted_schema = OFF")
                _refuse_views(connection)
                yield connection
            except sqlite3.Error as error:
                raise DamagedInput(f"the database is damaged, or is not {kind}: {error}") from None
            if truncated:
                raise DamagedInput("the database is truncated; the readable part was imported")


def _refuse_views(connection: sqlite3.Connection) -> None:
    """Refuse a database with views, which may stand for a table and never end."""
    # What the schema says of itself may be wrong; this is how SQLite reads it.
    for table in connection.execute("PRAGMA table_list"):
        if table["type"] == "view":
            raise DamagedInput(
                f"the database has the view {table['name'][:60]!r}; only tables are read"
            )


def _declared_size(path: Path) -> int:
    """Return the size in bytes that a database declares; 0 if it is old and declares none."""
    with path.open("rb") as file:
        head = file.read(100)
    width, pages = int.from_bytes(head[16:18], "big"), int.from_bytes(head[28:32], "big")
    return (1 << 16 if width == 1 else width) * pages if head[24:28] == head[92:96] else 0


def _copy(entry: InputEntry, path: Path) -> None:
    try:
        with entry.open() as source, path.open("wb") as target:
            shutil.copyfileobj(source, target)
    except OSError as error:
        raise DamagedInput(f"the database cannot be copied for reading: {error.strerror}") from None
