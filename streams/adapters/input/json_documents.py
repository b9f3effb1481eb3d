"""Large JSON documents, read value by value, never whole."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any, BinaryIO

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry
from recollect.streams.system.extras import needed

_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Maximum depth of nested brackets. For each level ijson keeps the whole path to it.
_MAX_DEPTH = 200
# How many simple values of the object around an array are kept.
_MAX_KEPT_VALUES = 500
# ijson's events that share a value's prefix but do not end it.
_NOT_VALUE_END = ("start_map", "start_array", "map_key")


def decoded(value: bytes | str) -> object:
    """Return the value of a small JSON document.

    Raises:
        InvalidInput: it is not JSON, or is nested too deeply.
    """
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"not JSON: {error}") from None


def as_words(name: str) -> str:
    """Return a name in camel case, of a field or a type, as words in lower case."""
    return _CAPITAL.sub(" ", name).lower()


def items(entry: InputEntry, prefix: str) -> Iterator[tuple[int, Any]]:
    """Yield (number from 1, value) of a document's values under a prefix, as ijson writes it.

    The prefix `item` selects the values of an array, `messages.item` those of the array `messages`.
    Invalid UTF-8 becomes U+FFFD.

    Raises:
        DamagedInput: the document is not JSON from here on, is truncated, or is nested too deeply.
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


def array_prefixes(entry: InputEntry, key: str) -> list[str]:
    """Return the prefixes, as for `items`, of the arrays with objects that have a key.

    Of a damaged document, the arrays before the damage are found.
    """
    prefixes: dict[str, None] = {}
    ijson = _ijson()
    with entry.open() as file:
        try:
            for prefix, event, value in ijson.parse(_Utf8Text(file), use_float=True):
                if event == "map_key" and value == key and prefix.endswith("item"):
                    prefixes[prefix] = None
        except (ijson.JSONError, ValueError, RecursionError):
            pass
    return list(prefixes)


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
                    if (match := known[prefix]) is None:
                        continue
                    number, builder, at = number + 1, ijson.ObjectBuilder(), prefix
                builder.event(event, value)
                if prefix == at and event not in _NOT_VALUE_END:
                    assert match is not None, "the prefix is matched before a builder is made"
                    yield number, match, builder.value
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


# Control characters as in C, which Telegram writes, but which no JSON may have: "\\x0c".
_ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|.)", re.DOTALL)
_INCOMPLETE_ESCAPE = re.compile(rb"\\(?:x[0-9A-Fa-f]?)?\Z")


def _with_json_escapes(document: bytes) -> bytes:
    """Return JSON with control characters escaped as JSON requires it."""
    if b"\\x" not in document:
        return document
    return _ESCAPE.sub(lambda found: rb"\u00" + found[1] if found[1] else found[0], document)


def _split_incomplete_escape(document: bytes) -> tuple[bytes, bytes]:
    """Split off an escape that continues in the next chunk."""
    found = _INCOMPLETE_ESCAPE.search(document, max(len(document) - 3, 0))
    if found is None:
        return document, b""
    before = document[: found.start()]
    # After an odd number of backslashes, this one is itself escaped.
    if (len(before) - len(before.rstrip(b"\\"))) % 2:
        return document, b""
    return before, found[0]


class _Utf8Text:
    """A JSON file as UTF-8 without a byte order mark, with invalid bytes and escapes replaced.

    Reading raises ValueError where its brackets are nested too deeply.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._incomplete = b""
        self._depth = _BracketDepth()

    def read(self, size: int = -1) -> bytes:
        if size == 0:
            return b""
        while True:
            chunk = self._file.read(size)
            text = self._decoder.decode(chunk, final=not chunk)
            document, self._incomplete = self._incomplete + text.encode(), b""
            if chunk:
                document, self._incomplete = _split_incomplete_escape(document)
            if document or not chunk:
                document = _with_json_escapes(document)
                self._depth.add(document)
                return document


class _BracketDepth:
    """The nesting depth of the brackets outside strings in a document that is read in chunks."""

    _STRING = re.compile(rb'"[^"]*"?')
    _OTHERS = bytes(byte for byte in range(256) if byte not in b'"{}[]')

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escape = b""

    def add(self, chunk: bytes) -> None:
        """Add the next chunk; raise ValueError if it is nested too deeply."""
        plain = (self._escape + chunk).replace(b"\\\\", b"")
        # A backslash at the end escapes the first character of the next chunk.
        self._escape = b"\\" if plain.endswith(b"\\") else b""
        marks = plain.replace(b'\\"', b"").translate(None, self._OTHERS)
        # Two adjacent quotation marks have no brackets between them.
        marks = (b'"' if self._in_string else b"") + marks.replace(b'""', b"")
        self._in_string = marks.count(b'"') % 2 == 1
        brackets = self._STRING.sub(b"", marks)
        if self._depth + len(brackets) <= _MAX_DEPTH:
            self._depth += brackets.count(b"{") + brackets.count(b"[")
            self._depth -= brackets.count(b"}") + brackets.count(b"]")
            return
        for bracket in brackets:
            self._depth += 1 if bracket in b"{[" else -1
            if self._depth > _MAX_DEPTH:
                raise ValueError(f"brackets are nested more than {_MAX_DEPTH} levels deep")
