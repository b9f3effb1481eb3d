"""Large JSON documents, read piece by piece: what they hold, never all of it at once."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any, BinaryIO

from recollect.streams.adapters.input.input_files import Damaged, Member
from recollect.streams.system.extras import needed

# Of an object around an array so many simple values are kept.
_MAX_KEPT_VALUES = 500
# What has the same prefix as a value's end, and is none.
_WITHIN = ("start_map", "start_array", "map_key")


def items(member: Member, prefix: str) -> Iterator[tuple[int, Any]]:
    """Yield (number from 1, value) of a document's values under a prefix, as ijson writes it.

    `item` are those of an array, `messages.item` those of the array `messages`. Bytes that are no
    UTF-8 become U+FFFD.

    Raises:
        Damaged: the document is no JSON from here on, or ends before its end.
    """
    ijson = _ijson()
    with member.open() as file:
        number = 0
        try:
            for number, value in enumerate(ijson.items(_Text(file), prefix, use_float=True), 1):
                yield number, value
        except (ijson.JSONError, ValueError, RecursionError) as error:
            raise _damaged(error, number) from None


def nested(member: Member, *arrays: str) -> Iterator[tuple[int, dict[str, Any], Any]]:
    """Yield (number from 1, what is known of its object, value) of the values in arrays.

    `arrays` are prefixes as `items` has them, each of an array in an object. What is known is the
    simple values that came in that object before, under their own prefixes within it: `channel.id`.

    Raises:
        Damaged: as `items`.
    """
    objects = {array.removesuffix(".item").rpartition(".")[0] for array in arrays}
    known: dict[str, Any] = {}
    ijson = _ijson()
    builder: Any = None
    number = 0
    with member.open() as file:
        try:
            for prefix, event, value in ijson.parse(_Text(file), use_float=True):
                if builder is not None or prefix in arrays:
                    if builder is None:
                        number, builder, at = number + 1, ijson.ObjectBuilder(), prefix
                    builder.event(event, value)
                    if prefix == at and event not in _WITHIN:
                        yield number, known, builder.value
                        builder = None
                elif event == "start_map":
                    if prefix in objects:
                        known = {}
                elif value is not None and event != "map_key" and len(known) < _MAX_KEPT_VALUES:
                    around = [one for one in objects if prefix.startswith(one)]
                    within = max(around, key=len, default="")
                    known[prefix.removeprefix(within).removeprefix(".")] = value
        except (ijson.JSONError, ValueError, RecursionError) as error:
            raise _damaged(error, number) from None


def matching(member: Member, path: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str], Any]]:
    """Yield (number from 1, match, value) of a document's values whose whole prefix matches.

    For documents whose keys say something, and may hold dots themselves.

    Raises:
        Damaged: as `items`.
    """
    ijson = _ijson()
    builder: Any = None
    number = 0
    # Prefixes come again and again.
    known: dict[str, re.Match[str] | None] = {}
    with member.open() as file:
        try:
            for prefix, event, value in ijson.parse(_Text(file), use_float=True):
                if builder is None:
                    if prefix not in known:
                        if len(known) >= _MAX_KEPT_VALUES:
                            known.clear()
                        known[prefix] = path.fullmatch(prefix)
                    if (found := known[prefix]) is None:
                        continue
                    number, builder, at = number + 1, ijson.ObjectBuilder(), prefix
                builder.event(event, value)
                if prefix == at and event not in _WITHIN:
                    assert found is not None, "it is looked at before anything is built"
                    yield number, found, builder.value
                    builder = None
        except (ijson.JSONError, ValueError, RecursionError) as error:
            raise _damaged(error, number) from None


def _ijson() -> ModuleType:
    # Imported here: only a document of JSON needs the extra that it takes.
    with needed("imports"):
        import ijson

    module: ModuleType = ijson
    return module


def _damaged(error: Exception, number: int) -> Damaged:
    reason = " ".join(str(error).split())[:100]
    after = f"after record {number}" if number else "from the beginning"
    return Damaged(f"no JSON, or cut off, {after} ({reason})")


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
