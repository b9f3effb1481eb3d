"""File locks between processes of one home; the kernel releases them when a process dies."""

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

# The descriptors of held locks. A forked child inherits them and must close its copies: otherwise
# the locks would stay held until the child ends.
_open_descriptors: set[int] = set()
_open_lock = threading.Lock()


def _close_inherited() -> None:
    """Close the child's copies of the descriptors; the parent keeps its locks."""
    for descriptor in _open_descriptors:
        os.close(descriptor)
    _open_descriptors.clear()
    _open_lock.release()


os.register_at_fork(
    before=_open_lock.acquire, after_in_parent=_open_lock.release, after_in_child=_close_inherited
)


def is_locked(path: Path) -> bool:
    """Return whether any process holds a lock on a file now."""
    try:
        with exclusive(path, wait=False):
            return False
    except Busy:
        return True


def exclusive(path: Path, *, wait: bool = True) -> AbstractContextManager[None]:
    """Hold an exclusive lock on a file; in a directory that is not writable, take no lock.

    Raises:
        Busy: `wait` is False and another process holds a lock on the file.
    """
    return _hold(path, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def shared(path: Path) -> AbstractContextManager[None]:
    """Hold a shared lock on a file, without waiting for it; otherwise like `exclusive`.

    Raises:
        Busy: a process holds an exclusive lock on the file.
    """
    return _hold(path, fcntl.LOCK_SH | fcntl.LOCK_NB)


@contextmanager
def _hold(path: Path, operation: int) -> Iterator[None]:
    try:
        make_directory(path.parent)
        with _open_lock:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
            _open_descriptors.add(descriptor)
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
            raise Busy(f"another recollect process holds {path}; wait for it, or stop it") from None
        yield
    finally:
        with _open_lock:
            # In a forked child, `_close_inherited` has closed it already.
            if descriptor in _open_descriptors:
                _open_descriptors.remove(descriptor)
                os.close(descriptor)
