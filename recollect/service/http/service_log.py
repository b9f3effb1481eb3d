"""The service's log: one JSON object a line on stderr, and never what was said, asked or shown.

Of an error that nobody foresaw it has the type and the places in the code, not the message, which
may quote anything.
"""

from __future__ import annotations

import io
import logging
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TextIO

import msgspec

from recollect.home.open_zone import unix_ms
from recollect.schemas.errors import InvalidInput, RecollectError, Unavailable
from recollect.schemas.times import format_time

_PLACES = 8
_BUFFER = 65_536


class ServiceLog:
    """Writes lines; any thread may call any method."""

    def __init__(self, stream: TextIO | None = None, *, requests: bool = True) -> None:
        """`requests` False: of requests only those that failed here."""
        self._stream = stream or _standard_error()
        self._requests = requests
        self._lock = threading.Lock()

    def line(self, level: str, event: str, **said: str | int | float | list[str] | None) -> None:
        """Write a line."""
        told = {name: value for name, value in said.items() if value is not None}
        text = msgspec.json.encode(
            {"at": format_time(unix_ms()), "level": level, "event": event, **told}
        ).decode()
        with self._lock:
            self._stream.write(text + "\n")
            if level != "info":
                self._stream.flush()

    def flush(self) -> None:
        """Write out what is held back; the service calls this every half second."""
        with self._lock:
            self._stream.flush()

    def request(
        self, *, request_id: str, method: str, route: str, status: int, ms: float, who: str
    ) -> None:
        """Write a line on a request: `route` is the pattern of its address, not the address."""
        if self._requests or status >= 500:
            self.line(
                "error" if status >= 500 else "info",
                "request",
                request_id=request_id,
                method=method,
                route=route,
                status=status,
                ms=round(ms, 2),
                who=who,
            )

    def error(self, event: str, error: BaseException, **said: str) -> None:
        """Write a line on an error: its type, and the places that it went through."""
        frames = traceback.extract_tb(error.__traceback__)[-_PLACES:]
        self.line(
            "error",
            event,
            error=type(error).__name__,
            places=[f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
            **said,
        )

    def worker(self, zone: str, moved: int | Exception) -> None:
        """Write a line on a zone that has stopped, as reported by the deciding thread."""
        if isinstance(moved, RecollectError):
            self.line("error", "zone has stopped", zone=zone, error=type(moved).__name__)
        elif isinstance(moved, Exception):
            self.error("zone has stopped", moved, zone=zone)

    def does_not_write(self, zone: str, error: Exception) -> None:
        """Write a line on why no language model reads what is said in a zone."""
        if isinstance(error, Unavailable | InvalidInput):
            # It names a service and what it answered, or a setting, and says nothing of anybody.
            self.line("error", "the model does not write", zone=zone, reason=str(error))
        else:
            self.error("the model does not write", error, zone=zone)


class LogHandler(logging.Handler):
    """Takes what a library logs: its warnings, by where they come from."""

    def __init__(self, log: ServiceLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line with where it was logged, and the message before it is filled in.

        A message that the code does not have as it stands may quote anything, and is left out.
        """
        error = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        # Who logs something does not fail because it cannot be written.
        with suppress(OSError, ValueError):
            self._log.line(
                record.levelname.lower(),
                "library",
                logger=record.name,
                message=_constant(record),
                error=error,
                places=[f"{record.pathname}:{record.lineno} {record.funcName}"],
            )


def _constant(record: logging.LogRecord) -> str | None:
    """Return the message of a record where it is a constant of the function that logs it."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        code = frame.f_code
        if (code.co_filename, code.co_name) == (record.pathname, record.funcName):
            return record.msg if record.msg in code.co_consts else None
        frame = frame.f_back
    return None


@contextmanager
def take_over(log: ServiceLog) -> Iterator[None]:
    """Have everything that is logged in this process go into the service's log, until the end."""
    root = logging.getLogger()
    before, root.handlers = root.handlers, [LogHandler(log)]
    try:
        yield
    finally:
        root.handlers = before


def _standard_error() -> TextIO:
    """Return standard error, written to by the block.

    Each flush costs a system call, for which the event loop may wait its turn.
    """
    try:
        return open(sys.stderr.fileno(), "w", _BUFFER, closefd=False)
    except io.UnsupportedOperation:
        # A program put something else in its place.
        return sys.stderr
