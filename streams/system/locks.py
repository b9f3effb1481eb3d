"""Locks between the processes of one home; the system releases them when a process dies."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from projections.private import FILE_MODE, make_directory, writable
from schemas.errors import Busy

# A path of which a directory cannot be made or entered is not writable either.
_UNWRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


def held(path: Path) -> bool:
    """Return whether a process holds a lock file now."""
    try:
        with exclusive(path, wait=False):
            return False
    except Busy:
        return True


@contextmanager
def exclusive(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a lock file; none where the directory cannot be written to.

    Raises:
        Busy: `wait` is False and another process holds it.
    """
    try:
        make_directory(path.parent)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
    except OSError as error:
        if error.errno not in _UNWRITABLE or writable(path.parent):
            raise
        # Nobody here can change such a home, so readers need no lock.
        yield
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise Busy(f"another recollect holds {path}; wait for it or stop it") from None
        yield
    finally:
        os.close(descriptor)
