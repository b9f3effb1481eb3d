"""Text files, line by line: byte order marks, other encodings, overlong lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from recollect.schemas.inbound import MAX_RECORD_BYTES
from recollect.streams.adapters.input.input_files import InputEntry

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield lines; an overlong line is cut just beyond the limit."""
    while line := file.readline(MAX_RECORD_BYTES + 2):
        if len(line) > MAX_RECORD_BYTES + 1 and not line.endswith(b"\n"):
            while (rest := file.readline(MAX_RECORD_BYTES)) and not rest.endswith(b"\n"):
                pass
        yield line


def text_lines(entry: InputEntry) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line without its end).

    UTF-16 needs a byte order mark; otherwise each line is UTF-8 or, if it is not valid,
    Windows-1252.

    Raises:
        DamagedInput: the file is damaged from here on.
    """
    with entry.open() as file:
        start = file.peek(2)[:2] if hasattr(file, "peek") else b""
        found = _utf_16(file, start) if start in _UTF_16 else lines(file)
        for number, line in enumerate(found, 1):
            text = decode_text(line)
            yield number, (text.removeprefix("\ufeff") if number == 1 else text).rstrip("\r\n")


def _utf_16(file: BinaryIO, start: bytes) -> Iterator[bytes]:
    # A line end may span two blocks, so lines are split after decoding.
    import codecs

    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    rest = ""
    while chunk := file.read(1 << 16):
        *complete, rest = (rest + decoder.decode(chunk)).split("\n")
        for line in complete:
            yield line.encode()
        # An overlong line is cut just beyond the limit.
        rest = rest[: MAX_RECORD_BYTES + 2]
    if rest:
        yield rest.encode()


def decode_text(raw: bytes) -> str:
    """Decode bytes as UTF-8 or, if they are not valid UTF-8, as Windows-1252."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")
