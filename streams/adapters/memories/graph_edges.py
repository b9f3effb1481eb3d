"""Facts of Zep and Graphiti: the edges of their graphs, as their APIs return them.

A fact is dated when it became true, or else when it was stored. One that ceased to be true, or that
a newer one replaced, ends then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.assistants.claude_transcript import text_or_none
from recollect.streams.adapters.memories.foreign_memory import array_adapter, end_of, memory_event

_SYSTEM = "zep"
_FACT = frozenset({"uuid", "fact", "source_node_uuid", "target_node_uuid"})
# Fields that are mapped to fields of the event, and fields that mean nothing outside Zep.
_USED = frozenset({"uuid", "fact", "fact_embedding", "score"})


def _is_fact(fields: frozenset[str]) -> bool:
    return fields >= _FACT


def _events(raw: dict[str, Any]) -> Iterator[InboundEvent]:
    id = text_or_none(raw.get("uuid"))
    if id is None:
        raise InvalidInput("a fact without a uuid")
    memory = memory_event(
        _SYSTEM,
        raw.get("fact"),
        raw.get("valid_at") or raw.get("created_at"),
        id=id,
        sender=raw.get("group_id"),
        metadata={name: value for name, value in raw.items() if name not in _USED},
    )
    yield memory
    if ended := raw.get("invalid_at") or raw.get("expired_at"):
        yield end_of(memory, ended)


ADAPTER = array_adapter(_SYSTEM, ("edges", "facts", None), _is_fact, _events)
