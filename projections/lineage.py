"""Whether rows only came since: how often a row went or became another.

An index that followed the rows up to a watermark goes on from there where none did; else it is
made anew. How often is no part of what is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import apsw

from projections.sqlite import value

TABLE = "lineage"

_TOKEN = f"""
CREATE TABLE IF NOT EXISTS {TABLE} (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    changes INTEGER NOT NULL
);
INSERT OR IGNORE INTO {TABLE} VALUES (1, 0);
"""
_TRIGGERS = """
CREATE TRIGGER IF NOT EXISTS {table}_gone AFTER DELETE ON {table}
BEGIN
    UPDATE lineage SET changes = changes + 1;
END;
CREATE TRIGGER IF NOT EXISTS {table}_changed AFTER UPDATE OF {columns} ON {table} WHEN {differs}
BEGIN
    UPDATE lineage SET changes = changes + 1;
END;
"""


def lineage_schema(indexed: Mapping[str, Sequence[str]]) -> str:
    """Return the statements that count changes of these tables, each in its indexed columns."""
    return _TOKEN + "".join(
        _TRIGGERS.format(
            table=table,
            columns=", ".join(columns),
            differs=" OR ".join(f"NEW.{column} IS NOT OLD.{column}" for column in columns),
        )
        for table, columns in indexed.items()
    )


def lineage(connection: apsw.Connection) -> int:
    """Return how often a row of the file went or became another."""
    return int(value(connection, f"SELECT changes FROM {TABLE}"))
