"""Text files, line by line: byte order marks, other encodings, overlong lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from recollect.schemas.inbound import MAX_RECORD_BYTES
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.long_messages import MAX_MESSAGE_BYTES

# The maximum length of a line: a message of the maximum length, with its time and its sender.
_MAX_TEXT_LINE_BYTES = MAX_MESSAGE_BYTES + (1 << 16)


def lines(file: BinaryIO, max_bytes: int = MAX_RECORD_BYTES) -> Iterator[bytes]:
    """Yield lines; an overlong line is cut just beyond the limit."""
    while line := file.readline(max_bytes + 2):
        if len(line) > max_bytes + 1 and not line.endswith(b"\n"):
            while (rest := file.readline(MAX_RECORD_BYTES)) and not rest.endswith(b"\n"):
                pass
        yield line


def text_lines(entry: InputEntry) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line without its end).

    Each line is UTF-8 or, if it is not valid, Windows-1252. A line that holds more than a message
    may is cut, so that it is rejected.

    Raises:
        DamagedInput: the file is damaged from here on.
    """
    with entry.open() as file:
        for number, line in enumerate(lines(file, _MAX_TEXT_LINE_BYTES), 1):
            text = decode_text(line)
            yield number, (text.removeprefix("\ufeff") if number == 1 else text).rstrip("\r\n")


def decode_text(raw: bytes) -> str:
    """Decode bytes as UTF-8 or, if they are not valid UTF-8, as Windows-1252."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")
