"""Files as builds before this one made them: each layout that ever was, in tests/data/layouts.

A layout is called by its file, the version that the file has written in it, and a letter where
several layouts have the same: `memory-3`, `ledger-0b`. The first commits of identity.db and
memory.db are left out: nothing tells them from what took their place within the hour.
"""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import sqlite_vec

from recollect.projections.sqlite import rows, scalar

FOLDER = Path(__file__).resolve().parents[1] / "data" / "layouts"
LAYOUTS = sorted(path.stem for path in FOLDER.glob("*.sql"))


def opened(path: Path) -> apsw.Connection:
    """Return a connection that can read the vector index as well."""
    connection = apsw.Connection(str(path))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    return connection


def shape(path: Path) -> dict[str, Any]:
    """Return what a file's tables, indexes, triggers and views are, as SQLite understands them."""
    with closing(opened(path)) as connection:
        found: dict[str, Any] = {}
        for kind, name, table, sql in rows(
            connection, "SELECT type, name, tbl_name, sql FROM sqlite_schema"
        ):
            if kind == "table":
                info = connection.execute(
                    'SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_xinfo(?)',
                    (name,),
                )
                indexes = connection.execute(
                    'SELECT "unique", origin, partial FROM pragma_index_list(?) ORDER BY 1, 2, 3',
                    (name,),
                )
                (ways,) = connection.execute(
                    "SELECT type, wr, strict FROM pragma_table_list(?) WHERE schema = 'main'",
                    (name,),
                )
                found[name] = (info.fetchall(), indexes.fetchall(), ways)
            elif sql is not None:
                found[name] = (kind, table, re.sub(r"\s+", " ", sql))
        return found | {"user_version": scalar(connection, "PRAGMA user_version")}


def make(path: Path, layout: str, model: str = "m", dimension: int = 3) -> None:
    """Make a file of a layout; the index of vectors is for a model of this dimension."""
    statements = (FOLDER / f"{layout}.sql").read_text()
    statements = statements.replace("'m'", apsw.format_sql_value(model))
    with closing(opened(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(re.sub(r"(float|int8)\[3\]", rf"\1[{dimension}]", statements)).fetchall()
        connection.execute("COMMIT")


def set_back(path: Path, layout: str, model: str = "m", dimension: int = 3) -> None:
    """Give a file of today an older layout, with the rows for which that has a place."""
    newer = path.rename(path.with_name(f"newer-{path.name}"))
    make(path, layout, model, dimension)
    with closing(opened(path)) as connection:
        connection.execute("ATTACH ? AS newer", (str(newer),))
        connection.create_scalar_function("floats", _floats)
        for table, columns in _shared(connection):
            connection.execute(f"DELETE FROM main.{table}")
            # Builds before wrote a vector as float32; these become the same bytes again.
            values = columns.replace("embedding,", "floats(embedding),")
            connection.execute(
                f"INSERT INTO main.{table} ({columns}) SELECT {values} FROM newer.{table}"
            )
    for left in path.parent.glob(f"newer-{path.name}*"):
        left.unlink()


def _floats(*arguments: Any) -> bytes:
    (vector,) = arguments
    floats: bytes = np.frombuffer(vector, np.int8).astype("<f4").tobytes()
    return floats


def _shared(connection: apsw.Connection) -> list[tuple[str, str]]:
    """Return the ordinary tables that both files have, each with the columns of both."""
    return rows(
        connection,
        """
        SELECT list.name, group_concat(ours.name, ', ')
          FROM pragma_table_list AS list
          JOIN pragma_table_info(list.name, 'main') AS ours
          JOIN pragma_table_info(list.name, 'newer') AS theirs ON theirs.name = ours.name
         WHERE list.schema = 'main' AND list.type = 'table'
           AND list.name NOT LIKE 'sqlite_%' AND list.name NOT LIKE 'vec_embeddings_%'
         GROUP BY list.name
        """,
    )
