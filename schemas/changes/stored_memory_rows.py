"""Rows of memory.db about stored memories: texts that somebody asked to remember.

A memory is a sequence of versions, each of which is a `remember` event. Its text is in events.db.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from recollect.schemas.changes.row import Row
from recollect.schemas.events import (
    ArchiveCause,
    ConsolidationMethod,
    MemoryScope,
    MemoryState,
    MemoryVisibility,
)


class StoredMemory(Row, frozen=True, array_like=True, tag="stored_memory"):
    """A version of a stored memory; `id` is the id of its event.

    Attributes:
        valid_at, invalid_at: the period in which it is true (unix ms); None: without an end.
        created_at: when the ledger accepted it (unix ms).
        reader_user, reader_agent: who may read it; None: everyone.
        derived_from, enrichments: JSON arrays.
        earliest_date, latest_date: the first and last day that it speaks of (YYYY-MM-DD).
    """

    TABLE: ClassVar = "memories"
    KEY: ClassVar = ("id",)
    id: str
    memory_type: str
    scope: MemoryScope
    visibility: MemoryVisibility
    user_id: str | None
    agent_id: str | None
    reader_user: str | None
    reader_agent: str | None
    namespace: str | None
    path_key: str | None
    importance: float | None
    valid_at: int
    invalid_at: int | None
    created_at: int
    abstraction_level: int
    derived_from: str
    enrichments: str
    earliest_date: str | None
    latest_date: str | None
    temporal_stability: Literal["static", "semi_dynamic", "dynamic"] | None
    stability_confidence: float | None
    number: int


class StoredMemoryVersion(Row, frozen=True, array_like=True, tag="memory_version"):
    """The place of a version among the versions of its memory, and the memory's state.

    Attributes:
        id: id of the version's event.
        memory_id: id of the first version.
        version: 1, 2, ...
        length: number of characters of its text.
        place: hash of the owner, namespace and path key; "" without a path key.
        superseded_at: when the next version was stored (unix ms).
        state_set_by: id of the event that set the state; "" if none did.
    """

    TABLE: ClassVar = "memory_versions"
    KEY: ClassVar = ("id",)
    id: str
    memory_id: str
    version: int
    length: int
    place: str
    supersedes_id: str | None
    superseded_by_id: str | None
    superseded_at: int | None
    state: MemoryState
    state_set_by: str


class StoredMemoryRecallCount(Row, frozen=True, array_like=True, tag="memory_access"):
    """The number of retrievals of a memory that the ledger record `number` of time `at` reports."""

    TABLE: ClassVar = "memory_accesses"
    KEY: ClassVar = ("number", "memory_id")
    number: int
    memory_id: str
    count: int
    at: int


class StoredMemoryArchival(Row, frozen=True, array_like=True, tag="memory_archival"):
    """What the ledger record `number` of time `at` (unix ms) did: it archived or restored a memory.

    Attributes:
        memory_id: id of the version that was current.
        is_archived: 1 if it was archived, 0 if it was restored.
    """

    TABLE: ClassVar = "memory_archivals"
    KEY: ClassVar = ("memory_id", "number")
    memory_id: str
    number: int
    is_archived: int
    cause: ArchiveCause
    at: int


class StoredMemoryReference(Row, frozen=True, array_like=True, tag="memory_reference"):
    """An entity type or a person's name (normalised) that a version of a memory mentions."""

    TABLE: ClassVar = "memory_references"
    KEY: ClassVar = ("memory_id", "position")
    memory_id: str
    position: int
    kind: Literal["type", "person"]
    value: str


class MemoryConsolidation(Row, frozen=True, array_like=True, tag="memory_consolidation"):
    """A memory that consolidates others; its text is made from theirs when it is read.

    Attributes:
        level: 1 if it consolidates texts, else one more than the level of the memories in it.
        first_at, last_at: the times of its first and last text (unix ms).
        sources: JSON array of the numbers of the events of its texts.
        has_statements: 1 if a language model stated what all of these texts say.
    """

    TABLE: ClassVar = "memory_consolidations"
    KEY: ClassVar = ("id",)
    id: str
    level: int
    method: ConsolidationMethod
    first_at: int
    last_at: int
    sources: str
    has_statements: int
    model: str | None
    number: int


class MemoryParent(Row, frozen=True, array_like=True, tag="memory_parent"):
    """The parent of a memory: it consolidates the memory, which is thereby archived.

    `child_id` is the id of the first version of the archived memory.
    """

    TABLE: ClassVar = "memory_parents"
    KEY: ClassVar = ("child_id",)
    child_id: str
    parent_id: str
    position: int


class MemoryStatement(Row, frozen=True, array_like=True, tag="memory_statement"):
    """A sentence of a language model about the memories in a consolidated one.

    `positions`: JSON array of the positions of the memories that it rests on.
    """

    TABLE: ClassVar = "memory_statements"
    KEY: ClassVar = ("memory_id", "position")
    memory_id: str
    position: int
    text: str
    positions: str
