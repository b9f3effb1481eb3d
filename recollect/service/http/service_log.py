"""The service's log: JSON lines on stderr, without the content of memories, queries or answers.

Unexpected errors are logged with their type and stack, not with their message, which may quote
content.
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
from recollect.schemas.errors import InvalidInput, InvalidSetting, RecollectError, Unavailable
from recollect.schemas.times import format_time

_MAX_FRAMES = 8
_BUFFER_BYTES = 65_536


class ServiceLog:
    """A thread-safe log of JSON lines."""

    def __init__(self, stream: TextIO | None = None, *, requests: bool = True) -> None:
        """`requests` False: log only requests that failed with a 5xx status."""
        self._stream = stream or _standard_error()
        self._requests = requests
        self._lock = threading.Lock()

    def line(self, level: str, event: str, **fields: str | int | float | list[str] | None) -> None:
        """Write a line; fields that are None are left out."""
        given = {name: value for name, value in fields.items() if value is not None}
        text = msgspec.json.encode(
            {"at": format_time(unix_ms()), "level": level, "event": event, **given}
        ).decode()
        with self._lock:
            self._stream.write(text + "\n")
            if level != "info":
                self._stream.flush()

    def flush(self) -> None:
        """Write out buffered lines; the service calls this every half second."""
        with self._lock:
            self._stream.flush()

    def request(
        self, *, request_id: str, method: str, route: str, status: int, ms: float, who: str
    ) -> None:
        """Log a request; `route` is the path template, not the path."""
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

    def error(self, event: str, error: BaseException, **fields: str) -> None:
        """Log an error with its type and stack; for an invalid setting also what is wrong."""
        frames = traceback.extract_tb(error.__traceback__)[-_MAX_FRAMES:]
        self.line(
            "error",
            event,
            error=type(error).__name__,
            reason=str(error) if isinstance(error, InvalidSetting) else None,
            places=[f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
            **fields,
        )

    def zone_stopped(self, zone: str, outcome: int | Exception) -> None:
        """Log a zone that has stopped, as reported by the deciding thread; ignore progress."""
        if isinstance(outcome, RecollectError):
            self.line("error", "zone has stopped", zone=zone, error=type(outcome).__name__)
        elif isinstance(outcome, Exception):
            self.error("zone has stopped", outcome, zone=zone)

    def writer_error(self, zone: str, error: Exception) -> None:
        """Log why the language model could not be used for a zone."""
        if isinstance(error, Unavailable | InvalidInput):
            # The message names a model service and its answer, or a setting, but quotes no content.
            self.line("error", "the language model could not be used", zone=zone, reason=str(error))
        else:
            self.error("the language model could not be used", error, zone=zone)


class LogHandler(logging.Handler):
    """Passes the warnings of libraries on to the service's log."""

    def __init__(self, log: ServiceLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Log a record's location and its message template.

        A template that is not a constant in the code may quote content, so it is left out.
        """
        error = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        # A full disk must not make the logging code fail.
        with suppress(OSError, ValueError):
            self._log.line(
                record.levelname.lower(),
                "library",
                logger=record.name,
                message=_constant_template(record),
                error=error,
                places=[f"{record.pathname}:{record.lineno} {record.funcName}"],
            )


def _constant_template(record: logging.LogRecord) -> str | None:
    """Return a record's message template if it is a constant of the logging function."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        code = frame.f_code
        if (code.co_filename, code.co_name) == (record.pathname, record.funcName):
            return record.msg if record.msg in code.co_consts else None
        frame = frame.f_back
    return None


@contextmanager
def take_over(log: ServiceLog) -> Iterator[None]:
    """Redirect the logging of this process to the service's log during the block."""
    root = logging.getLogger()
    before, root.handlers = root.handlers, [LogHandler(log)]
    try:
        yield
    finally:
        root.handlers = before


def _standard_error() -> TextIO:
    """Return standard error with a block buffer, so that not every line costs a system call."""
    try:
        return open(sys.stderr.fileno(), "w", _BUFFER_BYTES, closefd=False)
    except io.UnsupportedOperation:
        # sys.stderr was replaced by an object without a file descriptor.
        return sys.stderr
