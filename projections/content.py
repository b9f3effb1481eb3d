"""The content hash of a read model, independent of row order, page layout and machine."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import apsw
import msgspec

from recollect.projections import row_changes
from recollect.projections.embeddings.embeddings_file import IS_SEARCHED
from recollect.projections.readmodel import ReadModel
from recollect.projections.sqlite import rows, scalar

# Bookkeeping tables, excluded from the content: the watermark, the log of changed rows, and the
# erasures, of which a file of an earlier build lacks those before its migration.
_NON_CONTENT_TABLES = frozenset({"watermark", "erasures", *row_changes.TABLES})
# Table -> the condition on its rows that count as content. Untraced conclusions are left out:
# builds before tracing wrote none, but a replay of their records does.
_ROW_FILTERS = {"conclusions": "traced"}
# Columns of rowids of the vector index; these depend on insertion order.
_EXCLUDED_COLUMNS = frozenset({"seq"})

_COMMENT = re.compile(r"--[^\n]*")
_WORDS = re.compile(r'\w+|[^\w\s"]')

# Columns that hold an event number in every table, and columns that hold a JSON list of them.
_NUMBERS = frozenset({"number", "event_number", "about"})
_NUMBER_LISTS = frozenset({"sources"})

_pack = msgspec.msgpack.Encoder()


class Table(NamedTuple):
    """A table of content, with its columns and the columns of its primary key."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]


def content_tables(model: ReadModel, *, of_ledger: bool = False) -> list[Table]:
    """Return the content tables, by name, without search indexes and their shadow tables.

    `of_ledger`: include the tables that depend on the keys and chains of this ledger.
    """
    connection = model.connection
    all_tables = rows(connection, "SELECT name, type FROM pragma_table_list WHERE schema = 'main'")
    # Unlike fts5, vec0 does not declare its shadow tables as such.
    indexes = tuple(f"{name}_" for name, kind in all_tables if kind == "virtual")
    names = sorted(
        name
        for name, kind in all_tables
        if kind == "table"
        and name not in _NON_CONTENT_TABLES
        and (of_ledger or name not in model.ledger_tables)
        and not name.startswith(("sqlite_", *indexes))
    )
    tables = []
    for name in names:
        columns = rows(
            connection, "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", (name,)
        )
        key = tuple(column for column, pk in sorted(columns, key=lambda item: item[1]) if pk)
        kept = tuple(column for column, _ in columns if column not in _EXCLUDED_COLUMNS)
        if not key or set(key) & _EXCLUDED_COLUMNS:
            key = kept
        tables.append(Table(name, kept, key))
    return tables


def row_counts(model: ReadModel) -> dict[str, int]:
    """Return the number of rows of each content table, the ledger's tables included."""
    return {
        table.name: scalar(model.connection, f'SELECT count(*) FROM "{table.name}"')
        for table in content_tables(model, of_ledger=True)
    }


def rows_of(connection: apsw.Connection, table: Table) -> apsw.Cursor:
    """Return the rows of a table in key order."""
    return connection.execute(
        f"SELECT {', '.join(map(_quoted, table.columns))} FROM {_quoted(table.name)} "
        f"WHERE {_ROW_FILTERS.get(table.name, 'TRUE')} "
        f"ORDER BY {', '.join(map(_quoted, table.key))}"
    )


def content_hash(model: ReadModel, switches: Sequence[int] = ()) -> str:
    """Return the hash of a read model's content: BLAKE2b-256 in hex.

    `switches`: the numbers of the records that switch the zone's chain, ascending. Event numbers
    are hashed as if these records did not exist, since content does not depend on the chain in use.
    """
    digest = hashlib.blake2b(digest_size=32)
    for table in content_tables(model):
        digest.update(_pack.encode(table))
        counted = [column for column in table.columns if column in _NUMBERS | _NUMBER_LISTS]
        places = [table.columns.index(column) for column in counted] if switches else []
        for row in rows_of(model.connection, table):
            if places:
                changed = list(row)
                for place in places:
                    changed[place] = _without_switches(row[place], switches)
                row = tuple(changed)
            digest.update(_pack.encode(row))
    return digest.hexdigest()


def _without_switches(value: object, switches: Sequence[int]) -> object:
    """Return a number of an event, or a JSON list of them, as if there were no switches."""
    if isinstance(value, int):
        return value - bisect_left(switches, value)
    if isinstance(value, str):
        numbers = msgspec.json.decode(value, type=list[int])
        counted = [number - bisect_left(switches, number) for number in numbers]
        return msgspec.json.encode(counted).decode()
    return value


def content_problems(live: ReadModel, replayed: ReadModel, limit: int = 5) -> list[str]:
    """Return the differences between a file and its replay, at most `limit` rows per table."""
    problems = []
    actual, expected = live.watermark(), replayed.watermark()
    if actual != expected:
        problems.append(
            f"{live.name}.watermark: is at record {actual.number} (offset {actual.offset}), the "
            f"replay at {expected.number} (offset {expected.offset})"
        )
    problems += _schema_problems(live, replayed)
    tables = {table.name: table for table in content_tables(replayed, of_ledger=True)}
    for table in content_tables(live, of_ledger=True):
        if tables.get(table.name) == table:
            problems += _row_problems(live, replayed, table, limit)
    return problems


def _row_problems(live: ReadModel, replayed: ReadModel, table: Table, limit: int) -> list[str]:
    ours = rows_of(live.connection, table)
    theirs = rows_of(replayed.connection, table)
    key_indices = [table.columns.index(column) for column in table.key]

    def key_of(row: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(_pack.encode(row[index]) for index in key_indices)

    # Equal rows are skipped while reading, so that only differing rows are kept in memory.
    extra: dict[tuple[object, ...], tuple[object, ...]] = {}
    missing: dict[tuple[object, ...], tuple[object, ...]] = {}
    while True:
        our_row, their_row = ours.fetchone(), theirs.fetchone()
        if our_row is None and their_row is None:
            break
        if our_row == their_row:
            continue
        if our_row is not None:
            extra[key_of(our_row)] = our_row
        if their_row is not None:
            missing[key_of(their_row)] = their_row
        for key in extra.keys() & missing.keys():
            if extra[key] == missing[key]:
                del extra[key], missing[key]
    problems = []
    for key in sorted(extra.keys() | missing.keys(), key=repr):
        row = extra.get(key) or missing[key]
        name = ", ".join(f"{table.columns[index]}={_short(row[index])}" for index in key_indices)
        if key not in missing:
            what = "the replay has no such row"
        elif key not in extra:
            what = "missing; the replay has this row"
        else:
            differing = [
                column
                for column, our_value, their_value in zip(
                    table.columns, extra[key], missing[key], strict=True
                )
                if our_value != their_value
            ]
            what = f"{', '.join(differing)} differs from the replay"
        problems.append(f"{live.name}.{table.name} ({name}): {what}")
    if len(problems) > limit:
        problems[limit:] = [f"{live.name}.{table.name}: {len(problems) - limit} more rows differ"]
    return problems


def _schema_problems(live: ReadModel, replayed: ReadModel) -> list[str]:
    ours, theirs = schema_statements(live.connection), schema_statements(replayed.connection)
    problems = []
    for name in sorted(ours.keys() | theirs.keys()):
        if ours.get(name) != theirs.get(name):
            what = "is missing" if name not in ours else "differs from the one that recollect makes"
            problems.append(f"{live.name}: the table, index, view or trigger {name} {what}")
    return problems


def schema_statements(connection: apsw.Connection) -> dict[str, list[str]]:
    """Return name -> tokens of the CREATE statement of each table, index, view and trigger.

    Comments, whitespace and quotes are dropped, since they differ between releases.
    """
    found = rows(connection, "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    return {name: _WORDS.findall(_COMMENT.sub("", sql)) for name, sql in found}


def index_problems(model: ReadModel) -> list[str]:
    """Return problems with a file's pages and with the search indexes derived from its rows."""
    problems = []
    for (answer,) in model.connection.execute("PRAGMA quick_check"):
        if answer != "ok":
            problems.append(f"{model.name}.db: {answer}")
    indexes = model.connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%' ORDER BY name"
    ).fetchall()
    for name, sql in indexes:
        if "fts5" in str(sql):
            try:
                model.connection.execute(
                    f"INSERT INTO {name}({name}, rank) VALUES ('integrity-check', 1)"
                )
            except (apsw.CorruptError, apsw.SQLError) as error:
                problems.append(
                    f"{model.name}.{name}: the full-text index does not match its rows ({error}); "
                    "run recollect rebuild --level index"
                )
        elif "vec0" in str(sql):
            problems += _vector_problems(model, str(name))
    return problems


def _vector_problems(model: ReadModel, name: str) -> list[str]:
    ((wrong,),) = model.connection.execute(
        f"""
        SELECT count(*) FROM embeddings AS row LEFT JOIN {name} AS entry ON entry.rowid = row.seq
         WHERE row.model = ?1 AND row.{IS_SEARCHED} AND (
               entry.embedding IS NOT row.embedding OR entry.target_id IS NOT row.target_id
               OR entry.target_type IS NOT row.target_type)
        """,
        (getattr(model, "model", None),),
    ).fetchall()
    ((entries,),) = model.connection.execute(f"SELECT count(*) FROM {name}").fetchall()
    ((rows,),) = model.connection.execute(
        f"SELECT count(*) FROM embeddings WHERE model = ? AND {IS_SEARCHED}",
        (getattr(model, "model", None),),
    ).fetchall()
    if wrong or entries != rows:
        return [
            f"{model.name}.{name}: {wrong} entries differ from their rows, and {rows} rows have "
            f"{entries} entries; run recollect rebuild --level index"
        ]
    return []


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
