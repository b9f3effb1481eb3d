"""Scrubbing: overwriting the copies of deleted rows that SQLite leaves in a file.

`secure_delete` zeroes a cell when it is deleted, but not the places from which the cell was moved
before. SQLite rebuilds pages when it balances a b-tree, and then the bytes of moved cells stay in a
page's gap: the unallocated bytes between its cell pointers and its cells.
"""

from __future__ import annotations

from pathlib import Path

import apsw

from recollect.projections.sqlite import atomic, raw_file, rows, scalar, truncate_wal

# Attempts to take the write lock while the WAL is empty; each fails if another process writes.
_ATTEMPTS = 100
# The first page begins with the header of the file.
_FILE_HEADER_BYTES = 100
_IS_LEAF = 0x08


def scrub(connection: apsw.Connection) -> bool:
    """Empty the WAL and zero the gaps of all pages; return False if another process prevented it.

    Deleted rows are then in no byte of the file. SQLite never reads a gap, so others can read the
    file meanwhile, a crash at any point does no harm, and no disk space is needed.
    """
    if not connection.filename:
        # A database in memory.
        return True
    for _ in range(_ATTEMPTS):
        if not truncate_wal(connection):
            return False
        with atomic(connection):
            # While the WAL is empty, the file is the whole database, and no checkpoint writes to
            # it. This transaction keeps the WAL empty.
            if scrubbed := not _has_wal(connection):
                _zero_gaps(connection)
                # Cached pages have the old gaps, and would write them back. After a commit, other
                # connections drop them.
                number = scalar(connection, "PRAGMA application_id")
                connection.execute(f"PRAGMA application_id = {number}")
        if scrubbed:
            connection.file_control("main", apsw.SQLITE_FCNTL_RESET_CACHE, 0)
            return True
    return False


def _has_wal(connection: apsw.Connection) -> bool:
    wal = Path(connection.filename_wal)
    return wal.exists() and wal.stat().st_size > 0


def _zero_gaps(connection: apsw.Connection) -> None:
    size = int(scalar(connection, "PRAGMA page_size"))
    pages = rows(
        connection,
        "SELECT pageno FROM dbstat WHERE pagetype IN ('internal', 'leaf') ORDER BY pageno",
    )
    with raw_file(connection.filename, writable=True) as file:
        for (number,) in pages:
            offset = (number - 1) * size
            page = file.xRead(size, offset)
            start, end = _gap(page, _FILE_HEADER_BYTES if number == 1 else 0)
            if page.count(0, start, end) < end - start:
                file.xWrite(bytes(end - start), offset + start)
        file.xSync(apsw.SQLITE_SYNC_FULL)


def _gap(page: bytes, header: int) -> tuple[int, int]:
    """Return the start and the end of a b-tree page's gap; `header`: the offset of its header."""
    cells = int.from_bytes(page[header + 3 : header + 5], "big")
    # 65,536 is stored as 0.
    end = int.from_bytes(page[header + 5 : header + 7], "big") or 65_536
    return header + (8 if page[header] & _IS_LEAF else 12) + 2 * cells, end
