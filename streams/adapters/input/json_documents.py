"""Large JSON documents, read value by value, never whole."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any, BinaryIO

from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry
from recollect.streams.system.extras import needed

# How many simple values of the object around an array are kept.
_MAX_KEPT_VALUES = 500
# ijson's events that share a value's prefix but do not end it.
_NOT_VALUE_END = ("start_map", "start_array", "map_key")


def items(entry: InputEntry, prefix: str) -> Iterator[tuple[int, Any]]:
    """Yield (number from 1, value) of a document's values under a prefix, as ijson writes it.

    The prefix `item` selects the values of an array, `messages.item` those of the array `messages`.
    Invalid UTF-8 becomes U+FFFD.

    Raises:
        DamagedInput: the document is not JSON from here on, or is truncated.
    """
    ijson = _ijson()
    with entry.open() as file:
        number = 0
        try:
            for number, value in enumerate(ijson.items(_Utf8Text(file), prefix, use_float=True), 1):
                yield number, value
        except (ijson.JSONError, ValueError, RecursionError) as error:
            raise _damaged(error, number) from None


def nested(entry: InputEntry, *arrays: str) -> Iterator[tuple[int, dict[str, Any], Any]]:
    """Yield (number from 1, scalars of the enclosing object, value) for the values in arrays.

    `arrays` are prefixes as for `items`, each of an array in an object. Only scalars that precede
    the array are included, by their dotted path in the object: `channel.id`.

    Raises:
        DamagedInput: as `items`.
    """
    objects = {array.removesuffix(".item").rpartition(".")[0] for array in arrays}
    enclosing: dict[str, Any] = {}
    ijson = _ijson()
    builder: Any = None
    number = 0
    with entry.open() as file:
        try:
            for prefix, event, value in ijson.parse(_Utf8Text(file), use_float=True):
                if builder is not None or prefix in arrays:
                    if builder is None:
                        number, builder, at = number + 1, ijson.ObjectBuilder(), prefix
                    builder.event(event, value)
                    if prefix == at and event not in _NOT_VALUE_END:
                        yield number, enclosing, builder.value
                        builder = None
                elif event == "start_map":
                    if prefix in objects:
                        enclosing = {}
                elif value is not None and event != "map_key" and len(enclosing) < _MAX_KEPT_VALUES:
                    enclosing_objects = [one for one in objects if prefix.startswith(one)]
                    innermost = max(enclosing_objects, key=len, default="")
                    enclosing[prefix.removeprefix(innermost).removeprefix(".")] = value
        except (ijson.JSONError, ValueError, RecursionError) as error:
            raise _damaged(error, number) from None


def matching(entry: InputEntry, path: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str], Any]]:
    """Yield (number from 1, match, value) of a document's values whose whole prefix matches.

    This is for documents whose keys are data and may contain dots.

    Raises:
        DamagedInput: as `items`.
    """
    ijson = _ijson()
    builder: Any = None
    number = 0
    # A cache, because prefixes repeat.
    known: dict[str, re.Match[str] | None] = {}
    with entry.open() as file:
        try:
            for prefix, event, value in ijson.parse(_Utf8Text(file), use_float=True):
                if builder is None:
                    if prefix not in known:
                        if len(known) >= _MAX_KEPT_VALUES:
                            known.clear()
                        known[prefix] = path.fullmatch(prefix)
                    if (found := known[prefix]) is None:
                        continue
                    number, builder, at = number + 1, ijson.ObjectBuilder(), prefix
                builder.event(event, value)
                if prefix == at and event not in _NOT_VALUE_END:
                    assert found is not None, "the prefix is matched before a builder is made"
                    yield number, found, builder.value
                    builder = None
        except (ijson.JSONError, ValueError, RecursionError) as error:
            raise _damaged(error, number) from None


def _ijson() -> ModuleType:
    # Imported lazily, because only JSON documents need the extra `imports`.
    with needed("imports"):
        import ijson

    module: ModuleType = ijson
    return module


def _damaged(error: Exception, number: int) -> DamagedInput:
    reason = " ".join(str(error).split())[:100]
    after = f"after record {number}" if number else "from the beginning"
    return DamagedInput(f"not JSON, or cut off, {after} ({reason})")


class _Utf8Text:
    """A file as UTF-8 without a byte order mark, with invalid bytes replaced."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")

    def read(self, size: int = -1) -> bytes:
        if size == 0:
            return b""
        while True:
            chunk = self._file.read(size)
            text = self._decoder.decode(chunk, final=not chunk)
            if text or not chunk:
                return text.encode()
