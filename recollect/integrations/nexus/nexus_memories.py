"""Stored memories in the form of Nexus: its fields, its JSON columns, its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from recollect import (
    InvalidInput,
    MemoryInput,
    MemoryStateReport,
    StoredMemory,
    UnknownId,
    UnknownZone,
    Zone,
)
from recollect.integrations.nexus.nexus_bodies import StoreBody
from recollect.service import malformed_parameter

_json = msgspec.json.Encoder()
#: Nexus' names of the parameters of `query_memories` that have another name there.
NATIVE_NAMES = {
    "after": "time_after",
    "before": "time_before",
    "event_after": "first",
    "event_before": "last",
    "valid_at_point": "valid_at",
    "system_at_point": "known_at",
    "include_invalid": "superseded",
    "include_superseded": "superseded",
}
FLAGS = ("include_invalid", "include_superseded")
#: The text parameters of a query.
TEXTS = (
    *("scope", "memory_type", "state", "during", "entity_type", "person", "temporal_stability"),
    *("namespace", "namespace_prefix", "cursor"),
    *(name for name in NATIVE_NAMES if name not in FLAGS),
)
_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no", "")
_NOT_STORED = ("zone_id",)


def to_input(body: StoreBody) -> MemoryInput:
    """Return a body of `store` as a memory to store."""
    given = {name: getattr(body, name) for name in body.__struct_fields__}
    fields = {
        name: value
        for name, value in given.items()
        if not isinstance(value, bool) and name not in _NOT_STORED
    }
    asked = [name for name, value in given.items() if value is True]
    return msgspec.convert({**fields, "enrichments": asked}, MemoryInput)


def to_filters(given: dict[str, str]) -> dict[str, Any]:
    """Return the parameters of a query or a list as filters of `query_memories`.

    Raises:
        Refused: a parameter is unknown, or not a value of its type.
    """
    filters: dict[str, Any] = {}
    for name, text in given.items():
        if name in FLAGS:
            if text.lower() not in (*_TRUE, *_FALSE):
                raise malformed_parameter(name, f"{text[:40]!r}: give true or false")
            if text.lower() in _TRUE:
                filters[NATIVE_NAMES[name]] = True
        elif name == "limit":
            digits = text.removeprefix("-")
            if not (digits.isascii() and digits.isdecimal() and len(digits) <= 9):
                raise malformed_parameter(name, f"{text[:40]!r}: give a number from 1 to 1000")
            filters[name] = int(text)
        elif name in TEXTS:
            filters[NATIVE_NAMES.get(name, name)] = text
        elif name not in _NOT_STORED:
            known = ", ".join(sorted((*TEXTS, *FLAGS, "limit")))
            raise malformed_parameter(name[:60], f"unknown parameter; choose from {known}")
    return filters


def page(zone: Zone, given: dict[str, str]) -> dict[str, Any]:
    """Return the memories that match the parameters of a query or a list."""
    try:
        found = zone.query_memories(**to_filters(given))
    except InvalidInput as error:
        raise InvalidInput(_with_nexus_names(str(error))) from None
    memories = [in_nexus_form(zone.name, memory) for memory in found]
    return {"memories": memories, "total": len(memories), "cursor": found.cursor}


def _with_nexus_names(message: str) -> str:
    """Return an error message that begins with the parameter's name in Nexus."""
    name, colon, rest = message.partition(":")
    names = {native: nexus for nexus, native in NATIVE_NAMES.items()}
    return f"{names.get(name, name)}{colon}{rest}"


def one(zone: Zone, id_: str) -> dict[str, Any]:
    """Return a memory by its id.

    Raises:
        UnknownId: there is no such memory.
    """
    try:
        return in_nexus_form(zone.name, zone.stored_memory(id_))
    except UnknownZone:
        raise unknown(id_) from None


def at_path(zone: Zone, path: str, given: dict[str, str]) -> dict[str, Any]:
    """Return the memory at a virtual path.

    Raises:
        UnknownId: nothing is at the path.
        Refused: a parameter is unknown.
    """
    _page_parameters(given, ())
    try:
        return in_nexus_form(zone.name, zone.read_path(path))
    except UnknownZone:
        raise UnknownId(f"no memory is at the path {path[:200]!r}") from None


def directory(zone: Zone, path: str, given: dict[str, str]) -> dict[str, Any]:
    """Return a page of what is in a virtual directory.

    Raises:
        Refused: a parameter is unknown, or not a value of its type.
    """
    found: dict[str, Any] = msgspec.to_builtins(
        zone.list_paths(path, **_page_parameters(given, ("limit", "cursor")))
    )
    return found


def _page_parameters(given: dict[str, str], known: Sequence[str]) -> dict[str, Any]:
    found = to_filters(given)
    if other := [name for name in found if name not in known]:
        raise malformed_parameter(other[0][:60], "unknown parameter")
    return found


def in_nexus_form(zone: str, memory: StoredMemory) -> dict[str, Any]:
    """Return a memory with the names of Nexus' columns."""
    fields: dict[str, Any] = msgspec.to_builtins(memory)
    entities = fields.pop("entities")
    dates = fields.pop("temporal_refs")
    relationships = fields.pop("relationships")
    return {
        **fields,
        "zone_id": zone,
        "importance_original": memory.importance,
        "importance": memory.effective_importance,
        "current_version": memory.version,
        "entities_json": _json.encode(entities).decode(),
        "entity_types": ",".join(memory.entity_types),
        "person_refs": ",".join(memory.person_refs),
        "relationships_json": _json.encode(relationships).decode(),
        "temporal_refs_json": _json.encode(dates).decode(),
    }


def set_state(zone: Zone, ids: Sequence[str], state: Any) -> dict[str, Any]:
    """Set the state of memories; the answer lists which were set and which were not."""
    report: MemoryStateReport = zone.set_memory_state(ids, state)
    failed = [*report.unknown, *report.unchanged]
    return {
        "success": len(report.changed),
        "failed": len(failed),
        "memory_ids": report.changed,
        "failed_ids": failed,
    }


def set_one_state(zone: Zone, id_: str, state: Any) -> dict[str, Any]:
    """Set the state of one memory.

    Raises:
        UnknownId: there is no such memory.
    """
    report = zone.set_memory_state([id_], state)
    if report.unknown:
        raise unknown(id_)
    # A deleted memory keeps its state.
    now = zone.stored_memory(id_).state
    return {"memory_id": id_, "state": now, "success": now == state}


def unknown(id_: str) -> UnknownId:
    """Return the error for an id that no memory has."""
    return UnknownId(f"no memory has the id {id_[:200]!r}")
