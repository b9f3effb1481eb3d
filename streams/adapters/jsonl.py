"""The generic adapter: events as JSON objects, one per line, or each over several lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import MAX_RECORD_BYTES, decode_inbound
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    OPENS_ARRAY,
    Adapter,
    ParseResult,
    SingleFileSource,
)
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.text_lines import lines
from recollect.streams.adapters.lookalikes import holds_other_json

# Maximum number of lines of one object.
_MAX_LINES = 1_000
# Strings (which may contain brackets) and brackets. An unterminated string extends to the end of
# the line.
_TOKENS = re.compile(rb'"(?:[^"\\\n]+|\\.)*"?|[{}\[\]]')
_JSON_LINES_NAME = re.compile(r"\.(?:jsonl|ndjson)(?:\.gz)?$")
_DEPTH_CHANGE = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}

Record = tuple[int, bytes]


class JsonLines(SingleFileSource):
    """A file of JSON lines. Blank lines and a byte order mark are ignored.

    If the first object spans several lines, as written by jq, all objects may.
    """

    splits_long_messages = False

    def __init__(self, entry: InputEntry) -> None:
        super().__init__(entry, _events)


def _events(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    with entry.open() as file:
        for number, text in records(file):
            yield number, event_of_line(text)


def event_of_line(line: bytes) -> ParseResult:
    """Return the event of a JSON object, or the error."""
    try:
        return decode_inbound(line.rstrip(b"\r\n"))
    except InvalidInput as error:
        return error


def is_json_lines(start: bytes, name: str) -> bool:
    """Return whether a file with this beginning and name is a file of JSON lines."""
    if holds_other_json(start):
        return False
    start = start.removeprefix(BYTE_ORDER_MARK).strip()
    if start.startswith(b"{") or not start:
        return True
    return _JSON_LINES_NAME.search(name) is not None and not OPENS_ARRAY.match(start)


def holds_events(start: bytes, name: str) -> bool:
    """Return whether a JSON file found in a folder looks like events."""
    return _JSON_LINES_NAME.search(name) is not None or b'"occurred_at"' in start


ADAPTER = Adapter(
    "jsonl", is_json_lines, lambda entry, options: JsonLines(entry), supports_follow=True
)


def records(file: BinaryIO) -> Iterator[Record]:
    """Yield the number of each record's first line, and the record."""
    following = _numbered(file)
    for number, line in following:
        if not line.startswith(b"{") or _depth(line) <= 0:
            yield number, line
            break
        pending, document = _object((number, line), following)
        if document is None:
            # The object's first line is truncated; the following lines do not belong to it.
            yield from pending
            break
        yield number, document
        yield from _objects(following)
    yield from following


def _object(first: Record, following: Iterator[Record]) -> tuple[list[Record], bytes | None]:
    """Return the lines from `first` on, and the object that they form; None if they form none."""
    pending = [first]
    depth, size = _depth(first[1]), len(first[1])
    for number, line in following:
        pending.append((number, line))
        depth, size = depth + _depth(line), size + len(line)
        if depth <= 0 or line.startswith(b"{"):
            break
        if len(pending) >= _MAX_LINES or size > MAX_RECORD_BYTES:
            break
    document = b"".join(line for _, line in pending)
    try:
        msgspec.json.decode(document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return pending, None
    return pending, document


def _objects(following: Iterator[Record]) -> Iterator[Record]:
    """Yield objects that may span several lines; a truncated one ends where the next begins."""
    first_number, pending, depth, size = 0, [b""], 0, 0
    for number, line in following:
        if first_number and line.startswith(b"{"):
            yield first_number, b"".join(pending)
            first_number = 0
        if not first_number:
            first_number, pending, depth, size = number, [], 0, 0
        depth += _depth(line)
        size += len(line)
        # An overlong object is cut just beyond the limit.
        if size <= MAX_RECORD_BYTES + len(line):
            pending.append(line)
        if depth <= 0:
            yield first_number, b"".join(pending)
            first_number = 0
    if first_number:
        yield first_number, b"".join(pending)


def _depth(line: bytes) -> int:
    """Return the net number of brackets that a line opens."""
    return sum(_DEPTH_CHANGE.get(mark, 0) for mark in _TOKENS.findall(line))


def _numbered(file: BinaryIO) -> Iterator[Record]:
    """Yield lines that are not blank, numbered from 1."""
    for number, line in enumerate(lines(file), 1):
        text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        if text.strip():
            yield number, text
