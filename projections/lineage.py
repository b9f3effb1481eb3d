"""Which rows went or became another, so that an index of rows can lose just those.

An index that followed the rows up to a watermark goes on from there, and asks here what went
since. The rows are told by number alone, for as long as few enough went; nothing of it is part of
what is known. The triggers that note it stand in the migrations of each file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import apsw

from projections.sqlite import listed, rows, value
from schemas.errors import Damaged

TABLES = ("lineage", "changed_rows")


def lineage(connection: apsw.Connection) -> int:
    """Return how often a row of the file went or became another.

    Raises:
        Damaged: the file does not say.
    """
    changes = value(connection, "SELECT changes FROM lineage")
    if not isinstance(changes, int):
        raise Damaged(
            f"{connection.filename} does not say how often its rows changed; run recollect rebuild"
        )
    return changes


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
