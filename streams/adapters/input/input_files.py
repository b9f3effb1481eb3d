"""Input files: by name or from standard input, compressed by gzip or not, in UTF-16 or not."""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import sys
import tempfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import unquote

from recollect.schemas.errors import InvalidInput
from recollect.streams.adapters.input.utf_16 import UTF_16_MARKS, Utf16File

#: The name that stands for standard input.
STANDARD_INPUT = Path("-")
#: How many bytes of a file's beginning are probed.
PROBE_BYTES = 1 << 16
#: Maximum compression ratio; real text reaches 20.
MAX_COMPRESSION_RATIO = 200
#: The ratio is not checked up to this size.
RATIO_CHECK_MIN_BYTES = 1 << 26

_PERCENT_ENCODED = re.compile(r"%[0-9A-Fa-f]{2}")
_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK_BYTES = 1 << 16
_GZIP_ERRORS = (gzip.BadGzipFile, EOFError, zlib.error)

OnBytesRead = Callable[[int], object]


class DamagedInput(InvalidInput):
    """The input is damaged or truncated from here on; what was read before is intact."""


class DecompressionBomb(DamagedInput):
    """The input looks like a decompression bomb."""


class ByteCounter:
    """Reports how many bytes were read from disk, before decompression."""

    def __init__(self) -> None:
        self.on_bytes_read: OnBytesRead = _ignore


def _ignore(count: int) -> None:
    pass


class InputEntry(ABC):
    """A file that can be probed before it is read: on disk, in an archive, or standard input.

    `path` is its name in reports, `name` its name in its folder. Gzip is decompressed, whatever the
    name, and UTF-16 with a byte order mark becomes UTF-8.
    """

    path: str
    name: str
    #: Its size on disk in bytes, or None if that is unknown.
    size: int | None
    #: When it was written last, or None if that is unknown.
    modified_at: datetime | None = None

    @abstractmethod
    def raw(self, byte_counter: ByteCounter | None) -> io.BufferedReader:
        """Open it without decompression; `byte_counter` counts the bytes read.

        Raises:
            DamagedInput: it cannot be opened.
        """

    def start(self) -> bytes:
        """Return its beginning: about 64 kB, or more if they are all blank.

        Raises:
            DamagedInput: as `open`.
        """
        with self.open(uncounted=True) as file:
            read = b""
            while not read.strip() and (chunk := file.read(PROBE_BYTES)):
                read += chunk
        return read

    def open(self, *, uncounted: bool = False) -> BinaryIO:
        """Open it at its beginning, decompressed, and as UTF-8 if it is UTF-16.

        Raises:
            DamagedInput: it cannot be opened. Reading raises it too, where the file is damaged.
        """
        return _as_utf_8(_decompressed(self.raw(None if uncounted else self._byte_counter)))

    def __init__(self, path: str, name: str, size: int | None, byte_counter: ByteCounter) -> None:
        self.path = path
        self.name = name
        self.size = size
        self._byte_counter = byte_counter


class InputFile(InputEntry):
    """A file on disk, or `-` for standard input, which can be read only once."""

    def __init__(self, path: Path, byte_counter: ByteCounter | None = None) -> None:
        """Raises InvalidInput if the path is not a file."""
        self._file = path
        self._rereadable = path != STANDARD_INPUT and path.is_file()
        self._probed: tuple[bytes, BinaryIO] | None = None
        if not self._rereadable and path != STANDARD_INPUT:
            raise InvalidInput(_unreadable(path))
        status = path.stat() if self._rereadable else None
        size = None if status is None else status.st_size
        super().__init__(str(path), path.name, size, byte_counter or ByteCounter())
        self.modified_at = None if status is None else time_or_none(status.st_mtime)

    def raw(self, byte_counter: ByteCounter | None) -> io.BufferedReader:
        if self._file == STANDARD_INPUT:
            # Standard input stays open for other readers.
            raw = io.FileIO(sys.stdin.fileno(), closefd=False)
        else:
            try:
                raw = io.FileIO(self._file)
            except OSError as error:
                raise DamagedInput(f"it cannot be opened: {error.strerror}") from None
        return with_byte_counter(raw, byte_counter)

    def start(self) -> bytes:
        if self._rereadable:
            return super().start()
        if self._probed is None:
            file = super().open()
            read = b""
            # Wait for one line at most: lines may arrive one by one.
            while not (read.strip() and (b"\n" in read.lstrip() or len(read) >= PROBE_BYTES)):
                if not (chunk := file.read1(PROBE_BYTES)):  # type: ignore[attr-defined]
                    break
                read += chunk
            self._probed = read, file
        return self._probed[0]

    def open(self, *, uncounted: bool = False) -> BinaryIO:
        if self._probed is None:
            return super().open(uncounted=uncounted)
        return cast(BinaryIO, io.BufferedReader(_RejoinedFile(*self._probed), _CHUNK_BYTES))


class UncountedInput(InputEntry):
    """A file that is read a second time; its bytes do not count as progress again."""

    def __init__(self, entry: InputEntry) -> None:
        super().__init__(entry.path, entry.name, entry.size, ByteCounter())
        self._entry = entry
        self.modified_at = entry.modified_at

    def raw(self, byte_counter: ByteCounter | None) -> io.BufferedReader:
        return self._entry.raw(None)


class SpooledInput(InputEntry):
    """A copy of standard input in an unnamed file, which can be read again."""

    def __init__(self, entry: InputEntry) -> None:
        super().__init__(entry.path, entry.name, None, ByteCounter())
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open for as long as it may be read
        with entry.open() as source:
            shutil.copyfileobj(source, self._file)

    def raw(self, byte_counter: ByteCounter | None) -> io.BufferedReader:
        self._file.flush()
        raw = io.FileIO(os.dup(self._file.fileno()))
        raw.seek(0)
        return with_byte_counter(raw, byte_counter)


def decoded_path(path: str) -> str:
    """Return a path with the percent-encoded names that some programs give files decoded.

    A name with a space is not encoded, so its percent signs are its own.
    """
    return "/".join(map(_decoded_name, path.split("/")))


def _decoded_name(name: str) -> str:
    if " " in name or _PERCENT_ENCODED.search(name) is None:
        return name
    try:
        decoded = unquote(name, errors="strict")
    except UnicodeDecodeError:
        return name
    return decoded if decoded.isprintable() and not {*"/\\"} & {*decoded} else name


def time_or_none(seconds: float) -> datetime | None:
    """Return a unix time in UTC, or None if it is not a plausible time of a file."""
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None
    except (ValueError, OverflowError, OSError):
        return None


def _decompressed(file: io.BufferedReader) -> io.BufferedReader:
    """Return a file, decompressed if gzip compressed it."""
    if _start(file).startswith(_GZIP_MAGIC):
        return io.BufferedReader(_GunzippedFile(file), _CHUNK_BYTES)
    return file


def _as_utf_8(file: io.BufferedReader) -> BinaryIO:
    if _start(file).startswith(UTF_16_MARKS):
        file = io.BufferedReader(Utf16File(cast(BinaryIO, file)), _CHUNK_BYTES)
    return cast(BinaryIO, file)


def _start(file: io.BufferedReader) -> bytes:
    """Return the first bytes, which stay unread; a file that cannot be read is closed."""
    try:
        return file.peek(2)
    except BaseException:
        file.close()
        raise


def with_byte_counter(raw: io.RawIOBase, byte_counter: ByteCounter | None) -> io.BufferedReader:
    """Return a buffered reader that reports the bytes read to a byte counter."""
    return io.BufferedReader(_MeteredFile(raw, byte_counter), _CHUNK_BYTES)


def is_decompression_bomb(decompressed_size: int, size: int) -> bool:
    """Return whether the output is too large for a compressed file of this size to be plausible."""
    return (
        decompressed_size > RATIO_CHECK_MIN_BYTES
        and decompressed_size > MAX_COMPRESSION_RATIO * size
    )


def _unreadable(path: Path) -> str:
    problem = "is not a regular file" if path.exists() else "does not exist"
    return f"{path} {problem}; name a file or a folder, or - for standard input"


class _MeteredFile(io.RawIOBase):
    """A file that reports the bytes read."""

    def __init__(self, raw: io.RawIOBase, byte_counter: ByteCounter | None) -> None:
        super().__init__()
        self._raw = raw
        self._byte_counter = byte_counter

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int | None:
        count = cast("int | None", cast(Any, self._raw).readinto(buffer))
        if count and self._byte_counter is not None:
            self._byte_counter.on_bytes_read(count)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _GunzippedFile(io.RawIOBase):
    """A decompressed gzip file; raises DecompressionBomb for an implausible ratio."""

    def __init__(self, packed: io.BufferedReader) -> None:
        super().__init__()
        self._packed = _CountingReader(packed)
        self._file = gzip.GzipFile(fileobj=cast(Any, self._packed))
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        try:
            chunk = self._file.read1(len(buffer))
        except _GZIP_ERRORS as error:
            raise DamagedInput(
                f"the compressed file is damaged or cut off after this ({error})"
            ) from None
        self._count += len(chunk)
        if is_decompression_bomb(self._count, self._packed.count):
            raise DecompressionBomb(
                f"the compressed file decompresses to more than {MAX_COMPRESSION_RATIO} times its "
                "size; if that is right, decompress it and import the result"
            )
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self._file.close()
        self._packed.close()
        super().close()


class _CountingReader:
    """A file that counts the bytes read."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read1(size) if size > 0 else self._file.read(size)
        self.count += len(chunk)
        return chunk

    def close(self) -> None:
        self._file.close()


class _RejoinedFile(io.RawIOBase):
    """A file whose beginning was already read."""

    def __init__(self, begun: bytes, rest: BinaryIO) -> None:
        super().__init__()
        self._probed = begun
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._probed:
            # Return what is there without waiting: lines may arrive one by one.
            self._probed = self._rest.read1(len(buffer))  # type: ignore[attr-defined]
        chunk = self._probed[: len(buffer)]
        self._probed = self._probed[len(chunk) :]
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self._rest.close()
        super().close()
