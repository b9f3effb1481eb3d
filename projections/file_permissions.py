"""Files and directories of a home, private to their owner whatever the umask."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from recollect.projections.disk_space import has_room
from recollect.schemas.errors import DeletionFailed, DiskFull, ReadOnlyHome

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700

# Attempts to delete a directory. Another process may create files in it meanwhile.
_DELETE_ATTEMPTS = 10


def make_directory(path: Path) -> None:
    """Create a directory and its parents if they are missing."""
    if path.is_dir():
        return
    make_directory(path.parent)
    try:
        path.mkdir(DIRECTORY_MODE)
    except FileExistsError:
        if not path.is_dir():
            raise


def delete_directory(path: Path) -> None:
    """Delete a directory and its content, if it exists, and check that it is gone.

    Targets of symbolic links are never deleted, since they may not belong to the home.

    Raises:
        DeletionFailed: a file could not be deleted, or a symbolic link points to data that would
            remain.
    """
    for link in _links(path):
        raise DeletionFailed(
            f"{link} is a symbolic link, and its target ({os.path.realpath(link)}) may hold data "
            "that must be deleted: delete both, or replace the link with its target, and try again"
        )
    failed: OSError | None = None
    for _ in range(_DELETE_ATTEMPTS):
        try:
            shutil.rmtree(path)
        except OSError as error:
            failed = error
        if not path.exists():
            return
    assert failed is not None
    raise DeletionFailed(
        f"{path} cannot be deleted ({failed}): make your user the owner of all files in the "
        "home, give nobody else write access (see recollect doctor), and try again"
    )


def _links(path: Path) -> Iterator[Path]:
    """Yield the symbolic links at and below a path."""
    if path.is_symlink():
        yield path
        return
    for directory, directories, files in os.walk(path):
        for name in (*directories, *files):
            if (entry := Path(directory, name)).is_symlink():
                yield entry


def writable(directory: Path) -> bool:
    """Return whether a directory is writable; False on a read-only file system."""
    return os.access(directory, os.W_OK)


def read_only(directory: Path) -> bool:
    """Return whether a directory exists, but is not writable now or is on a full disk."""
    return directory.is_dir() and not (writable(directory) and has_room(directory))


def require_writable(directory: Path) -> None:
    """Check that a home can be written to, before an operation begins.

    Raises:
        ReadOnlyHome: it is read-only.
        DiskFull: there is no room.
    """
    if not directory.is_dir():
        return
    usable = "recall, why, status, verify, doctor and deadletters list still work"
    if not writable(directory):
        raise ReadOnlyHome(
            f"the home {directory} is read-only here: {usable}; for everything else, mount "
            "it read-write, or run as its owner"
        )
    if not has_room(directory):
        raise DiskFull(
            f"the disk is full, but nothing was lost: {usable}; for everything else, free some "
            f"space at {directory} and try again"
        )


def opener(path: str, flags: int) -> int:
    """Open a file for `open(..., opener=opener)`; a new file is private to its owner."""
    return os.open(path, flags, FILE_MODE)


def world_accessible(directory: Path) -> Iterator[Path]:
    """Yield the paths of a home that its group or others may access, the home itself first."""
    for path in (directory, *directory.rglob("*")):
        # A file may be deleted meanwhile.
        with suppress(FileNotFoundError):
            found = path.lstat().st_mode
            if not stat.S_ISLNK(found) and found & 0o077:
                yield path


def restrict_permissions(directory: Path) -> int:
    """Remove the access of group and others from a home; return how many paths were changed."""
    count = 0
    for path in list(world_accessible(directory)):
        with suppress(FileNotFoundError):
            path.chmod(DIRECTORY_MODE if path.is_dir() else FILE_MODE)
            count += 1
    return count
