"""Hindsight's memories, as its list of a bank's memories returns them.

A memory is dated when it was mentioned, or else when it was stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.assistants.claude_transcript import text_or_none
from recollect.streams.adapters.memories.foreign_memory import array_adapter, memory_event

_SYSTEM = "hindsight"
_KINDS = frozenset({"fact_type", "type"})
# Fields that are mapped to fields of the event, and fields that mean nothing outside Hindsight.
_USED = frozenset({"id", "text", "embedding", "metadata"})


def _is_memory(fields: frozenset[str]) -> bool:
    dated = {"date", "mentioned_at"} & fields
    return {"id", "text", "context", "entities"} <= fields and bool(dated and fields & _KINDS)


def _events(raw: dict[str, Any]) -> Iterator[InboundEvent]:
    id = text_or_none(raw.get("id"))
    if id is None:
        raise InvalidInput("a memory without an id")
    own = raw.get("metadata")
    rest = {name: value for name, value in raw.items() if name not in _USED}
    yield memory_event(
        _SYSTEM,
        raw.get("text"),
        raw.get("mentioned_at") or raw.get("date"),
        id=id,
        sender=raw.get("bank_id"),
        metadata={**(own if isinstance(own, dict) else {}), **rest},
    )


ADAPTER = array_adapter(_SYSTEM, ("items", None), _is_memory, _events)
