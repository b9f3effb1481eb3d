"""A read model: one SQLite file of one zone, and how change records are projected into it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

import apsw
import msgspec

from recollect.projections import full_text
from recollect.projections.file_permissions import read_only
from recollect.projections.migrations import Migrations
from recollect.projections.scrubbing import scrub
from recollect.projections.sqlite import PAGE, atomic, connect, scalar
from recollect.schemas.changes import ROW_OF_TABLE, Delete, Row, Section
from recollect.schemas.errors import IntegrityError, UpgradeRequired
from recollect.schemas.ledger.records import GENESIS

RowType = TypeVar("RowType", bound=Row)


# The application id of a file that needs a purge: "owed" in ASCII.
_PURGE_PENDING = 0x6F776564


class Watermark(msgspec.Struct, frozen=True):
    """The position up to which a file is projected.

    `number`: number of the last event applied. `offset`, `hash`: the next offset and the chain's
    last hash in the topic from which the file is projected (`events` or `changes`). `event_offset`,
    `event_hash`: for a file projected from `changes`, the same in `events`.
    """

    number: int = 0
    offset: int = 0
    hash: bytes = GENESIS
    event_offset: int = 0
    event_hash: bytes = GENESIS


class ReadModel:
    """An open file of a zone. Subclasses define its tables and indexes."""

    #: The name of the package and, with `.db`, of the file.
    name: str
    #: Columns of the watermark table, in the order of `Watermark`.
    watermark_columns: tuple[str, ...] = ("number", "offset", "hash", "event_offset", "event_hash")
    #: Tables that depend on the keys and chains of this ledger, excluded from the content hash.
    ledger_tables: frozenset[str] = frozenset()
    #: The migrations, which define the file's tables.
    migrations: Migrations
    #: The page size of a new file, in bytes.
    page: int = PAGE
    #: The name of the full-text index, if the file has one.
    full_text_index: str | None = None

    def __init__(self, directory: Path | None, *, readonly: bool = False) -> None:
        """Open the file of a directory, or an in-memory database if `directory` is None.

        A file of an older version is upgraded first, even for a reader.

        Raises:
            NewerFormat: a newer program made the file.
            UpgradeRequired: an older program made it, and it is read-only here.
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
        """Return a connection to the file, with the SQLite extensions that it needs."""
        return connect(self.path, readonly=readonly, page=self.page)

    def _migrate(self, connection: apsw.Connection) -> None:
        self.migrations.migrate(connection, self.path, lambda: self.after_migration(connection))

    def _migrate_for_reader(self) -> None:
        if read_only(self.path.parent):
            raise UpgradeRequired(
                f"{self.path} was made by an older recollect and must be upgraded, but is "
                "read-only here: open its home once with write access"
            )
        with closing(self.connect(readonly=False)) as connection:
            self._migrate(connection)

    def after_migration(self, connection: apsw.Connection) -> None:
        """Build derived tables and indexes, in the transaction of the migrations."""

    def reindex(self) -> None:
        """Rebuild the search indexes from the rows, in the caller's transaction."""
        if self.full_text_index is not None:
            full_text.rebuild(self.connection, self.full_text_index)

    def tables(self) -> frozenset[str]:
        """Return the names of the tables that an intact file has."""
        return self.migrations.tables

    def watermark(self) -> Watermark:
        """Return the watermark; if none is set, the watermark of an empty file."""
        row = self.connection.execute(
            f"SELECT {', '.join(self.watermark_columns)} FROM watermark"
        ).fetchone()
        return Watermark() if row is None else Watermark(*row)

    def set_watermark(self, watermark: Watermark) -> None:
        """Set the watermark, in the transaction of the rows that it covers."""
        columns = self.watermark_columns
        self.connection.execute(
            f"INSERT OR REPLACE INTO watermark (id, {', '.join(columns)}) "
            f"VALUES (1{', ?' * len(columns)})",
            msgspec.structs.astuple(watermark)[: len(columns)],
        )

    def project(self, sections: Iterable[Section]) -> None:
        """Apply sections in order, in the caller's transaction.

        Raises:
            IntegrityError: a row has an integer beyond 64 bits.
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
                f"{self.name}: a change record has a row with an integer beyond 64 bits, which "
                "recollect never writes; run recollect verify"
            ) from None

    def _flush(self, pending: dict[type[Row], list[Row]]) -> None:
        for row, values in pending.items():
            self.connection.executemany(put_statement(row), map(msgspec.structs.astuple, values))
        pending.clear()

    def _delete(self, deletes: Sequence[Delete]) -> None:
        for delete in deletes:
            self.connection.execute(delete_statement(delete.table), delete.key)

    def row(self, kind: type[RowType], key: Sequence[object]) -> RowType | None:
        """Return the row with a key, or None."""
        found = self.connection.execute(_select_statement(kind), tuple(key)).fetchone()
        return None if found is None else kind(*found)

    def mark_purge_pending(self) -> None:
        """Set the purge flag, in the caller's transaction.

        The flag means that deleted rows may leave traces. It is committed or rolled back with the
        deletions, and the next process that opens the file sees it. It is stored in the file's
        header, since it is not content.
        """
        self.connection.execute(f"PRAGMA application_id = {_PURGE_PENDING}")

    def is_purge_pending(self) -> bool:
        """Return whether erased rows may leave traces, here or in other generations."""
        return int(scalar(self.connection, "PRAGMA application_id")) == _PURGE_PENDING

    def clear_purge_pending(self) -> None:
        """Clear the purge flag, once no traces are left anywhere."""
        self.connection.execute("PRAGMA application_id = 0")

    def purge(self) -> bool:
        """Remove all traces of deleted rows; return False if another process prevented it."""
        if self.full_text_index is not None:
            with atomic(self.connection):
                if full_text.holds_erased_terms(self.connection, self.full_text_index):
                    full_text.rebuild(self.connection, self.full_text_index)
        return scrub(self.connection)

    def close(self) -> None:
        """Close the file."""
        self.connection.close()


def row_key(row: Row) -> tuple[str, tuple[str | int, ...]]:
    """Return the table of a row and the values of its key."""
    return row.TABLE, _key_getter(type(row))(row)


@cache
def _key_getter(kind: type[Row]) -> Callable[[Row], tuple[str | int, ...]]:
    if len(kind.KEY) > 1:
        return attrgetter(*kind.KEY)
    value = attrgetter(kind.KEY[0])
    return lambda row: (value(row),)


@cache
def put_statement(row: type[Row]) -> str:
    """Return the statement that inserts a row, or replaces the row with its key."""
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
    """Return the rows of a table in key order, as tuples of the struct's fields."""
    columns = ", ".join(row.__struct_fields__)
    return connection.execute(f"SELECT {columns} FROM {row.TABLE} ORDER BY {', '.join(row.KEY)}")
