"""Locks between the processes of one home; the system releases them when a process dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from projections.private import FILE_MODE, make_directory
from schemas.errors import Busy


def held(path: Path) -> bool:
    """Return whether a process holds a lock file now."""
    try:
        with exclusive(path, wait=False):
            return False
    except Busy:
        return True


@contextmanager
def exclusive(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a lock file.

    Raises:
        Busy: `wait` is False and another process holds it.
    """
    make_directory(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise Busy(f"another recollect holds {path}; wait for it or stop it") from None
        yield
    finally:
        os.close(descriptor)
