"""File locks between processes of one home; the system releases them when a process dies."""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from recollect.projections.file_permissions import FILE_MODE, make_directory, writable
from recollect.schemas.errors import Busy

# Errors that mean that a path, or a directory above it, is not writable.
_UNWRITABLE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})

# A forked process inherits its parent's descriptors, and would hold their locks until it ends.
_open: set[int] = set()
_opening = threading.Lock()


def _close_inherited() -> None:
    """Close the inherited descriptors; the parent keeps its locks."""
    for descriptor in _open:
        os.close(descriptor)
    _open.clear()
    _opening.release()


os.register_at_fork(
    before=_opening.acquire, after_in_parent=_opening.release, after_in_child=_close_inherited
)


def is_locked(path: Path) -> bool:
    """Return whether a process holds a lock file now."""
    try:
        with exclusive(path, wait=False):
            return False
    except Busy:
        return True


def exclusive(path: Path, *, wait: bool = True) -> AbstractContextManager[None]:
    """Hold a lock file exclusively; no lock is taken in a directory that is not writable.

    Raises:
        Busy: `wait` is False and another process holds it.
    """
    return _hold(path, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def shared(path: Path) -> AbstractContextManager[None]:
    """Hold a shared lock on a file. Otherwise like `exclusive(wait=False)`.

    Raises:
        Busy: a process holds it exclusively.
    """
    return _hold(path, fcntl.LOCK_SH | fcntl.LOCK_NB)


@contextmanager
def _hold(path: Path, operation: int) -> Iterator[None]:
    try:
        make_directory(path.parent)
        with _opening:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
            _open.add(descriptor)
    except OSError as error:
        if error.errno not in _UNWRITABLE or writable(path.parent):
            raise
        # No process here can change such a home, so readers need no lock.
        yield
        return
    try:
        try:
            fcntl.flock(descriptor, operation)
        except BlockingIOError:
            raise Busy(f"another recollect holds {path}; wait for it or stop it") from None
        yield
    finally:
        with _opening:
            # After a fork, the child has closed it already.
            if descriptor in _open:
                _open.remove(descriptor)
                os.close(descriptor)
