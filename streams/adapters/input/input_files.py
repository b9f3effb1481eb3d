"""Files that are read from beginning to end: by name or from standard input, packed or not."""

from __future__ import annotations

import gzip
import io
import os
import shutil
import sys
import tempfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

from recollect.schemas.errors import InvalidInput

#: The name that stands for standard input.
STANDARD_INPUT = Path("-")
#: As much of a file's beginning as is looked at.
START = 1 << 16
#: What is packed may unpack to so many times its size; texts that people wrote do to 20.
MAX_COMPRESSION_RATIO = 200
#: Below this many bytes anything may.
SMALL = 1 << 26

_GZIP = b"\x1f\x8b"
_CHUNK_BYTES = 1 << 16
_BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)

Advance = Callable[[int], object]


class Damaged(InvalidInput):
    """What is read is damaged or cut off from here on; what was read before is whole."""


class TooLarge(Damaged):
    """What is read unpacks to so much that it was made to."""


class Meter:
    """Tells how many bytes were read of files as they lie, once somebody listens."""

    def __init__(self) -> None:
        self.advance: Advance = _nobody


def _nobody(count: int) -> None:
    pass


class Member(ABC):
    """A file that can be looked at before it is read: on disk, in an archive, or standard input.

    `path` is how a report names it, `name` how it is called in its folder. What is packed by gzip
    is unpacked, whatever its name is.
    """

    path: str
    name: str
    #: How many bytes it has as it lies; None where nobody knows before.
    size: int | None

    @abstractmethod
    def raw(self, meter: Meter | None) -> io.BufferedReader:
        """Open it as it lies; `meter` is told of what is read.

        Raises:
            Damaged: it cannot be opened.
        """

    def start(self) -> bytes:
        """Return its beginning, up to 64 kB; where that is blank, what comes after the blanks.

        Raises:
            Damaged: as `open`.
        """
        with self.open(quiet=True) as file:
            read = b""
            while not read.strip() and (some := file.read(START)):
                read += some
        return read

    def open(self, *, quiet: bool = False) -> BinaryIO:
        """Open it at its beginning, unpacked.

        Raises:
            Damaged: it cannot be opened; so does whoever reads on where it is damaged.
        """
        return unpacked(self.raw(None if quiet else self._meter))

    def __init__(self, path: str, name: str, size: int | None, meter: Meter) -> None:
        self.path = path
        self.name = name
        self.size = size
        self._meter = meter


class InputFile(Member):
    """A file on disk, or `-`, standard input, which can be read only once."""

    def __init__(self, path: Path, meter: Meter | None = None) -> None:
        """Raises InvalidInput where a path names nothing that can be read."""
        self._file = path
        self._again = path != STANDARD_INPUT and path.is_file()
        self._begun: tuple[bytes, BinaryIO] | None = None
        if not self._again and path != STANDARD_INPUT:
            raise InvalidInput(_unreadable(path))
        size = path.stat().st_size if self._again else None
        super().__init__(str(path), path.name, size, meter or Meter())

    def raw(self, meter: Meter | None) -> io.BufferedReader:
        if self._file == STANDARD_INPUT:
            # It stays open for whoever else reads it.
            raw = io.FileIO(sys.stdin.fileno(), closefd=False)
        else:
            try:
                raw = io.FileIO(self._file)
            except OSError as error:
                raise Damaged(f"it cannot be opened: {error.strerror}") from None
        return counted(raw, meter)

    def start(self) -> bytes:
        if self._again:
            return super().start()
        if self._begun is None:
            file = super().open()
            read = b""
            # What is there, and no waiting for more than a line: lines may come one by one.
            while not (read.strip() and (b"\n" in read.lstrip() or len(read) >= START)):
                if not (some := file.read1(START)):  # type: ignore[attr-defined]
                    break
                read += some
            self._begun = read, file
        return self._begun[0]

    def open(self, *, quiet: bool = False) -> BinaryIO:
        if self._begun is None:
            return super().open(quiet=quiet)
        return cast(BinaryIO, io.BufferedReader(_Rejoined(*self._begun), _CHUNK_BYTES))


class Spooled(Member):
    """What came through standard input, in a file without a name: it can be read again."""

    def __init__(self, member: Member) -> None:
        super().__init__(member.path, member.name, None, Meter())
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open for as long as it may be read
        with member.open() as source:
            shutil.copyfileobj(source, self._file)

    def raw(self, meter: Meter | None) -> io.BufferedReader:
        self._file.flush()
        raw = io.FileIO(os.dup(self._file.fileno()))
        raw.seek(0)
        return counted(raw, meter)


def unpacked(file: io.BufferedReader) -> BinaryIO:
    """Return a file as it is unpacked, where it is packed by gzip."""
    try:
        packed = file.peek(2).startswith(_GZIP)
    except BaseException:
        file.close()
        raise
    if packed:
        return cast(BinaryIO, io.BufferedReader(_Unpacked(file), _CHUNK_BYTES))
    return cast(BinaryIO, file)


def counted(raw: io.RawIOBase, meter: Meter | None) -> io.BufferedReader:
    """Return a file for reading that tells a meter how much of it is read."""
    return io.BufferedReader(_Counted(raw, meter), _CHUNK_BYTES)


def too_large(unpacks_to: int, size: int) -> bool:
    """Return whether so many bytes are too many to be in a packed file of a size."""
    return unpacks_to > SMALL and unpacks_to > MAX_COMPRESSION_RATIO * size


def _unreadable(path: Path) -> str:
    what = "is no regular file" if path.exists() else "does not exist"
    return f"{path} {what}; name a file or a folder, or - for standard input"


class _Counted(io.RawIOBase):
    """A file that tells how much of it was read."""

    def __init__(self, raw: io.RawIOBase, meter: Meter | None) -> None:
        super().__init__()
        self._raw = raw
        self._meter = meter

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        count = cast("int | None", cast(Any, self._raw).readinto(buffer))
        if count and self._meter is not None:
            self._meter.advance(count)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Unpacked(io.RawIOBase):
    """What a file packed by gzip holds, unless that is too much to be true."""

    def __init__(self, packed: io.BufferedReader) -> None:
        super().__init__()
        self._packed = _Counting(packed)
        self._file = gzip.GzipFile(fileobj=cast(Any, self._packed))
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            some = self._file.read1(len(buffer))
        except _BROKEN_GZIP as error:
            raise Damaged(f"the packed file is damaged or cut off after this ({error})") from None
        self._count += len(some)
        if too_large(self._count, self._packed.count):
            raise TooLarge(
                f"the packed file unpacks to more than {MAX_COMPRESSION_RATIO} times its size; "
                "if that is right, unpack it and name what was in it"
            )
        buffer[: len(some)] = some
        return len(some)

    def close(self) -> None:
        self._file.close()
        self._packed.close()
        super().close()


class _Counting:
    """A file that knows how much of it was read."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        some = self._file.read1(size) if size > 0 else self._file.read(size)
        self.count += len(some)
        return some

    def close(self) -> None:
        self._file.close()


class _Rejoined(io.RawIOBase):
    """A file whose beginning was read already."""

    def __init__(self, begun: bytes, rest: BinaryIO) -> None:
        super().__init__()
        self._begun = begun
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
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
