"""The generic adapter: events as JSON objects, one a line, or each over several lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import MAX_RECORD_BYTES, decode_inbound
from recollect.streams.adapters.adapter import BYTE_ORDER_MARK, OPENS_ARRAY, Adapter, Found, OneFile
from recollect.streams.adapters.input.input_files import Member
from recollect.streams.adapters.input.text_lines import lines

# An object over more lines than this is no event that anybody wrote down.
_MAX_LINES = 1_000
# Strings, which may hold brackets, and brackets. A string that does not end takes the line's rest.
_MARKS = re.compile(rb'"(?:[^"\\\n]+|\\.)*"?|[{}\[\]]')
_NAMED = re.compile(r"\.(?:jsonl|ndjson)(?:\.gz)?$")
_OF_MARK = {b"{": 1, b"[": 1, b"}": -1, b"]": -1}

Record = tuple[int, bytes]


class JsonLines(OneFile):
    """A file of JSON lines. Blank lines are passed over; a byte order mark is no data.

    Where the first object goes over several lines, as one that was pasted or written by jq, all
    may.
    """

    def __init__(self, member: Member) -> None:
        super().__init__(member, _events)


def _events(member: Member) -> Iterator[tuple[int, Found]]:
    with member.open() as file:
        for number, text in records(file):
            yield number, event_of_line(text)


def event_of_line(line: bytes) -> Found:
    """Return the event of one JSON object, or what is wrong with it, in one sentence."""
    try:
        return decode_inbound(line.rstrip(b"\r\n"))
    except InvalidInput as error:
        return error


def is_json_lines(start: bytes, name: str) -> bool:
    """Return whether a file that begins so, and is called so, is one of JSON lines."""
    start = start.removeprefix(BYTE_ORDER_MARK).strip()
    if start.startswith(b"{") or not start:
        return True
    return _NAMED.search(name) is not None and not OPENS_ARRAY.match(start)


def holds_events(start: bytes, name: str) -> bool:
    """Return whether a file that nobody named, and that may be any JSON, looks like events."""
    return _NAMED.search(name) is not None or b'"occurred_at"' in start


ADAPTER = Adapter("jsonl", is_json_lines, lambda member, options: JsonLines(member), follows=True)


def records(file: BinaryIO) -> Iterator[Record]:
    """Yield the number of the line on which each record begins, and the record."""
    rest = _numbered(file)
    for number, line in rest:
        if not line.startswith(b"{") or _depth(line) <= 0:
            yield number, line
            break
        held, whole = _object((number, line), rest)
        if whole is None:
            # Its first line is cut off; what comes after it is none of its lines.
            yield from held
            break
        yield number, whole
        yield from _objects(rest)
    yield from rest


def _object(first: Record, rest: Iterator[Record]) -> tuple[list[Record], bytes | None]:
    """Return the lines of one object, and the object; None: they are not one."""
    held = [first]
    depth, size = _depth(first[1]), len(first[1])
    for number, line in rest:
        held.append((number, line))
        depth, size = depth + _depth(line), size + len(line)
        if depth <= 0 or line.startswith(b"{"):
            break
        if len(held) >= _MAX_LINES or size > MAX_RECORD_BYTES:
            break
    whole = b"".join(line for _, line in held)
    try:
        msgspec.json.decode(whole)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return held, None
    return held, whole


def _objects(rest: Iterator[Record]) -> Iterator[Record]:
    """Yield objects over several lines; one that is cut off ends where the next begins."""
    begun, held, depth, size = 0, [b""], 0, 0
    for number, line in rest:
        if begun and line.startswith(b"{"):
            yield begun, b"".join(held)
            begun = 0
        if not begun:
            begun, held, depth, size = number, [], 0, 0
        depth += _depth(line)
        size += len(line)
        # Of one that is too long, as much as shows that it is.
        if size <= MAX_RECORD_BYTES + len(line):
            held.append(line)
        if depth <= 0:
            yield begun, b"".join(held)
            begun = 0
    if begun:
        yield begun, b"".join(held)


def _depth(line: bytes) -> int:
    """Return how many brackets a line opens and does not close."""
    return sum(_OF_MARK.get(mark, 0) for mark in _MARKS.findall(line))


def _numbered(file: BinaryIO) -> Iterator[Record]:
    """Yield lines that are not blank, numbered from 1."""
    for number, line in enumerate(lines(file), 1):
        text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
        if text.strip():
            yield number, text
