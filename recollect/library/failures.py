"""The message and the kind of an error that ended a command."""

from __future__ import annotations

from errno import ENOSPC
from typing import NamedTuple

import apsw

from recollect.schemas.errors import CorruptFile, DiskFull, HomeError, InvalidInput, RecollectError

_DISK_FULL = "the disk is full; nothing was lost: free some space and try again"


class Failure(NamedTuple):
    """A message that says what happened and what to do.

    `is_usage_error`: the command or its input must be corrected.
    """

    message: str
    is_usage_error: bool = False


def failure(error: Exception) -> Failure | None:
    """Return the failure for an expected error; None for a bug in this program."""
    if isinstance(error, RecollectError):
        is_usage = isinstance(error, InvalidInput | HomeError)
        return Failure(str(error), is_usage and not isinstance(error, CorruptFile | DiskFull))
    if isinstance(error, apsw.Error):
        return Failure(_sqlite_message(error))
    if isinstance(error, OSError):
        if error.errno == ENOSPC:
            return Failure(_DISK_FULL)
        return Failure(f"{error.strerror or error}: {error.filename or 'file'}")
    return None


def _sqlite_message(error: apsw.Error) -> str:
    if isinstance(error, apsw.FullError):
        return _DISK_FULL
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return (
            f"a file of this home is damaged ({error}): if recollect doctor names ledger.db or "
            "keys.db, restore a backup; any other file is derived, and recollect rebuild recreates "
            "it"
        )
    if isinstance(error, apsw.SQLError):
        return f"a file of this home lacks a table ({error}); run recollect rebuild"
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return "another process has locked a file of this home; try again"
    if isinstance(error, apsw.IOError):
        return (
            f"a file of this home could not be read or written ({error}); perhaps the disk is "
            "full or failing; run recollect doctor to see what to do"
        )
    return f"SQLite: {error}; run recollect doctor"
