"""Scrubbing: overwriting the copies of deleted rows that SQLite leaves in a file.

`secure_delete` zeroes a cell when it is deleted, but not the places from which the cell was moved
before. SQLite rebuilds pages when it balances a b-tree, and then the bytes of moved cells stay in a
page's gap: the unallocated bytes between its cell pointers and its cells.
"""

from __future__ import annotations

import struct
from collections.abc import Container
from pathlib import Path

import apsw

from recollect.projections.sqlite import atomic, raw_file, scalar, truncate_wal

# Attempts to take the write lock while the WAL is empty; each fails if another process writes.
_ATTEMPTS = 100
# The first page begins with the header of the file.
_FILE_HEADER_BYTES = 100
# The type of a b-tree page, which is its first byte -> the offset of its cell pointers.
_CELL_POINTERS = {0x02: 12, 0x05: 12, 0x0A: 8, 0x0D: 8}
# Other pages begin with a page number of four bytes, or are free. In a file of this many pages, a
# number may begin like a b-tree page.
_AMBIGUOUS_PAGES = 0x02_00_00_00
# The number of cells, and the offset of the first.
_HEADER = struct.Struct(">3xHH")
_BYTES_AT_ONCE = 1 << 20


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
    count = int(scalar(connection, "PRAGMA page_count"))
    trees = _tree_pages(connection, count)
    at_once = max(_BYTES_AT_ONCE // size, 1)
    with raw_file(connection.filename, writable=True) as file:
        for first in range(0, count, at_once):
            pages = file.xRead(min(at_once, count - first) * size, first * size)
            for page in range(0, len(pages), size):
                header = page + (_FILE_HEADER_BYTES if first == page == 0 else 0)
                if pages[header] not in _CELL_POINTERS or first + page // size + 1 not in trees:
                    continue
                start, end = _gap(pages, page, header)
                if pages.count(0, start, end) < end - start:
                    file.xWrite(bytes(end - start), first * size + start)
        file.xSync(apsw.SQLITE_SYNC_FULL)


def _tree_pages(connection: apsw.Connection, count: int) -> Container[int]:
    """Return the numbers of the b-tree pages; all numbers where the type of a page is certain."""
    if count < _AMBIGUOUS_PAGES:
        return range(1, count + 1)
    found = connection.execute("SELECT pageno FROM dbstat WHERE pagetype IN ('internal', 'leaf')")
    return {number for (number,) in found}


def _gap(pages: bytes, page: int, header: int) -> tuple[int, int]:
    """Return the start and the end of a b-tree page's gap.

    `page`, `header`: the offsets of the page and of its header.
    """
    cells, end = _HEADER.unpack_from(pages, header)
    # 65,536 is stored as 0.
    return header + _CELL_POINTERS[pages[header]] + 2 * cells, page + (end or 65_536)
