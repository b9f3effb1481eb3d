"""Imports Claude Code's transcripts: the typed questions and the answers of a session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ParseResult,
    SingleFileSource,
)
from recollect.streams.adapters.assistants.claude_transcript import (
    ASSISTANT,
    MAX_LINE_BYTES,
    PLATFORM,
    SILENT_TYPES,
    USER,
    MalformedRecord,
    Transcript,
    decode_record,
)
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.json_documents import items

_RECORD = re.compile(rb'"type"\s*:\s*"(?:user|assistant)"')
_RECORD_KEYS = re.compile(rb'"(?:sessionId|parentUuid|isSidechain)"\s*:')
_LOGLINES = re.compile(rb'\{\s*"loglines"\s*:\s*\[')
# How many lines of a file's beginning are probed.
_MAX_LINES = 50
_ID_KEYS = frozenset({"uuid", "sessionId", "leafUuid", "messageId"})


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    if _LOGLINES.match(head):
        return True
    if not head.startswith(b"{"):
        return False
    for line in head.split(b"\n", _MAX_LINES)[:_MAX_LINES]:
        record = _decode(line)
        if isinstance(record, MalformedRecord):
            # A long line is truncated at the end of the probed bytes.
            if _RECORD.search(line) and _RECORD_KEYS.search(line):
                return True
        elif isinstance(record, dict):
            if "occurred_at" in record:
                return False
            if _is_record(record):
                return True
    return False


def _is_record(record: Mapping[str, Any]) -> bool:
    kind = record.get("type")
    if kind in (USER, ASSISTANT):
        return isinstance(record.get("message"), dict) and bool(
            record.keys() & (_ID_KEYS | {"timestamp"})
        )
    return isinstance(kind, str) and kind in SILENT_TYPES and bool(record.keys() & _ID_KEYS)


def _records(entry: InputEntry) -> Iterator[tuple[int, object]]:
    """Yield numbered records, and errors for malformed ones."""
    if _LOGLINES.match(entry.start().removeprefix(BYTE_ORDER_MARK).lstrip()):
        yield from items(entry, "loglines.item")
        return
    with entry.open() as file:
        number = 0
        while line := file.readline(MAX_LINE_BYTES):
            number += 1
            if len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):
                while (rest := file.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                    pass
                yield number, MalformedRecord(f"a line of more than {MAX_LINE_BYTES} bytes")
            elif text := line.removeprefix(BYTE_ORDER_MARK).strip():
                yield number, _decode(text)


def _decode(line: bytes) -> object:
    """Return the JSON value of a line, or the error."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return decode_record(line)


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    for number, parsed in Transcript().parse(_records(entry)):
        if isinstance(parsed, MalformedRecord):
            yield number, InvalidInput(str(parsed))
        else:
            yield number, msgspec.convert(parsed, InboundEvent)


ADAPTER = Adapter(
    PLATFORM,
    _recognises,
    lambda entry, options: SingleFileSource(entry, _parse),
    supports_follow=True,
)
