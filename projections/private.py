"""Files and directories of a home: their owner's alone, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from schemas.errors import HomeError

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700


def make_directory(path: Path) -> None:
    """Make a directory, and those above it, where they are missing."""
    if path.is_dir():
        return
    make_directory(path.parent)
    try:
        path.mkdir(DIRECTORY_MODE)
    except FileExistsError:
        if not path.is_dir():
            raise


def writable(directory: Path) -> bool:
    """Return whether a directory can be written to: not where its file system is read-only."""
    return os.access(directory, os.W_OK)


def read_only(directory: Path) -> bool:
    """Return whether a directory is there, and nothing can be changed in it."""
    return directory.is_dir() and not writable(directory)


def must_be_writable(directory: Path) -> None:
    """Raise HomeError where a home is read-only: before anything else can go half-way."""
    if read_only(directory):
        raise HomeError(
            f"the home {directory} is read-only here: recall, why, status, verify, doctor and "
            "deadletters list answer; for all else mount it so that it can be written, or be "
            "its owner"
        )


def opener(path: str, flags: int) -> int:
    """Open a file for `open(…, opener=opener)`; a new one is private."""
    return os.open(path, flags, FILE_MODE)


def exposed(directory: Path) -> Iterator[Path]:
    """Yield what others than the owner may read or write of a home, the home itself first."""
    for path in (directory, *directory.rglob("*")):
        # What is deleted meanwhile is not exposed.
        with suppress(FileNotFoundError):
            found = path.lstat().st_mode
            if not stat.S_ISLNK(found) and found & 0o077:
                yield path


def tighten(directory: Path) -> int:
    """Take a home from everybody but its owner; return how many files that concerned."""
    count = 0
    for path in list(exposed(directory)):
        with suppress(FileNotFoundError):
            path.chmod(DIRECTORY_MODE if path.is_dir() else FILE_MODE)
            count += 1
    return count
