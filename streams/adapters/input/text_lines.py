"""Text files, line by line: marks at the beginning, other encodings, lines without an end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from recollect.schemas.inbound import MAX_RECORD_BYTES
from recollect.streams.adapters.input.input_files import Member

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield lines; of one that is too long only as much as shows that it is."""
    while line := file.readline(MAX_RECORD_BYTES + 2):
        if len(line) > MAX_RECORD_BYTES + 1 and not line.endswith(b"\n"):
            while (rest := file.readline(MAX_RECORD_BYTES)) and not rest.endswith(b"\n"):
                pass
        yield line


def text_lines(member: Member) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line) without its end.

    UTF-8 and UTF-16 with a mark are read as such; a line that is not UTF-8 as Windows-1252, as
    older programs wrote, whatever the other lines are.

    Raises:
        Damaged: the file is, from here on.
    """
    with member.open() as file:
        start = file.peek(2)[:2] if hasattr(file, "peek") else b""
        found = _utf_16(file, start) if start in _UTF_16 else lines(file)
        for number, line in enumerate(found, 1):
            text = decoded(line)
            yield number, (text.removeprefix("\ufeff") if number == 1 else text).rstrip("\r\n")


def _utf_16(file: BinaryIO, start: bytes) -> Iterator[bytes]:
    # An end of line may stand across two blocks, so lines are cut from the text.
    import codecs

    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    rest = ""
    while some := file.read(1 << 16):
        *whole, rest = (rest + decoder.decode(some)).split("\n")
        for line in whole:
            yield line.encode()
        # Of a line that is too long as much is kept as shows that it is.
        rest = rest[: MAX_RECORD_BYTES + 2]
    if rest:
        yield rest.encode()


def decoded(line: bytes) -> str:
    """Return a line as text, whatever its encoding is."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        return line.decode("cp1252", errors="replace")
