"""The log of deleted and changed rows, for incremental pruning of an index over a file.

An index that is current up to a watermark reads only later rows from the tables, and learns from
this log which earlier rows to drop. Triggers, defined in the migrations of each file, log the
rowids of recent changes and count all changes. The log does not count towards the content hash.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import apsw

from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.errors import CorruptFile

TABLES = ("lineage", "changed_rows")


def change_count(connection: apsw.Connection) -> int:
    """Return the number of row deletions and changes since the file was made.

    Raises:
        CorruptFile: the count is missing.
    """
    changes = scalar(connection, "SELECT changes FROM lineage")
    if not isinstance(changes, int):
        raise CorruptFile(
            f"{connection.filename} lacks the count of its row changes; run recollect rebuild"
        )
    return changes


def changed_since(connection: apsw.Connection, changes: int) -> dict[str, list[int]] | None:
    """Return table -> rowids deleted or changed after the first `changes` changes.

    None if the log no longer reaches back that far, or the file has had fewer changes.
    """
    expected = change_count(connection) - changes
    if not expected:
        return {}
    change_rows = rows(
        connection, "SELECT table_name, row_id FROM changed_rows WHERE change > ?", (changes,)
    )
    if len(change_rows) != expected:
        return None
    by_table: dict[str, list[int]] = defaultdict(list)
    for table, row in change_rows:
        by_table[table].append(row)
    return by_table


def has_reused_row(
    connection: apsw.Connection,
    table: str,
    changed: Sequence[int],
    last: int,
    condition: str = "1",
) -> bool:
    """Return whether one of the `changed` rowids up to `last` has a row that meets `condition`.

    Such a row was updated, or it reuses the rowid of a deleted row. An index that drops the changed
    rows and then reads only the rows after `last` would miss it.
    """
    present = rows(
        connection,
        f"SELECT {table}.rowid FROM json_each(?) AS rowids "
        f"CROSS JOIN {table} ON {table}.rowid = rowids.value WHERE {condition}",
        (json_array(changed),),
    )
    return any(rowid <= last for (rowid,) in present)
