"""The tiers of stored memories (C10): which memories are in the main context, and which are due.

Every current, active memory is in one tier. The archival store has those that were archived, those
that another memory consolidates, and those in the namespace `archival/`. Of the others, the main
context has the most recently used, and the recall store has the rest and those in the namespace
`recall/`. A memory is used when it is stored, read or restored.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.changes import StoredMemoryArchival
from recollect.schemas.events import ArchiveCause
from recollect.schemas.memory_terms import TIERS, MemoryTier, TierLimits
from recollect.text.stability import TTL_DAYS

#: Number of newly stored memories after which the ages of memories are checked again.
ARCHIVE_CHECK_INTERVAL = 5

#: Whether a row of `memories` is in the namespace of the recall store; "0" follows "/".
_IN_RECALL = "coalesce(memories.namespace >= 'recall/' AND memories.namespace < 'recall0', 0)"
#: Whether a memory that is not deleted consolidates the memory of a row of `memory_versions`.
CONSOLIDATED = (
    "EXISTS (SELECT 1 FROM memory_parents JOIN memory_versions AS above ON above.id = parent_id "
    "WHERE child_id = version.memory_id AND above.state <> 'deleted')"
)
#: Whether a row of `memories` is in the archival store.
ARCHIVED = "(SELECT is_archived FROM archive_states WHERE id = memories.id)"
#: Ids of the versions in the archival store.
ARCHIVED_IDS = "SELECT id FROM archive_states WHERE is_archived = 1"
#: Conditions on a row of `archive_states`: a current, active memory that is outside the archival
#: store, or inside. Every index of the table begins with these columns.
_OUTSIDE = "is_archived = 0 AND is_current = 1"
_INSIDE = "is_archived = 1 AND is_current = 1"
#: The sources of uses: (time, record, memory), the latest first.
_USES = (
    "SELECT created_at AS at, number, id AS memory_id FROM memories",
    "SELECT at, number, memory_id FROM memory_accesses",
    "SELECT at, number, memory_id FROM memory_archivals WHERE NOT is_archived",
)
_LAST_USED = (
    "max(memories.created_at, "
    "coalesce((SELECT max(at) FROM memory_accesses WHERE memory_id = memories.id), 0), "
    "coalesce((SELECT max(at) FROM memory_archivals WHERE memory_id = memories.id), 0))"
)
_DAY_MS, _HOUR_MS = 86_400_000, 3_600_000
#: Ids of memories outside the archival store that no longer hold at the time ?1.
_EXPIRED = " UNION ALL ".join(
    f"SELECT id FROM archive_states WHERE {_OUTSIDE} AND {expired}"
    for expired in (
        "invalid_at <= ?1",
        *(
            f"temporal_stability = '{kind}' AND created_at < ?1 - {days * _DAY_MS}"
            for kind, days in TTL_DAYS.items()
            if days is not None
        ),
    )
)
#: Ids of memories outside the archival store that were not used since ?2, if at least ?1 memories
#: with the same readers were used more recently. Memories stored since ?2 count as used more
#: recently, so at most ?1 of them are counted; only older memories are sorted by their last use.
_AGED = f"""
    WITH older AS MATERIALIZED (
        SELECT memories.id, memories.number, reader_user, reader_agent,
               {_IN_RECALL} AS in_recall, {_LAST_USED} AS used_at
          FROM archive_states CROSS JOIN memories USING (id)
         WHERE {_OUTSIDE} AND archive_states.created_at < ?2
    ), readers AS MATERIALIZED (
        SELECT DISTINCT reader_user, reader_agent FROM older WHERE NOT in_recall
    ), newer AS MATERIALIZED (
        SELECT reader_user, reader_agent, (
                   SELECT count(*) FROM (
                       SELECT 1 FROM memories CROSS JOIN archive_states USING (id)
                        WHERE memories.reader_user IS readers.reader_user
                          AND memories.reader_agent IS readers.reader_agent
                          AND memories.created_at >= ?2 AND {_OUTSIDE} AND NOT {_IN_RECALL}
                        LIMIT ?1
                   )
               ) AS memories
          FROM readers
    ), ranked AS (
        SELECT *, row_number() OVER (
                   PARTITION BY reader_user, reader_agent, in_recall
                   ORDER BY used_at DESC, number DESC
               ) AS place
          FROM older
    )
    SELECT id FROM ranked LEFT JOIN newer
        ON newer.reader_user IS ranked.reader_user AND newer.reader_agent IS ranked.reader_agent
     WHERE (in_recall OR place + newer.memories > ?1) AND used_at < ?2
     ORDER BY used_at, number
"""


def main_context(connection: apsw.Connection, capacity: int) -> list[str]:
    """Return the ids of the memories in the main context, the most recently used first."""
    found: dict[str, None] = {}
    uses = heapq.merge(*(_uses(connection, source) for source in _USES), reverse=True)
    for _, _, memory_id in uses:
        if len(found) == capacity:
            break
        found.setdefault(memory_id)
    return list(found)


def _uses(connection: apsw.Connection, source: str) -> Iterator[tuple[int, int, str]]:
    """Yield (time, record, memory) of uses of memories that may be in the main context."""
    return connection.execute(
        f"SELECT used.at, used.number, used.memory_id FROM ({source}) AS used "
        "CROSS JOIN archive_states ON archive_states.id = used.memory_id "
        "CROSS JOIN memories ON memories.id = used.memory_id "
        f"WHERE {_OUTSIDE} AND NOT {_IN_RECALL} ORDER BY used.at DESC, used.number DESC"
    )


class TierCount(NamedTuple):
    """The memories of a tier, and when the first and the last of them were stored (unix ms)."""

    memories: int
    oldest: int | None
    newest: int | None


def tier_counts(connection: apsw.Connection, main: Sequence[str]) -> dict[MemoryTier, TierCount]:
    """Return the size of each tier, given the main context."""
    tier_rows = rows(
        connection,
        f"""
        WITH main AS (SELECT value AS id FROM json_each(?)), of_main AS (
            SELECT count(*) AS memories, min(created_at) AS oldest, max(created_at) AS newest
              FROM main CROSS JOIN archive_states USING (id) WHERE is_current = 1
        )
        SELECT 'main', * FROM of_main
        UNION ALL
        SELECT 'recall',
               (SELECT count(*) FROM archive_states WHERE {_OUTSIDE}) - of_main.memories,
               (SELECT created_at FROM archive_states
                 WHERE {_OUTSIDE} AND id NOT IN main ORDER BY created_at LIMIT 1),
               (SELECT created_at FROM archive_states
                 WHERE {_OUTSIDE} AND id NOT IN main ORDER BY created_at DESC LIMIT 1)
          FROM of_main
        UNION ALL
        SELECT 'archival', count(*), min(created_at), max(created_at)
          FROM archive_states WHERE {_INSIDE}
        """,
        (json_array(main),),
    )
    counts = {tier: TierCount(*counted) for tier, *counted in tier_rows}
    return {tier: counts[tier] for tier in TIERS}


def numbers_in(
    connection: apsw.Connection, tier: MemoryTier, main: Sequence[str]
) -> frozenset[int]:
    """Return the numbers of the records of a tier's memories, given the main context."""
    condition = {
        "main": "is_current AND id IN (SELECT id FROM main)",
        "recall": f"{_OUTSIDE} AND id NOT IN (SELECT id FROM main)",
        "archival": _INSIDE,
    }[tier]
    number_rows = rows(
        connection,
        "WITH main AS (SELECT value AS id FROM json_each(?)) "
        f"SELECT number FROM archive_states WHERE {condition}",
        (json_array(main),),
    )
    return frozenset(number for (number,) in number_rows)


def archivals(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, StoredMemoryArchival]:
    """Return id -> last archiving or restoration, for the memories among these that have one."""
    columns = ", ".join(f"archival.{name}" for name in StoredMemoryArchival.__struct_fields__)
    archival_rows = rows(
        connection,
        f"SELECT {columns} FROM json_each(?) AS given "
        "CROSS JOIN memory_archivals AS archival ON archival.memory_id = given.value "
        "ORDER BY archival.number",
        (json_array(ids),),
    )
    return {row[0]: StoredMemoryArchival(*row) for row in archival_rows}


def is_check_due(connection: apsw.Connection) -> bool:
    """Return whether enough memories were stored since memories were last archived for age."""
    newest = scalar(
        connection,
        "SELECT number FROM memories ORDER BY created_at DESC, number DESC "
        f"LIMIT 1 OFFSET {ARCHIVE_CHECK_INTERVAL - 1}",
    )
    last = scalar(connection, "SELECT max(number) FROM memory_archivals WHERE cause = 'age'")
    return newest is not None and (last is None or newest > last)


def _is_any_older(connection: apsw.Connection, at: int) -> bool:
    """Return whether any memory outside the archival store was stored before a time (unix ms)."""
    found = scalar(
        connection,
        f"SELECT EXISTS (SELECT 1 FROM archive_states WHERE {_OUTSIDE} AND created_at < ?)",
        (at,),
    )
    return bool(found)


def due_memories(
    connection: apsw.Connection, now: int, limits: TierLimits
) -> dict[ArchiveCause, list[str]]:
    """Return the memories to archive at a time (unix ms), by cause, the longest unused first.

    A memory expires when what it says no longer holds, unless it was restored. It is archived for
    its age if it was unused for that long and is outside the main context of everyone who may read
    it. Memories are compared only with those that have the same readers, so that nothing depends on
    memories that some of its readers cannot see.
    """
    expired = rows(
        connection,
        f"SELECT id FROM archive_states AS expired WHERE id IN ({_EXPIRED}) "
        "AND NOT EXISTS (SELECT 1 FROM memory_archivals WHERE memory_id = expired.id) "
        "ORDER BY created_at, number",
        (now,),
    )
    unused_since = now - round(limits.max_age_hours * _HOUR_MS)
    aged: list[tuple[str]] = []
    if is_check_due(connection) and _is_any_older(connection, unused_since):
        aged = rows(connection, _AGED, (limits.main_capacity, unused_since))
    by_expiry = [id_ for (id_,) in expired]
    known = set(by_expiry)
    return {"expiry": by_expiry, "age": [id_ for (id_,) in aged if id_ not in known]}
