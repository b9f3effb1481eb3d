"""Files and directories of a home: private to their owner, whatever the umask."""

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

# A process that still reads there may create a file at the same moment.
_ATTEMPTS = 10


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

    The target of a symbolic link may belong to anybody, and is not deleted.

    Raises:
        DeletionFailed: something is left, or would be left at the target of a link.
    """
    for link in _links(path):
        raise DeletionFailed(
            f"{link} is a symbolic link, and what it leads to ({os.path.realpath(link)}) may hold "
            "what must go: delete both, or put in its place what it leads to, and call this again"
        )
    failed: OSError | None = None
    for _ in range(_ATTEMPTS):
        try:
            shutil.rmtree(path)
        except OSError as error:
            failed = error
        if not path.exists():
            return
    assert failed is not None
    raise DeletionFailed(
        f"{path} cannot be deleted ({failed}): let all of the home belong to you, who alone may "
        "write it (recollect doctor), and call this again"
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
    """Return whether a directory can be written to; on a read-only file system it cannot."""
    return os.access(directory, os.W_OK)


def read_only(directory: Path) -> bool:
    """Return whether a directory exists and nothing can be written there now.

    It cannot be written to, or its disk is full, which may pass.
    """
    return directory.is_dir() and not (writable(directory) and has_room(directory))


def require_writable(directory: Path) -> None:
    """Check that a home can be written to, before anything is half done.

    Raises:
        ReadOnlyHome: it cannot.
        DiskFull: there is no room.
    """
    if not directory.is_dir():
        return
    answer = "recall, why, status, verify, doctor and deadletters list answer"
    if not writable(directory):
        raise ReadOnlyHome(
            f"the home {directory} is read-only here: {answer}; for all else mount it so that it "
            "can be written, or be its owner"
        )
    if not has_room(directory):
        raise DiskFull(
            f"the disk is full, and nothing was lost: {answer}; for all else free some space at "
            f"{directory}, and try again"
        )


def opener(path: str, flags: int) -> int:
    """Open a file, as the opener of `open`; a new file is private."""
    return os.open(path, flags, FILE_MODE)


def world_accessible(directory: Path) -> Iterator[Path]:
    """Yield the paths of a home that others than the owner may read or write, the home first."""
    for path in (directory, *directory.rglob("*")):
        # A file that was deleted meanwhile is not exposed.
        with suppress(FileNotFoundError):
            found = path.lstat().st_mode
            if not stat.S_ISLNK(found) and found & 0o077:
                yield path


def restrict_permissions(directory: Path) -> int:
    """Remove the rights of all but the owner from a home; return how many files were changed."""
    count = 0
    for path in list(world_accessible(directory)):
        with suppress(FileNotFoundError):
            path.chmod(DIRECTORY_MODE if path.is_dir() else FILE_MODE)
            count += 1
    return count
