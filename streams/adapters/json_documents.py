"""Large JSON documents, read piece by piece: what they hold, never all of it at once."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Any, BinaryIO

import ijson

from streams.adapters.input_files import Damaged, Member


def items(member: Member, prefix: str) -> Iterator[tuple[int, Any]]:
    """Yield (number from 1, value) of a document's values under a prefix, as ijson writes it.

    `item` are those of an array, `messages.item` those of the array `messages`. Bytes that are no
    UTF-8 become U+FFFD.

    Raises:
        Damaged: the document is no JSON from here on, or ends before its end.
    """
    with member.open() as file:
        number = 0
        try:
            for number, value in enumerate(ijson.items(_Text(file), prefix, use_float=True), 1):
                yield number, value
        except (ijson.JSONError, ValueError, RecursionError) as error:
            reason = " ".join(str(error).split())[:100]
            after = f"after record {number}" if number else "from the beginning"
            raise Damaged(f"no JSON, or cut off, {after} ({reason})") from None


class _Text:
    """A file whose bytes that are no UTF-8 are replaced, and that begins with no mark."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")

    def read(self, size: int = -1) -> bytes:
        if size == 0:
            return b""
        while True:
            some = self._file.read(size)
            text = self._decoder.decode(some, final=not some)
            if text or not some:
                return text.encode()
