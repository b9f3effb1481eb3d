"""Lines of events on their way to a service, which can be sent again from the first."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import Rejection
from recollect.streams.adapters import ImportCounts, SourceLocation, line_of, reject

# Bytes that go to the service at once.
_CHUNK_BYTES = 65_536
# Bytes that are kept in memory; what is more goes to a file, until the import is done.
_IN_MEMORY = 8_388_608


class ResendableLines:
    """The lines of events of one import, each with the place that its source gives it.

    They are read once, as they are sent, and kept: a service that was cut off is sent all of them
    again, as one import, so that it knows which it has. An event that has no form in JSON is sent
    as a blank line, and counted in `refused`.
    """

    def __init__(self, events: Iterable[tuple[SourceLocation, object]]) -> None:
        """`events` are dicts, or `InvalidInput` where the source refuses one."""
        self._events = iter(events)
        self._kept = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        self._paths: list[tuple[int, str]] = []
        self._numbers = array("q")
        #: What was refused before it was sent.
        self.refused = ImportCounts(rejections=[])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._kept.close()

    def __len__(self) -> int:
        return len(self._numbers)

    def place(self, line: int) -> SourceLocation:
        """Return where the event stands that was sent as a line, counted from 1."""
        path = next(path for first, path in reversed(self._paths) if first <= line - 1)
        return SourceLocation(path, self._numbers[line - 1])

    def from_the_first(self) -> Iterator[bytes]:
        """Yield all lines, some at a time: those that were sent before, and then the others."""
        self._kept.seek(0)
        while sent := self._kept.read(_CHUNK_BYTES):
            yield sent
        held = bytearray()
        for place, event in self._events:
            held += self._line(place, event) + b"\n"
            if len(held) >= _CHUNK_BYTES:
                yield self._keep(held)
                held = bytearray()
        if held:
            yield self._keep(held)

    def _keep(self, lines: bytearray) -> bytes:
        # The service may have stopped reading: it is kept before it is sent.
        self._kept.write(lines)
        return bytes(lines)

    def _line(self, place: SourceLocation, event: object) -> bytes:
        if not self._paths or self._paths[-1][1] != place.path:
            self._paths.append((len(self), place.path))
        self._numbers.append(place.line)
        try:
            if isinstance(event, InvalidInput):
                raise event
            return line_of(event)
        except InvalidInput as error:
            reject(self.refused, Rejection(*place, str(error)))
            return b""


def numbered(events: Iterable[object]) -> Iterator[tuple[SourceLocation, object]]:
    """Yield events with their places, as those of one iterable are named in reports."""
    for number, event in enumerate(events, 1):
        yield SourceLocation("events", number), event
