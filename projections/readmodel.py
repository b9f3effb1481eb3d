"""A read model: one SQLite file of one zone, and how change records are projected into it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TypeVar

import apsw
import msgspec

from recollect.projections.file_permissions import read_only
from recollect.projections.migrations import Migrations
from recollect.projections.sqlite import PAGE, connect, scalar, truncate_wal
from recollect.schemas.changes import ROW_OF_TABLE, Delete, Row, Section
from recollect.schemas.errors import IntegrityError, UpgradeRequired
from recollect.schemas.ledger.records import GENESIS

RowType = TypeVar("RowType", bound=Row)


# "owed", as the application id of a SQLite file.
_PURGE_PENDING = 0x6F776564


class Watermark(msgspec.Struct, frozen=True):
    """How far a file is: the last record it holds, and where to read on.

    `number` is the running number of the last event; `offset` and `hash` belong to the topic
    that fills the file (`events` or `changes`); the last two say where the event after it is.
    """

    number: int = 0
    offset: int = 0
    hash: bytes = GENESIS
    event_offset: int = 0
    event_hash: bytes = GENESIS


class ReadModel:
    """An open file. Subclasses add what is particular to one; they never decide anything."""

    #: The name of the package and of the file.
    name: str
    #: Columns of the watermark table, in the order of `Watermark`.
    watermark_columns: tuple[str, ...] = ("number", "offset", "hash", "event_offset", "event_hash")
    #: Tables that depend on the keys and chains of this ledger: not part of a content hash.
    ledger_tables: frozenset[str] = frozenset()
    #: The migrations, which define the file's tables.
    migrations: Migrations
    #: Bytes of a page of a new file.
    page: int = PAGE

    def __init__(self, directory: Path | None, *, readonly: bool = False) -> None:
        """`directory` None: in memory, for as long as it is open.

        A file of an older version is upgraded, also for a reader.

        Raises:
            NewerFormat: a newer program made the file.
            UpgradeRequired: an older program made it, and it cannot be written here.
        """
        self.path = Path(":memory:") if directory is None else directory / f"{self.name}.db"
        self.readonly = readonly
        self.connection = self.connect(readonly=readonly)
        try:
            if not readonly:
                self._migrate(self.connection)
            elif self.migrations.version(self.connection, self.path) < self.migrations.newest:
                self._migrate_for_reader()
        except BaseException:
            self.connection.close()
            raise

    def connect(self, *, readonly: bool) -> apsw.Connection:
        """Return a connection to the file, with the extensions that its statements need."""
        return connect(self.path, readonly=readonly, page=self.page)

    def _migrate(self, connection: apsw.Connection) -> None:
        self.migrations.migrate(connection, self.path, lambda: self.migrated(connection))

    def _migrate_for_reader(self) -> None:
        if read_only(self.path.parent):
            raise UpgradeRequired(
                f"{self.path} was made by an older recollect and cannot be brought up to date "
                "here, where it is read-only: use its home once where it can be written"
            )
        with closing(self.connect(readonly=False)) as connection:
            self._migrate(connection)

    def migrated(self, connection: apsw.Connection) -> None:
        """Build what is derived from the tables, in the transaction that made or changed them."""

    def reindex(self) -> None:
        """Rebuild the indexes of the rows, in the caller's transaction."""

    def tables(self) -> frozenset[str]:
        """Return the tables that the file has unless it was damaged."""
        return self.migrations.tables

    def watermark(self) -> Watermark:
        """Return how far the file is."""
        row = self.connection.execute(
            f"SELECT {', '.join(self.watermark_columns)} FROM watermark"
        ).fetchone()
        return Watermark() if row is None else Watermark(*row)

    def set_watermark(self, watermark: Watermark) -> None:
        """Set the watermark, in the transaction of its rows."""
        columns = self.watermark_columns
        self.connection.execute(
            f"INSERT OR REPLACE INTO watermark (id, {', '.join(columns)}) "
            f"VALUES (1{', ?' * len(columns)})",
            msgspec.structs.astuple(watermark)[: len(columns)],
        )

    def project(self, sections: Iterable[Section]) -> None:
        """Apply sections in order, in the caller's transaction.

        Raises:
            IntegrityError: a row has a value that no column can hold.
        """
        pending: dict[type[Row], list[Row]] = defaultdict(list)
        try:
            for section in sections:
                if section.deletes:
                    self._flush(pending)
                    self._delete(section.deletes)
                for row in section.puts:
                    pending[type(row)].append(row)
            self._flush(pending)
        except OverflowError:
            raise IntegrityError(
                f"{self.name}: a change record has a row with an integer beyond 64 bits; "
                "a broken program wrote it"
            ) from None

    def _flush(self, pending: dict[type[Row], list[Row]]) -> None:
        for row, values in pending.items():
            self.connection.executemany(put_statement(row), map(msgspec.structs.astuple, values))
        pending.clear()

    def _delete(self, deletes: Sequence[Delete]) -> None:
        for delete in deletes:
            self.connection.execute(delete_statement(delete.table), delete.key)

    def row(self, kind: type[RowType], key: Sequence[object]) -> RowType | None:
        """Return the row with a key; None where there is none."""
        found = self.connection.execute(_select_statement(kind), tuple(key)).fetchone()
        return None if found is None else kind(*found)

    def mark_purge_pending(self) -> None:
        """Note, in the caller's transaction, that traces of an erasure may be left afterwards.

        The note is part of the file: it is committed or rolled back with the deleted rows, and is
        found by the next process that opens the file. It stands in the file's header, since it is
        no content.
        """
        self.connection.execute(f"PRAGMA application_id = {_PURGE_PENDING}")

    def is_purge_pending(self) -> bool:
        """Return whether traces of erased rows may be left, here or in other generations."""
        return int(scalar(self.connection, "PRAGMA application_id")) == _PURGE_PENDING

    def clear_purge_pending(self) -> None:
        """Note that no trace is left anywhere."""
        self.connection.execute("PRAGMA application_id = 0")

    def purge(self) -> bool:
        """Empty the WAL, so that no deleted row is left in it; False if a reader prevents it."""
        return truncate_wal(self.connection)

    def close(self) -> None:
        """Close the file."""
        self.connection.close()


def row_key(row: Row) -> tuple[str, tuple[str | int, ...]]:
    """Return the table of a row and the values of its key."""
    return row.TABLE, tuple(getattr(row, column) for column in row.KEY)


@cache
def put_statement(row: type[Row]) -> str:
    """Return the statement that writes a row; it replaces an older row with the same key."""
    columns = row.__struct_fields__
    others = [column for column in columns if column not in row.KEY]
    action = (
        "UPDATE SET " + ", ".join(f"{column} = excluded.{column}" for column in others)
        if others
        else "NOTHING"
    )
    return (
        f"INSERT INTO {row.TABLE} ({', '.join(columns)}) "
        f"VALUES ({', '.join('?' * len(columns))}) "
        f"ON CONFLICT ({', '.join(row.KEY)}) DO {action}"
    )


@cache
def _select_statement(row: type[Row]) -> str:
    where = " AND ".join(f"{column} = ?" for column in row.KEY)
    return f"SELECT {', '.join(row.__struct_fields__)} FROM {row.TABLE} WHERE {where}"


@cache
def delete_statement(table: str) -> str:
    """Return the statement that deletes a row by its key."""
    key = ROW_OF_TABLE[table].KEY
    return f"DELETE FROM {table} WHERE " + " AND ".join(f"{column} = ?" for column in key)


def rows_by_key(connection: apsw.Connection, row: type[Row]) -> apsw.Cursor:
    """Return the table's rows in the order of their keys, as tuples of the struct's fields."""
    columns = ", ".join(row.__struct_fields__)
    return connection.execute(f"SELECT {columns} FROM {row.TABLE} ORDER BY {', '.join(row.KEY)}")
