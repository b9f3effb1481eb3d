"""Memories of other systems as events, and how their exports are recognised and read.

A memory becomes a `remember` of its text, with the system as its platform, its own id and time, and
its other fields as metadata. If its system marks it as no longer true, a deletion
follows, dated when it ceased to be true.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ExportSource,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.assistants.claude_transcript import (
    dict_or_empty,
    parse_time,
    text_or_none,
)
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.json_documents import items

#: The sender of memories whose export names no owner; `remember` has the same default.
USER = "user"

_KEY = re.compile(r'"((?:[^"\\]|\\.){1,60})"\s*:')

Convert = Callable[[dict[str, Any]], Iterable[InboundEvent]]


def memory_event(
    system: str,
    text: object,
    at: object,
    *,
    id: str,
    sender: object = None,
    session: object = None,
    metadata: Mapping[str, object] | None = None,
) -> InboundEvent:
    """Return a memory as an event. `at`: when its text became known, or true.

    Raises:
        InvalidInput: it has no text, or no time.
    """
    content, when = text_or_none(text), parse_time(at)
    if content is None:
        raise InvalidInput(f"the memory {id[:60]!r} has no text")
    if when is None:
        raise InvalidInput(f"the memory {id[:60]!r} has no timestamp")
    kept = {name: value for name, value in (metadata or {}).items() if _says_something(value)}
    return InboundEvent(
        platform=system,
        sender_id=text_or_none(sender) or USER,
        session_id=text_or_none(session),
        occurred_at=when,
        content=content,
        id=id,
        kind="remember",
        metadata=kept,
    )


def end_of(memory: InboundEvent, at: object) -> InboundEvent:
    """Return a deletion that ends a memory at the time `at`.

    Raises:
        InvalidInput: `at` is not a time.
    """
    when = parse_time(at)
    if when is None:
        raise InvalidInput(f"the memory {str(memory.id)[:60]!r} has an invalid end time")
    return InboundEvent(
        platform=memory.platform,
        sender_id=memory.sender_id,
        occurred_at=when,
        content="",
        id=f"{memory.id}:ended:{when}",
        kind="deletion",
        target=memory.id,
    )


def _says_something(value: object) -> bool:
    return value is not None and value != [] and value != {} and value != ""


def id_of_text(*parts: str) -> str:
    """Return an id for a memory that its system identifies by its text alone."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def day_of_file(entry: InputEntry) -> str:
    """Return the day on which a file without times was last modified.

    The time of day would not be stable: archives round it, and time zones shift it.

    Raises:
        InvalidInput: it is unknown, as for standard input.
    """
    if entry.modified_at is None:
        raise InvalidInput(
            f"{entry.path} contains no times, so its memories get the file's modification time; "
            "import it as a file, a folder or a zip, not from standard input"
        )
    return f"{entry.modified_at.date().isoformat()}T00:00:00Z"


def is_array(start: bytes) -> bool:
    """Return whether a JSON file begins with an array."""
    return start.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"[")


def first_fields(start: bytes, array: str | None = None) -> frozenset[str]:
    """Return the fields of the first object of a JSON array at a file's beginning; empty if none.

    `array`: the field of the document with the array; None if the document is the array. For an
    object that the beginning cuts off, return all fields so far, nested ones included.
    """
    text = start.removeprefix(BYTE_ORDER_MARK).decode(errors="replace").lstrip()
    if array is not None:
        begin = re.match(r'\{(?:(?s:.){0,2000}?)"' + re.escape(array) + r'"\s*:\s*(?=\[)', text)
        if begin is None:
            return frozenset()
        text = text[begin.end() :]
    first = re.match(r"\[\s*(?=\{)", text)
    if first is None:
        return frozenset()
    try:
        value, _ = json.JSONDecoder().raw_decode(text, first.end())
    except (ValueError, RecursionError):
        return frozenset(_KEY.findall(text[first.end() :]))
    return frozenset(value)


def array_adapter(
    name: str, arrays: Iterable[str | None], has: Callable[[frozenset[str]], bool], events: Convert
) -> Adapter:
    """Return the adapter of exports that are an array of memories, or an object with one.

    `arrays`: the fields that may hold the array; None: the document is the array. `has`: whether
    an object with these fields is a memory of this system.
    """
    places = tuple(arrays)

    def array_in(start: bytes) -> str | None:
        """Return the prefix of the values, as ijson writes it; None if it is not such an export."""
        for place in places:
            if has(first_fields(start, place)):
                return "item" if place is None else f"{place}.item"
        return None

    def recognises(start: bytes, file_name: str) -> bool:
        return array_in(start) is not None

    def read(entry: InputEntry, options: Options) -> ExportSource:
        prefix = array_in(entry.start())
        if prefix is None:
            shown = " or ".join(repr(one) for one in places if one is not None)
            raise InvalidInput(
                f"{entry.path} does not look like an export of {name}: expected an array of "
                f"memories, or an object with this array in the field {shown}"
            )

        def results(entry: InputEntry) -> Iterator[Any]:
            values = ((number, dict(dict_or_empty(one))) for number, one in items(entry, prefix))
            return convert(values, events)

        return SingleFileSource(entry, results, revisable="changing")

    return Adapter(name, recognises, read)
