"""Mem0's memories, as its `get_all` returns them: from its library, its server or its platform.

The text of a memory dates from its last update. The user that it belongs to is its sender, or else
its agent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.assistants.claude_transcript import text_or_none
from recollect.streams.adapters.memories.foreign_memory import array_adapter, memory_event

_SYSTEM = "mem0"
#: A memory of Mem0 has at least one of these fields besides `id` and `memory`.
_OWN = frozenset({"hash", "user_id", "agent_id", "run_id", "app_id", "owner", "categories"})
# Fields that are mapped to fields of the event, and fields that mean nothing outside Mem0.
_USED = frozenset({"id", "memory", "user_id", "run_id", "metadata", "hash", "score"})


def _is_memory(fields: frozenset[str]) -> bool:
    return {"id", "memory", "created_at"} <= fields and bool(fields & _OWN)


def _events(raw: dict[str, Any]) -> Iterator[InboundEvent]:
    id = text_or_none(raw.get("id"))
    if id is None:
        raise InvalidInput("a memory without an id")
    own = raw.get("metadata")
    rest = {name: value for name, value in raw.items() if name not in _USED}
    yield memory_event(
        _SYSTEM,
        raw.get("memory"),
        raw.get("updated_at") or raw.get("created_at"),
        id=id,
        sender=raw.get("user_id") or raw.get("agent_id") or raw.get("app_id"),
        session=raw.get("run_id"),
        metadata={**(own if isinstance(own, dict) else {}), **rest},
    )


ADAPTER = array_adapter(_SYSTEM, ("results", "memories", None), _is_memory, _events)
