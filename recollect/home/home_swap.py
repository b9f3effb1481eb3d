"""Crash-safe replacement of a home by a restored one, inside its directory.

The restored home is built in `restoring/new`; until it is complete, the old home stays in use. Each
further step consists of renames. After a crash, the next process continues with `finish`.

1. `new` is renamed to `ready`. This commits the restore.
2. The old home's files are moved to `old`, home.json first: without it, the directory is not a
   home.
3. `ready` is renamed to `entering`, and its files are moved into place. `old` is deleted.
4. home.json is moved last. Now the restored home is usable.

Locks, and files that are not part of a home, stay where they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from recollect.projections.file_permissions import delete_directory, make_directory, read_only
from recollect.projections.generations import sync_directory
from recollect.schemas.errors import HomeError
from recollect.streams.ledger.embedded_ledger import IDENTITY_FILE, KEYS_FILE, LEDGER_FILE
from recollect.streams.system.failpoints import failpoint

STAGING_DIRECTORY = "restoring"
HOME_FILE = "home.json"

_SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")
# In the order in which `finish` moves them.
_FILES = (
    HOME_FILE,
    IDENTITY_FILE,
    *(LEDGER_FILE + suffix for suffix in _SQLITE_SUFFIXES),
    *(KEYS_FILE + suffix for suffix in _SQLITE_SUFFIXES),
    "tokens.json",
    "operations.json",
    *("driver.db" + suffix for suffix in _SQLITE_SUFFIXES),
    "heartbeat",
    "zones",
)


class HomeSwap:
    """The replacement of one home; the caller must have exclusive access to its directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.staging = directory / STAGING_DIRECTORY
        #: Where the restored home is built.
        self.new = self.staging / "new"
        self._ready = self.staging / "ready"
        self._entering = self.staging / "entering"
        self._old = self.staging / "old"

    @property
    def interrupted(self) -> bool:
        """Whether a restore was committed but not finished."""
        # `os.path` returns False for a directory that this user may not read; `Path` would raise.
        return os.path.isdir(self._ready) or os.path.isfile(self._entering / HOME_FILE)

    def begin(self) -> None:
        """Create the empty directory `new`.

        Raises:
            HomeError: a file of the home is a symbolic link or a mount point, so it cannot be
                renamed.
        """
        for path in self._home_files(self._directory):
            if path.is_symlink() or os.path.ismount(path):
                raise HomeError(
                    f"{path} is a symbolic link or a mount point, which a restore cannot replace: "
                    "move its content into the home directory, under the same name"
                )
        self.discard()
        make_directory(self.new)

    def discard(self) -> None:
        """Delete an uncommitted restore. Do not call this after the commit."""
        delete_directory(self.staging)

    def remove_leftovers(self) -> None:
        """Delete the remains of a restore that died before its commit.

        The remains may contain forgotten data. No restore may be running.

        Raises:
            DeletionFailed: the remains cannot be deleted.
        """
        if os.path.isdir(self.staging) and not read_only(self._directory) and not self.interrupted:
            delete_directory(self.staging)

    def swap(self) -> None:
        """Commit `new`, replace the old home with it, and delete the old home.

        Raises:
            DeletionFailed: part of the old home cannot be deleted; call `finish` when it can.
        """
        _flush(self.new)
        os.rename(self.new, self._ready)
        sync_directory(self.staging)
        failpoint("restore.committed")
        self.finish()

    def finish(self) -> None:
        """Continue an interrupted swap.

        Raises:
            DeletionFailed: as `swap`.
        """
        if self._ready.is_dir():
            make_directory(self._old)
            for path in self._home_files(self._directory):
                os.rename(path, self._old / path.name)
            sync_directory(self._old)
            sync_directory(self._directory)
            os.rename(self._ready, self._entering)
            sync_directory(self.staging)
            failpoint("restore.emptied")
        if (self._entering / HOME_FILE).is_file():
            for path in self._home_files(self._entering):
                if path.name != HOME_FILE:
                    os.rename(path, self._directory / path.name)
            sync_directory(self._directory)
            delete_directory(self._old)
            sync_directory(self.staging)
            failpoint("restore.placed")
            os.rename(self._entering / HOME_FILE, self._directory / HOME_FILE)
            sync_directory(self._directory)
        self.discard()

    def _home_files(self, directory: Path) -> Iterator[Path]:
        """Yield the existing files and folders of the home in a directory."""
        for name in _FILES:
            if os.path.lexists(directory / name):
                yield directory / name


def _flush(directory: Path) -> None:
    """Sync a directory tree to disk."""
    for folder, _, names in os.walk(directory):
        for name in names:
            descriptor = os.open(Path(folder, name), os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        sync_directory(Path(folder))
