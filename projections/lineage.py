"""Which rows went or became another, so that an index of rows can lose just those.

An index that followed the rows up to a watermark goes on from there, and asks here what went
since. The rows are told by number alone, for as long as few enough went; nothing of it is part of
what is known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import apsw

from projections.sqlite import listed, rows, value

TABLES = ("lineage", "changed_rows")
# An index that is further behind is made anew, which takes no longer than to lose so many.
MOST_CHANGED = 100_000

_TABLES = """
CREATE TABLE IF NOT EXISTS lineage (
    id      INTEGER PRIMARY KEY CHECK (id = 1),
    changes INTEGER NOT NULL
);
INSERT OR IGNORE INTO lineage VALUES (1, 0);
CREATE TABLE IF NOT EXISTS changed_rows (
    change     INTEGER PRIMARY KEY,
    table_name TEXT    NOT NULL,
    row_id     INTEGER NOT NULL
);
"""
_NOTED = f"""BEGIN
    UPDATE lineage SET changes = changes + 1;
    INSERT INTO changed_rows SELECT changes, '{{table}}', OLD.rowid FROM lineage;
    DELETE FROM changed_rows WHERE change <= (SELECT changes FROM lineage) - {MOST_CHANGED};
END;
"""
_TRIGGERS = f"""
DROP TRIGGER IF EXISTS {{table}}_gone;
CREATE TRIGGER {{table}}_gone AFTER DELETE ON {{table}}
{_NOTED}
DROP TRIGGER IF EXISTS {{table}}_changed;
CREATE TRIGGER {{table}}_changed AFTER UPDATE OF {{columns}} ON {{table}} WHEN {{differs}}
{_NOTED}
"""


def lineage_schema(indexed: Mapping[str, Sequence[str]]) -> str:
    """Return the statements that note changes of these tables, each in its indexed columns.

    They take the place of what an older file has for it.
    """
    return _TABLES + "".join(
        _TRIGGERS.format(
            table=table,
            columns=", ".join(columns),
            differs=" OR ".join(f"NEW.{column} IS NOT OLD.{column}" for column in columns),
        )
        for table, columns in indexed.items()
    )


def lineage(connection: apsw.Connection) -> int:
    """Return how often a row of the file went or became another."""
    return int(value(connection, "SELECT changes FROM lineage"))


def changed_since(connection: apsw.Connection, changes: int) -> dict[str, list[int]] | None:
    """Return, by table, the rowids that went or became another after so many `changes`.

    None where that is no longer known, or where there never were so many.
    """
    missed = lineage(connection) - changes
    if not missed:
        return {}
    found = rows(
        connection, "SELECT table_name, row_id FROM changed_rows WHERE change > ?", (changes,)
    )
    if len(found) != missed:
        return None
    by_table: dict[str, list[int]] = defaultdict(list)
    for table, row in found:
        by_table[table].append(row)
    return by_table


def replaced(
    connection: apsw.Connection,
    table: str,
    changed: Sequence[int],
    last: int,
    wanted: str = "1",
) -> bool:
    """Return whether a row that is `wanted` became another up to rowid `last`.

    An index that let go what changed, and holds `last` as its last row, reads on after that: what
    came since, which may have been given rowids that went. A row amidst those that it holds would
    not come.
    """
    there = rows(
        connection,
        f"SELECT {table}.rowid FROM json_each(?) AS near "
        f"CROSS JOIN {table} ON {table}.rowid = near.value WHERE {wanted}",
        (listed(changed),),
    )
    return any(rowid <= last for (rowid,) in there)
