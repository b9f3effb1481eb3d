"""Tailing a growing file: its lines become events as they are written."""

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
from recollect.streams.system.paths import given_path

#: Seconds between checks of whether a file has grown.
POLL_SECONDS = 0.2
# The last bytes read, which are compared to detect that a file was overwritten in place.
_FINGERPRINT_BYTES = 256


def follow(
    zone: OpenZone,
    path: str | PathLike[str],
    *,
    format: str = "auto",
    timezone: str | None = None,
    wait: bool = True,
    each: Callable[[IngestReport], bool],
) -> IngestReport:
    """Append the lines of a growing file to the ledger until `each` returns True.

    Raises:
        InvalidInput: `path` is not a file, or its format cannot be read line by line.
    """
    # Imported here: they load the agents, which a query does not need.
    from recollect.home.ticks.after_import import conclude_import
    from recollect.operations.processes.embedded_worker import TICK_SECONDS

    started = time.monotonic()
    counts = ImportCounts(rejections=[], skipped=[])
    importer = Importer(partial(publish, zone), counts)
    options = Options.of(timezone, None)
    file_path = given_path("path", path)
    if not file_path.is_file():
        raise InvalidInput(f"{file_path} is not a file; give the path of a growing file")
    reported = -1
    next_tick = 0.0

    def on_end_of_file() -> bool:
        """Publish the lines read so far; return whether to stop."""
        nonlocal reported, next_tick
        importer.flush()
        if zone.open_home.closing:
            return True
        has_grown, reported = counts.read != reported, counts.read
        stops = has_grown and each(report_of(zone, counts, started, wait=wait))
        if wait and time.monotonic() >= next_tick:
            next_tick = time.monotonic() + TICK_SECONDS
            conclude_import(zone, of_files=True)
        return stops

    while True:
        file = _TailedFile(file_path, on_end_of_file)
        # Always from the beginning: an event without an id gets one from its content and a count of
        # identical lines, which must agree with an import of the whole file.
        for location, item in drafts(followed_source(file, format, options)):
            importer.add(location, item)
        importer.flush()
        if file.stopped:
            return report_of(zone, counts, started, wait=wait)
        while not file_path.is_file():
            time.sleep(POLL_SECONDS)


class _TailedFile(InputFile):
    """A growing file; its content ends when it is truncated or replaced, or tailing stops."""

    def __init__(self, path: Path, on_end_of_file: Callable[[], bool]) -> None:
        super().__init__(path)
        self._tailed_path = path
        self._on_end_of_file = on_end_of_file
        #: Whether `on_end_of_file` asked to stop.
        self.stopped = False

    def raw(self, meter: ByteCounter | None) -> io.BufferedReader:
        if meter is None:
            # Format detection reads the beginning only.
            return super().raw(None)
        return io.BufferedReader(_Tail(self._tailed_path, self._should_stop))

    def _should_stop(self) -> bool:
        self.stopped = self._on_end_of_file()
        return self.stopped


class _Tail(io.RawIOBase):
    """A raw stream that waits at the end of its file for more content."""

    def __init__(self, path: Path, should_stop: Callable[[], bool]) -> None:
        super().__init__()
        self._path = path
        self._file = io.FileIO(path)
        self._should_stop = should_stop
        self._fingerprint = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        while not (count := self._file.readinto(buffer)):
            # Checked before the last read, so that content written in between is not lost.
            if self._is_replaced() or self._should_stop():
                if not (count := self._file.readinto(buffer)):
                    return 0
                break
            time.sleep(POLL_SECONDS)
            if self._is_overwritten():
                return 0
        self._fingerprint = (self._fingerprint + bytes(buffer[:count]))[-_FINGERPRINT_BYTES:]
        return count

    def _is_overwritten(self) -> bool:
        """Return whether the last bytes read have changed in the file since."""
        offset = self._file.tell() - len(self._fingerprint)
        found = os.pread(self._file.fileno(), len(self._fingerprint), offset)
        return found != self._fingerprint

    def _is_replaced(self) -> bool:
        """Return whether the file was truncated, or another file has its name now."""
        open_file = os.fstat(self._file.fileno())
        try:
            now = os.stat(self._path)
        except FileNotFoundError:
            # A log rotation has moved the file, and has not created the new one yet.
            return False
        return (open_file.st_dev, open_file.st_ino) != (now.st_dev, now.st_ino) or (
            now.st_size < self._file.tell()
        )

    def close(self) -> None:
        self._file.close()
        super().close()
