"""The decision on a consolidation command: the new memory, and the memories that it consolidates.

Only a language model's statements are stored. Otherwise the text of a consolidated memory is made
from those of its memories when it is read, so it never outlives them.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from recollect.schemas.changes import (
    AnyRow,
    DecidedPart,
    MemoryConsolidation,
    MemoryParent,
    MemoryStatement,
    StoredMemory,
    StoredMemoryVersion,
)
from recollect.schemas.events import (
    ConsolidateMemories,
    Event,
    MemoryScope,
    MemoryVisibility,
)
from recollect.schemas.ids import row_id
from recollect.schemas.memory_terms import (
    CONSOLIDATION_BONUS,
    DEFAULT_IMPORTANCE,
    MAX_CHILDREN,
    MAX_SOURCES,
    MIN_CHILDREN,
    reader_of,
)
from recollect.streams.agents.agent import ModelCalls
from recollect.streams.agents.memories.memory_versions import texts_of
from recollect.streams.agents.state import State
from recollect.streams.consolidation.days import day_of
from recollect.streams.consolidation.model.model_statements import checked_statements

_json = msgspec.json.Encoder()


class _Place(NamedTuple):
    """The owner, readers and namespace of a memory, which consolidated memories must share."""

    scope: MemoryScope
    visibility: MemoryVisibility
    user_id: str | None
    agent_id: str | None
    namespace: str | None


class _Child(NamedTuple):
    """A memory to consolidate: the id of its first version, and its position in the command.

    Times are unix ms. `sources`: the numbers of the events of its texts.
    """

    id: str
    position: int
    level: int
    place: _Place
    importance: float
    first_at: int
    last_at: int
    sources: tuple[int, ...]


def consolidated(
    event: Event, command: ConsolidateMemories, calls: ModelCalls | None, state: State
) -> list[DecidedPart]:
    """Return the rows of a consolidated memory; none if too few memories may be in it.

    `calls`: what a language model said about all of its texts.
    """
    children = _children(command, state)
    if len(children) < MIN_CHILDREN:
        return []
    id_ = row_id(event.occurred_at, "consolidation", event.id)
    sources = tuple(sorted({number for child in children for number in child.sources}))
    statements = []
    if calls is not None and set(command.sources) == set(sources):
        statements = checked_statements(calls.calls, {child.position for child in children})
    row = MemoryConsolidation(
        id=id_,
        level=children[0].level + 1,
        method=command.method,
        first_at=min(child.first_at for child in children),
        last_at=max(child.last_at for child in children),
        sources=_json.encode(sources).decode(),
        has_statements=int(bool(statements)),
        model=command.model if statements else None,
        number=event.number,
    )
    importance = min(1.0, max(child.importance for child in children) + CONSOLIDATION_BONUS)
    rows: list[AnyRow] = [row, *_as_memory(event, row, children[0].place, importance)]
    rows += [
        MemoryStatement(id_, position, statement.text, _json.encode(statement.positions).decode())
        for position, statement in enumerate(statements, 1)
    ]
    links = [
        DecidedPart(
            tuple(sorted({event.number, *child.sources})),
            [MemoryParent(child.id, id_, child.position)],
        )
        for child in children
    ]
    return [DecidedPart(tuple(sorted({event.number, *sources})), rows), *links]


def _children(command: ConsolidateMemories, state: State) -> list[_Child]:
    """Return the memories that may be consolidated: of one place and level, not yet in another."""
    children: dict[str, _Child] = {}
    for position, id_ in enumerate(command.memory_ids[:MAX_CHILDREN], 1):
        child = _child(id_, position, state)
        if child is None or child.id in children:
            continue
        first = next(iter(children.values()), child)
        if (child.place, child.level) == (first.place, first.level):
            children[child.id] = child
    if sum(len(child.sources) for child in children.values()) > MAX_SOURCES:
        return []
    return list(children.values())


def _child(id_: str, position: int, state: State) -> _Child | None:
    """Return a memory if it is current and active, and no other consolidates it."""
    version = state.memory_version(id_)
    if version is None or version.superseded_by_id is not None or version.state != "active":
        return None
    if state.is_consolidated(version.memory_id):
        return None
    memory = state.stored_memory(id_)
    if memory is None:
        return None
    level, first, last = 0, memory.valid_at, memory.valid_at
    if (row := state.consolidation(id_)) is not None:
        level, first, last = row.level, row.first_at, row.last_at
    return _Child(
        id=version.memory_id,
        position=position,
        level=level,
        place=_Place(*(getattr(memory, name) for name in _Place._fields)),
        importance=DEFAULT_IMPORTANCE if memory.importance is None else memory.importance,
        first_at=first,
        last_at=last,
        sources=texts_of(id_, state),
    )


def _as_memory(
    event: Event, row: MemoryConsolidation, place: _Place, importance: float
) -> tuple[StoredMemory, StoredMemoryVersion]:
    """Return a consolidated memory as a stored memory with a single version."""
    reader = reader_of(place.scope, place.visibility, place.user_id, place.agent_id)
    is_cluster = row.level == 1 and row.method == "affinity"
    memory = StoredMemory(
        id=row.id,
        memory_type="cluster" if is_cluster else "consolidated",
        scope=place.scope,
        visibility=place.visibility,
        user_id=place.user_id,
        agent_id=place.agent_id,
        reader_user=reader.user_id,
        reader_agent=reader.agent_id,
        namespace=place.namespace,
        path_key=None,
        importance=importance,
        valid_at=row.first_at,
        invalid_at=None,
        created_at=event.ingested_at,
        abstraction_level=row.level,
        derived_from="[]",
        enrichments="[]",
        earliest_date=day_of(row.first_at),
        latest_date=day_of(row.last_at),
        temporal_stability=None,
        stability_confidence=None,
        number=event.number,
    )
    version = StoredMemoryVersion(
        id=row.id,
        memory_id=row.id,
        version=1,
        length=0,
        place="",
        supersedes_id=None,
        superseded_by_id=None,
        superseded_at=None,
        state="active",
        state_set_by="",
    )
    return memory, version
