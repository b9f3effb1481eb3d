"""The knowledge graph of MCP's memory server: entities with observations, and relations.

The file, `memory.jsonl`, has one object per line, without ids or times: a memory is identified by
its text and dated by the day on which the file was last modified.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ExportSource,
    ParseResult,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.assistants.claude_transcript import list_or_empty, text_or_none
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.text_lines import lines
from recollect.streams.adapters.memories.foreign_memory import day_of_file, id_of_text, memory_event

_SYSTEM = "mcp-memory"
_FIELDS = {
    "entity": frozenset({"name", "entityType", "observations"}),
    "relation": frozenset({"from", "to", "relationType"}),
}


def _record(line: bytes) -> dict[str, Any] | None:
    """Return a line's entity or relation, or None if it is neither."""
    try:
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(kind := value.get("type"), str):
        return None
    return value if kind in _FIELDS and value.keys() >= _FIELDS[kind] else None


def _recognises(start: bytes, name: str) -> bool:
    first = start.removeprefix(BYTE_ORDER_MARK).strip().partition(b"\n")[0]
    return first.startswith(b"{") and _record(first) is not None


def _events(at: str, line: bytes) -> Iterator[InboundEvent]:
    record = _record(line)
    if record is None:
        raise InvalidInput("neither an entity nor a relation of MCP's memory server")
    if record["type"] == "relation":
        ends = [text_or_none(record[name]) for name in ("from", "relationType", "to")]
        if None in ends:
            raise InvalidInput("a relation without its entities or its type")
        words = [str(part) for part in ends]
        yield memory_event(
            _SYSTEM,
            " ".join(map(_words, words)),
            at,
            id=f"relation:{id_of_text(*words)}",
            metadata=record,
        )
        return
    name = text_or_none(record["name"])
    if name is None:
        raise InvalidInput("an entity without a name")
    shown, kept = _words(name), {"entity": name, "entityType": record["entityType"]}
    for observation in map(text_or_none, list_or_empty(record["observations"])):
        if observation is None:
            continue
        named = shown.casefold() in _words(observation).casefold()
        yield memory_event(
            _SYSTEM,
            observation if named else f"{shown}: {observation}",
            at,
            id=f"observation:{id_of_text(name, observation)}",
            metadata=kept,
        )


def _words(text: str) -> str:
    return text.replace("_", " ")


def _lines(entry: InputEntry) -> Iterator[tuple[int, bytes]]:
    with entry.open() as file:
        for number, line in enumerate(lines(file), 1):
            text = line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line
            if text.strip():
                yield number, text


def _read(entry: InputEntry, options: Options) -> ExportSource:
    at = day_of_file(entry)

    def results(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
        return convert(_lines(entry), partial(_events, at))

    return SingleFileSource(entry, results, revisable="changing")


ADAPTER = Adapter(_SYSTEM, _recognises, _read)
