"""Putting a restored home in the place of the one that is there, inside its directory.

`restoring/new` is where it is made; until that is whole, the old one counts. Then, each step a
rename that may be the last thing a process does, and each gone on with by who comes next:

1. `new` becomes `ready`: from now on the restored home counts.
2. What the old home consists of goes to `old`, home.json first: without it nobody takes the
   directory for a home.
3. `ready` becomes `entering`, and what it holds goes to its place. `old` is deleted.
4. home.json comes last: the restored home can be used.

Files that are none of a home's, and locks, stay where they are.
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

ROOM = "restoring"
HOME_FILE = "home.json"

_LOGS = ("", "-wal", "-shm", "-journal")
# In the order in which they leave, and the reverse of that in which they come.
_FILES = (
    HOME_FILE,
    IDENTITY_FILE,
    *(LEDGER_FILE + log for log in _LOGS),
    *(KEYS_FILE + log for log in _LOGS),
    "tokens.json",
    "operations.json",
    *("driver.db" + log for log in _LOGS),
    "heartbeat",
    "zones",
)


class HomeSwap:
    """The steps for one home directory; its caller alone works there."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.room = directory / ROOM
        #: Where the restored home is made.
        self.new = self.room / "new"
        self._ready = self.room / "ready"
        self._entering = self.room / "entering"
        self._old = self.room / "old"

    @property
    def interrupted(self) -> bool:
        """Whether a restored home counts that is not in its place yet."""
        # Of a home that is another user's, nothing is known.
        return os.path.isdir(self._ready) or os.path.isfile(self._entering / HOME_FILE)

    def begin(self) -> None:
        """Make the empty directory `new`.

        Raises:
            HomeError: the home has links or disks in it, which cannot change their place.
        """
        for path in self._own(self._directory):
            if path.is_symlink() or os.path.ismount(path):
                raise HomeError(
                    f"{path} leads elsewhere (a symbolic link, or a disk that is mounted there), "
                    "and a restore would not reach it: put in its place what it leads to"
                )
        self.discard()
        make_directory(self.new)

    def discard(self) -> None:
        """Delete what a restore that did not come to its end left; not to be called once a
        restored home counts.
        """
        delete_directory(self.room)

    def clear_left(self) -> None:
        """Delete what a restore left that died before its home counted: it may hold what was
        forgotten. Nobody restores meanwhile.

        Raises:
            DeletionFailed: it cannot be deleted.
        """
        if os.path.isdir(self.room) and not read_only(self._directory) and not self.interrupted:
            delete_directory(self.room)

    def swap(self) -> None:
        """Put `new` in the home's place, and delete what was there.

        Raises:
            DeletionFailed: part of the old home cannot be deleted; call `finish` once it can.
        """
        _flush(self.new)
        os.rename(self.new, self._ready)
        sync_directory(self.room)
        failpoint("restore.committed")
        self.finish()

    def finish(self) -> None:
        """Go on where a swap was interrupted.

        Raises:
            DeletionFailed: as `swap`.
        """
        if self._ready.is_dir():
            make_directory(self._old)
            for path in self._own(self._directory):
                os.rename(path, self._old / path.name)
            sync_directory(self._old)
            sync_directory(self._directory)
            os.rename(self._ready, self._entering)
            sync_directory(self.room)
            failpoint("restore.emptied")
        if (self._entering / HOME_FILE).is_file():
            for path in self._own(self._entering):
                if path.name != HOME_FILE:
                    os.rename(path, self._directory / path.name)
            sync_directory(self._directory)
            delete_directory(self._old)
            sync_directory(self.room)
            failpoint("restore.placed")
            os.rename(self._entering / HOME_FILE, self._directory / HOME_FILE)
            sync_directory(self._directory)
        self.discard()

    def _own(self, directory: Path) -> Iterator[Path]:
        """Yield what a home consists of, as far as it is in a directory."""
        for name in _FILES:
            if os.path.lexists(directory / name):
                yield directory / name


def _flush(directory: Path) -> None:
    """Make everything below a directory durable."""
    for place, _, names in os.walk(directory):
        for name in names:
            descriptor = os.open(Path(place, name), os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        sync_directory(Path(place))
