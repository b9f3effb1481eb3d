"""Following: the lines of a growing file become events as they are written."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion.ingesting import publish, report_of
from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import IngestReport
from recollect.streams.adapters import (
    ByteCounter,
    ImportCounts,
    Importer,
    InputFile,
    Options,
    drafts,
    followed_source,
)

#: How often it is looked whether a file grew.
POLL_SECONDS = 0.2
# By so many bytes a file is known to be the same, grown.
_LAST = 256


def follow(
    zone: OpenZone,
    path: str | PathLike[str],
    *,
    format: str = "auto",
    timezone: str | None = None,
    wait: bool = True,
    each: Callable[[IngestReport], bool],
) -> IngestReport:
    """Put the lines of a growing file into the ledger until `each` returns True.

    Raises:
        InvalidInput: it is no file, or in no format that can be read line by line.
    """
    # What ends turns loads what decides, which a question does without.
    from recollect.home.abandoned_turns import end_abandoned_turns
    from recollect.operations.processes.embedded_worker import TICK_SECONDS

    started = time.monotonic()
    counts = ImportCounts(rejections=[], skipped=[])
    importer = Importer(partial(publish, zone), counts)
    options = Options.of(timezone, None)
    named = Path(path).expanduser()
    if not named.is_file():
        raise InvalidInput(f"{named} is no file that could grow; name one")
    told = -1
    next_tick = 0.0

    def at_rest() -> bool:
        """Publish what was read; return whether that is all."""
        nonlocal told, next_tick
        importer.flush()
        if zone.open_home.closing:
            return True
        grown, told = counts.read != told, counts.read
        over = grown and each(report_of(zone, counts, started, wait=wait))
        if wait and time.monotonic() >= next_tick:
            next_tick = time.monotonic() + TICK_SECONDS
            end_abandoned_turns(zone)
        return over

    while True:
        file = _Growing(named, at_rest)
        # Lines that are alike are counted from the beginning, as in an import of the whole.
        for place, item in drafts(followed_source(file, format, options)):
            importer.add(place, item)
        importer.flush()
        if file.ended:
            return report_of(zone, counts, started, wait=wait)
        while not named.is_file():
            time.sleep(POLL_SECONDS)


class _Growing(InputFile):
    """A file whose end is waited for: it comes when the file is cut or replaced, or is let be."""

    def __init__(self, path: Path, at_rest: Callable[[], bool]) -> None:
        super().__init__(path)
        self._growing = path
        self._at_rest = at_rest
        #: Whether nobody wants to know more.
        self.ended = False

    def raw(self, meter: ByteCounter | None) -> io.BufferedReader:
        if meter is None:
            # Somebody only looks at its beginning.
            return super().raw(None)
        return io.BufferedReader(_Tail(self._growing, self._rests))

    def _rests(self) -> bool:
        self.ended = self._at_rest()
        return self.ended


class _Tail(io.RawIOBase):
    """A file that is read on as it grows."""

    def __init__(self, path: Path, at_rest: Callable[[], bool]) -> None:
        super().__init__()
        self._path = path
        self._file = io.FileIO(path)
        self._at_rest = at_rest
        self._last = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        while not (count := self._file.readinto(buffer)):
            # Looked at before its last words are read: what is written until then is read.
            over = self._over()
            if over or self._at_rest():
                if not (count := self._file.readinto(buffer)):
                    return 0
                break
            time.sleep(POLL_SECONDS)
            if not self._goes_on():
                return 0
        self._last = (self._last + bytes(buffer[:count]))[-_LAST:]
        return count

    def _goes_on(self) -> bool:
        """Return whether what was read last still stands where it stood: none wrote over it."""
        place = self._file.tell() - len(self._last)
        return os.pread(self._file.fileno(), len(self._last), place) == self._last

    def _over(self) -> bool:
        """Return whether the file was cut, or another has its name."""
        mine = os.fstat(self._file.fileno())
        try:
            now = os.stat(self._path)
        except FileNotFoundError:
            # Between being moved away and being made again.
            return False
        return (mine.st_dev, mine.st_ino) != (now.st_dev, now.st_ino) or (
            now.st_size < self._file.tell()
        )

    def close(self) -> None:
        self._file.close()
        super().close()
