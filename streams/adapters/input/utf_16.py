"""UTF-16 files, which some programs of Windows write, as UTF-8."""

from __future__ import annotations

import codecs
import io
from typing import Any, BinaryIO

UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Utf16File(io.RawIOBase):
    """A UTF-16 file with a byte order mark, as UTF-8 without one; invalid units become U+FFFD."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        self._decoded = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read UTF-8 into a buffer; return the number of bytes, 0 at the end."""
        while not self._decoded:
            # Return what is there without waiting: lines may arrive one by one.
            chunk = self._file.read1(len(buffer))  # type: ignore[attr-defined]
            self._decoded = self._decoder.decode(chunk, final=not chunk).encode()
            if not chunk:
                break
        chunk, self._decoded = self._decoded[: len(buffer)], self._decoded[len(buffer) :]
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def close(self) -> None:
        self._file.close()
        super().close()
