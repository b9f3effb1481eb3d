"""Which rows were deleted or changed, so that an index of rows can drop just those.

An index that has the rows up to a watermark goes on from there, and reads here which rows to drop.
They are noted by rowid, as long as they are few, and are no content. The triggers that note them
stand in the migrations of each file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import apsw

from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.errors import CorruptFile

TABLES = ("lineage", "changed_rows")


def change_count(connection: apsw.Connection) -> int:
    """Return how often a row of the file was deleted or changed.

    Raises:
        CorruptFile: the file does not say.
    """
    changes = scalar(connection, "SELECT changes FROM lineage")
    if not isinstance(changes, int):
        raise CorruptFile(
            f"{connection.filename} does not say how often its rows changed; run recollect rebuild"
        )
    return changes


def changed_since(connection: apsw.Connection, changes: int) -> dict[str, list[int]] | None:
    """Return, by table, the rowids that were deleted or changed after so many `changes`.

    None if that is no longer known, or if there never were so many.
    """
    missed = change_count(connection) - changes
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


def has_reused_row(
    connection: apsw.Connection,
    table: str,
    changed: Sequence[int],
    last: int,
    wanted: str = "1",
) -> bool:
    """Return whether a `wanted` row was changed up to rowid `last`.

    An index drops changed rows and then reads the rows after `last`, its last row. New rows may
    reuse deleted rowids. It would miss a row that was changed below `last`.
    """
    there = rows(
        connection,
        f"SELECT {table}.rowid FROM json_each(?) AS near "
        f"CROSS JOIN {table} ON {table}.rowid = near.value WHERE {wanted}",
        (json_array(changed),),
    )
    return any(rowid <= last for (rowid,) in there)
