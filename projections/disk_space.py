"""Free disk space of a home, and detection of errors that mean a full disk."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import apsw

from recollect.schemas.errors import DiskFull

#: With less free space SQLite cannot even create a WAL.
MIN_FREE_BYTES = 1 << 20
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


def has_room(directory: Path) -> bool:
    """Return whether the file system of an existing directory has room for any write."""
    found = os.statvfs(directory)
    # Root may use reserved blocks.
    blocks = found.f_bfree if os.geteuid() == 0 else found.f_bavail
    # Some file systems keep no counts and report 0 for all of them.
    space = not found.f_blocks or blocks * found.f_frsize >= MIN_FREE_BYTES
    return space and (not found.f_files or found.f_ffree > 0)


def is_disk_full(error: BaseException) -> bool:
    """Return whether an error means a full disk or quota."""
    if isinstance(error, OSError):
        return error.errno in _NO_SPACE
    return isinstance(error, apsw.FullError | DiskFull)
