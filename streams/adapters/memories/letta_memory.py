"""Letta's memories: the memory blocks of an agent file, and archival passages.

A passage has its own time. The blocks of an agent file have none, and are dated by the file's.
Messages, tools and the system prompt of an agent file are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

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
from recollect.streams.adapters.assistants.claude_transcript import (
    dict_or_empty,
    list_or_empty,
    text_or_none,
)
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.json_documents import items
from recollect.streams.adapters.memories.foreign_memory import (
    day_of_file,
    first_fields,
    is_array,
    memory_event,
)

_SYSTEM = "letta"
#: A passage has its text and time, and one of these.
_PASSAGE_OF = frozenset({"agent_id", "archive_id", "source_id"})
_PASSAGE_ARRAYS = (None, "passages")
# An agent file: the current form has `agents` and `blocks`, the original one `core_memory`.
_AGENT_FILE = re.compile(rb'"(?:agents|agent_type)"\s*:')
_BLOCKS = re.compile(rb'"(?:blocks|core_memory)"\s*:\s*\[')
_OF_AGENT = re.compile(rb'"(?:llm_config|embedding_config|block_ids|tool_rules|agent_type)"\s*:')
_USED = frozenset({"id", "text", "embedding", "embedding_config", "metadata"})
_USED_OF_BLOCK = frozenset({"id", "value", "limit", "metadata", "metadata_"})


def _array_of_passages(start: bytes) -> str | None:
    for array in _PASSAGE_ARRAYS:
        fields = first_fields(start, array)
        if {"id", "text", "created_at"} <= fields and fields & _PASSAGE_OF:
            return "item" if array is None else f"{array}.item"
    return None


def _is_agent_file(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    if not head.startswith(b"{") or not _AGENT_FILE.search(head):
        return False
    # The blocks may come after long messages.
    return bool(_OF_AGENT.search(head)) and (name.endswith(".af") or bool(_BLOCKS.search(head)))


def _recognises(start: bytes, name: str) -> bool:
    return _array_of_passages(start) is not None or _is_agent_file(start, name)


def _passage(raw: dict[str, Any]) -> Iterator[InboundEvent]:
    id = text_or_none(raw.get("id"))
    if id is None:
        raise InvalidInput("a passage without an id")
    if raw.get("is_deleted") is True:
        return
    own = raw.get("metadata")
    rest = {name: value for name, value in raw.items() if name not in _USED}
    yield memory_event(
        _SYSTEM,
        raw.get("text"),
        raw.get("created_at"),
        id=id,
        sender=raw.get("agent_id"),
        metadata={**(own if isinstance(own, dict) else {}), **rest},
    )


class _Block(NamedTuple):
    """A memory block of an agent file, its agent's name, and the time of the file."""

    raw: Mapping[str, Any]
    agent: str | None
    at: object


def _agent_file(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    """Yield the memory blocks of an agent file."""
    for _, document in items(entry, ""):
        yield from convert(enumerate(_blocks(entry, dict_or_empty(document)), 1), _block_event)


def _blocks(entry: InputEntry, raw: Mapping[str, Any]) -> Iterator[_Block]:
    at = raw.get("created_at") or day_of_file(entry)
    agents = [dict_or_empty(one) for one in list_or_empty(raw.get("agents"))]
    owners = {
        block: text_or_none(agent.get("name"))
        for agent in agents
        for block in list_or_empty(agent.get("block_ids"))
        if isinstance(block, str)
    }
    for one in [*list_or_empty(raw.get("blocks")), *list_or_empty(raw.get("core_memory"))]:
        block = dict_or_empty(one)
        agent = owners.get(str(block.get("id"))) or text_or_none(raw.get("name"))
        yield _Block(block, agent, at)


def _block_event(block: _Block) -> Iterator[InboundEvent]:
    raw, agent, at = block
    label = text_or_none(raw.get("label"))
    if label is None:
        raise InvalidInput("a memory block without a label")
    if text_or_none(raw.get("value")) is None:
        return
    yield memory_event(
        _SYSTEM,
        raw.get("value"),
        raw.get("updated_at") or raw.get("created_at") or at,
        id=":".join(filter(None, ("block", agent, label, text_or_none(raw.get("id"))))),
        sender=agent,
        metadata={name: value for name, value in raw.items() if name not in _USED_OF_BLOCK},
    )


def _read(entry: InputEntry, options: Options) -> ExportSource:
    start = entry.start()
    prefix = _array_of_passages(start)
    if prefix is None:
        if is_array(start) or not _is_agent_file(start, entry.name):
            raise InvalidInput(
                f"{entry.path} does not look like an export of letta: an agent file (.af) or an "
                "array of archival passages is expected"
            )
        return SingleFileSource(entry, _agent_file, revisable="changing")

    def passages(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
        values = ((number, dict(dict_or_empty(one))) for number, one in items(entry, prefix))
        return convert(values, _passage)

    return SingleFileSource(entry, passages, revisable="changing")


ADAPTER = Adapter(_SYSTEM, _recognises, _read)
