"""Whether the disk of a home has room, and which errors say that it has none."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import apsw

from recollect.schemas.errors import DiskFull

#: With less free space, SQLite cannot even begin the WAL of a file.
LEAST_FREE_BYTES = 1 << 20
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


def has_room(directory: Path) -> bool:
    """Return whether a directory, which exists, is on a disk with room to write anything at all."""
    found = os.statvfs(directory)
    # Root may use what is reserved.
    blocks = found.f_bfree if os.geteuid() == 0 else found.f_bavail
    # A file system that counts nothing says 0 of everything.
    space = not found.f_blocks or blocks * found.f_frsize >= LEAST_FREE_BYTES
    return space and (not found.f_files or found.f_ffree > 0)


def is_disk_full(error: BaseException) -> bool:
    """Return whether an error says that there is no room."""
    if isinstance(error, OSError):
        return error.errno in _NO_SPACE
    return isinstance(error, apsw.FullError | DiskFull)
