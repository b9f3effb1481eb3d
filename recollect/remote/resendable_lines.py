"""The events of an import as JSON lines that can be sent again from the beginning."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import Rejection
from recollect.streams.adapters import ImportCounts, SourceLocation, line_of, reject

# Bytes per chunk sent to the service.
_CHUNK_BYTES = 65_536
# The buffer's size in memory; beyond it, a temporary file holds the lines.
_MAX_MEMORY_BYTES = 8_388_608


class ResendableLines:
    """The events of one import as JSON lines, each with its location in the source.

    The events are read once, while they are sent, and buffered: after a connection loss, all lines
    are sent again as one import, and the service recognises duplicates. An event without a JSON
    form is sent as a blank line and counted in `invalid`.
    """

    def __init__(self, events: Iterable[tuple[SourceLocation, object]]) -> None:
        """`events`: dicts; an `InvalidInput` stands for an event that the source rejects."""
        self._events = iter(events)
        self._sent = tempfile.SpooledTemporaryFile(_MAX_MEMORY_BYTES)  # noqa: SIM115
        # The index of the first line of each path, and the line numbers within the paths.
        self._paths: list[tuple[int, str]] = []
        self._numbers = array("q")
        #: Counts of the events rejected before sending.
        self.invalid = ImportCounts(rejections=[])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._sent.close()

    def __len__(self) -> int:
        return len(self._numbers)

    def location(self, line: int) -> SourceLocation:
        """Return the location of the event sent as line number `line`, counted from 1."""
        path = next(path for first, path in reversed(self._paths) if first <= line - 1)
        return SourceLocation(path, self._numbers[line - 1])

    def paths(self) -> list[str]:
        """Return the paths of the events, in order."""
        return [path for _, path in self._paths]

    def replay(self) -> Iterator[bytes]:
        """Yield all lines in chunks: first the lines sent before, then the remaining lines."""
        self._sent.seek(0)
        while chunk := self._sent.read(_CHUNK_BYTES):
            yield chunk
        lines = bytearray()
        for location, event in self._events:
            lines += self._line(location, event) + b"\n"
            if len(lines) >= _CHUNK_BYTES:
                yield self._buffer(lines)
                lines = bytearray()
        if lines:
            yield self._buffer(lines)

    def _buffer(self, lines: bytearray) -> bytes:
        # Stored before it is yielded, since the connection may be lost while it is being sent.
        self._sent.write(lines)
        return bytes(lines)

    def _line(self, location: SourceLocation, event: object) -> bytes:
        if not self._paths or self._paths[-1][1] != location.path:
            self._paths.append((len(self), location.path))
        self._numbers.append(location.line)
        try:
            if isinstance(event, InvalidInput):
                raise event
            return line_of(event)
        except InvalidInput as error:
            reject(self.invalid, Rejection(*location, str(error)))
            return b""


def with_numbers(events: Iterable[object]) -> Iterator[tuple[SourceLocation, object]]:
    """Yield the events of an iterable with the locations that reports use for them."""
    for number, event in enumerate(events, 1):
        yield SourceLocation("events", number), event
