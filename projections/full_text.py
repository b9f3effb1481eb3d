"""The full-text index of a read model: an FTS5 table over the rows of another table."""

from __future__ import annotations

import apsw

from recollect.projections.sqlite import scalar


def rebuild(connection: apsw.Connection, table: str) -> None:
    """Rebuild the index from its rows, in the caller's transaction."""
    connection.execute(f"INSERT INTO {table}({table}) VALUES ('rebuild')")


def holds_erased_terms(connection: apsw.Connection, table: str) -> bool:
    """Return whether the index holds the start of a term that no row has.

    FTS5's `secure-delete` erases a term from the leaves of the index, but not from the keys of its
    leaves: the key of a leaf is the start of the leaf's first term, as far as needed to tell it
    from the term before.
    """
    connection.execute(f"CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, {table}, row)")
    try:
        # The first byte of a key names the index: this is the one without prefixes.
        start = "CAST(substr(leaf.term, 2) AS TEXT)"
        stale_term = scalar(
            connection,
            f"SELECT 1 FROM {table}_idx AS leaf WHERE length(leaf.term) > 1 AND NOT EXISTS ("
            "SELECT 1 FROM temp.terms AS live "
            f"WHERE live.term >= {start} AND live.term < {start} || char(1114111))",
        )
    finally:
        connection.execute("DROP TABLE temp.terms")
    return stale_term is not None
