"""Queries of memory.db by agents about the versions of stored memories."""

from __future__ import annotations

import apsw

from recollect.projections.sqlite import rows, scalar
from recollect.schemas.changes import MemoryConsolidation, StoredMemory, StoredMemoryVersion
from recollect.schemas.memory_terms import NO_AUTHOR, MemoryAuthor

_VERSION = ", ".join(StoredMemoryVersion.__struct_fields__)
_MEMORY = ", ".join(StoredMemory.__struct_fields__)
_CONSOLIDATION = ", ".join(MemoryConsolidation.__struct_fields__)


def version(connection: apsw.Connection, id_: str) -> StoredMemoryVersion | None:
    """Return a version of a stored memory by the id of its event."""
    found = rows(connection, f"SELECT {_VERSION} FROM memory_versions WHERE id = ?", (id_,))
    return next((StoredMemoryVersion(*row) for row in found), None)


def stored_memory(connection: apsw.Connection, id_: str) -> StoredMemory | None:
    """Return the attributes of a version of a stored memory by the id of its event."""
    found = rows(connection, f"SELECT {_MEMORY} FROM memories WHERE id = ?", (id_,))
    return next((StoredMemory(*row) for row in found), None)


def is_private(connection: apsw.Connection, fact_id: str) -> bool:
    """Return whether a fact is from a memory that not everyone may read."""
    found = rows(
        connection,
        "SELECT 1 FROM facts JOIN memories ON memories.id = source_event_id WHERE facts.id = ? "
        "AND (reader_user IS NOT NULL OR reader_agent IS NOT NULL)",
        (fact_id,),
    )
    return bool(found)


def author(connection: apsw.Connection, fact_id: str) -> MemoryAuthor:
    """Return who stored the memory that a fact is from."""
    found = rows(
        connection,
        "SELECT scope, user_id, agent_id FROM facts JOIN memories ON memories.id = source_event_id "
        "WHERE facts.id = ?",
        (fact_id,),
    )
    return next((MemoryAuthor(*row) for row in found), NO_AUTHOR)


def versions(
    connection: apsw.Connection, memory_id: str, *, after: int = 0, limit: int = -1
) -> list[StoredMemoryVersion]:
    """Return the versions of a stored memory after a number, the first one first; -1: all."""
    version_rows = rows(
        connection,
        f"SELECT {_VERSION} FROM memory_versions WHERE memory_id = ? AND version > ? "
        "ORDER BY version, id LIMIT ?",
        (memory_id, after, limit),
    )
    return [StoredMemoryVersion(*row) for row in version_rows]


def newest_version(connection: apsw.Connection, memory_id: str) -> StoredMemoryVersion | None:
    """Return the newest version of a stored memory by the id of its first one."""
    found = rows(
        connection,
        f"SELECT {_VERSION} FROM memory_versions WHERE memory_id = ? "
        "ORDER BY version DESC, id DESC LIMIT 1",
        (memory_id,),
    )
    return next((StoredMemoryVersion(*row) for row in found), None)


def version_at(connection: apsw.Connection, place: str) -> StoredMemoryVersion | None:
    """Return the current version of the memory at a place that is not deleted."""
    found = rows(
        connection,
        f"SELECT {_VERSION} FROM memory_versions "
        "WHERE place = ? AND place <> '' AND superseded_by_id IS NULL AND state <> 'deleted' "
        "ORDER BY id DESC LIMIT 1",
        (place,),
    )
    return next((StoredMemoryVersion(*row) for row in found), None)


def consolidation(connection: apsw.Connection, id_: str) -> MemoryConsolidation | None:
    """Return what a consolidated memory is made of; None for any other memory."""
    found = rows(
        connection, f"SELECT {_CONSOLIDATION} FROM memory_consolidations WHERE id = ?", (id_,)
    )
    return next((MemoryConsolidation(*row) for row in found), None)


def parent_of(connection: apsw.Connection, memory_id: str) -> str | None:
    """Return the id of the last memory that consolidated one, deleted or not."""
    found: str | None = scalar(
        connection, "SELECT parent_id FROM memory_parents WHERE child_id = ?", (memory_id,)
    )
    return found
