"""Files that are read from beginning to end: by name or from standard input, packed or not."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO, cast

from schemas.errors import InvalidInput

#: The name that stands for standard input.
STANDARD_INPUT = Path("-")
#: What reading a packed file raises that is damaged or cut off.
DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error)

_GZIP = b"\x1f\x8b"
_AT_ONCE = 1 << 16
# As much of a file's beginning as is looked at.
_START = 1 << 12

Advance = Callable[[int], object]


class InputFile:
    """A file that can be looked at before it is read, even where it can be read only once.

    `advance` is called with each number of bytes that were read from the file as it lies. What is
    packed by gzip is unpacked, whatever its name is.
    """

    def __init__(self, path: Path, advance: Advance | None = None) -> None:
        """Raises InvalidInput where a path names nothing that can be read."""
        self.path = path
        self._advance = advance
        self._again = path != STANDARD_INPUT and path.is_file()
        self._begun: tuple[bytes, BinaryIO] | None = None
        if not self._again and path != STANDARD_INPUT:
            raise InvalidInput(_unreadable(path))

    @property
    def name(self) -> str:
        """The path as it was given; `-` is standard input."""
        return str(self.path)

    def start(self) -> bytes:
        """Return the file's beginning: its first line that is not blank, or 4 kB of it.

        Raises:
            InvalidInput: it is packed, and damaged.
        """
        file = self._open(None if self._again else self._advance)
        read = b""
        try:
            while not read.strip() and (line := file.readline(_START)):
                read += line
        except DAMAGED as error:
            raise InvalidInput(f"{self.path} is packed by gzip, and damaged: {error}") from None
        if self._again:
            file.close()
        else:
            self._begun = read, file
        return read

    def open(self) -> BinaryIO:
        """Open the file at its beginning; once, where it is no regular file."""
        if self._begun is None:
            return self._open(self._advance)
        return cast(BinaryIO, io.BufferedReader(_Rejoined(*self._begun), _AT_ONCE))

    def _open(self, advance: Advance | None) -> BinaryIO:
        if self.path == STANDARD_INPUT:
            # It stays open for whoever else reads it.
            raw = io.FileIO(sys.stdin.fileno(), closefd=False)
        else:
            raw = io.FileIO(self.path)
        counted = raw if advance is None else cast(io.RawIOBase, _Counted(raw, advance))
        file = io.BufferedReader(counted, _AT_ONCE)
        if file.peek(2).startswith(_GZIP):
            return cast(BinaryIO, gzip.GzipFile(fileobj=file))
        return file


def bytes_of(paths: Sequence[Path]) -> int | None:
    """Return how many bytes some files have as they lie; None where nobody knows before."""
    if not all(path.is_file() for path in paths):
        return None
    return sum(path.stat().st_size for path in paths)


def _unreadable(path: Path) -> str:
    if path.is_dir():
        return f"{path} is a directory; name its files, as in {path}/*.jsonl"
    what = "is no regular file" if path.exists() else "does not exist"
    return f"{path} {what}; name a file, or - for standard input"


class _Counted(io.RawIOBase):
    """A file that tells how much of it was read."""

    def __init__(self, raw: io.FileIO, advance: Advance) -> None:
        super().__init__()
        self._raw = raw
        self._advance = advance

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray, /) -> int | None:  # type: ignore[override]
        count = self._raw.readinto(buffer)
        if count:
            self._advance(count)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Rejoined(io.RawIOBase):
    """A file whose beginning was read already."""

    def __init__(self, begun: bytes, rest: BinaryIO) -> None:
        super().__init__()
        self._begun = begun
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray, /) -> int:  # type: ignore[override]
        if not self._begun:
            # What is there, and no waiting for more: lines may come one by one.
            self._begun = self._rest.read1(len(buffer))  # type: ignore[attr-defined]
        some = self._begun[: len(buffer)]
        self._begun = self._begun[len(some) :]
        buffer[: len(some)] = some
        return len(some)

    def close(self) -> None:
        self._rest.close()
        super().close()
