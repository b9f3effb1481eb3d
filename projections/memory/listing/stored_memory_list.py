"""Listing of stored memories, newest first, by their attributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apsw
import msgspec

from recollect.projections.memory.listing.learning_list import learning_records
from recollect.projections.memory.listing.tier_list import (
    ARCHIVED,
    ARCHIVED_IDS,
    CONSOLIDATED,
)
from recollect.projections.reader_views import Reader
from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.changes import StoredMemory, StoredMemoryVersion
from recollect.schemas.memory_terms import learning_writer, writer_of

_MEMORY = ", ".join(f"memories.{name}" for name in StoredMemory.__struct_fields__)
_VERSION = ", ".join(f"version.{name}" for name in StoredMemoryVersion.__struct_fields__)
_WIDTH = len(StoredMemory.__struct_fields__)
_ACCESSES = (
    "(SELECT sum(count) FROM memory_accesses WHERE memory_id = memories.id), "
    "(SELECT max(at) FROM memory_accesses WHERE memory_id = memories.id)"
)
_PLACE = "memories.user_id, memories.agent_id, memories.namespace"
#: The name of a memory as a file: all its versions have the same.
_NAME = "coalesce(memories.path_key, version.memory_id)"
# CROSS JOIN fixes the order: the index of times of `memories` gives the newest first.
_VERSIONS = "CROSS JOIN memory_versions AS version ON version.id = memories.id"
# A filter that fewer memories pass is looked up first; others are checked from the newest on.
_MAX_LOOKED_UP = 2_000
#: When a version stopped being true, or was replaced, whichever came first.
_INVALID_AT = "min(coalesce(memories.invalid_at, ?{0}), coalesce(version.superseded_at, ?{0}))"
#: Later than any time (unix ms).
_NEVER = 2**62


class ListedMemory(NamedTuple):
    """A version of a memory, its place among the versions, its uses, and whether it is archived."""

    memory: StoredMemory
    version: StoredMemoryVersion
    access_count: int
    last_accessed_at: int | None
    is_archived: bool


class MemoryPlace(NamedTuple):
    """Where memories are: their user, agent and namespace."""

    user_id: str | None
    agent_id: str | None
    namespace: str | None


class MemoryFile(NamedTuple):
    """A version of a memory as a file: its place, and its name there."""

    id: str
    place: MemoryPlace
    name: str
    memory_type: str
    created_at: int
    number: int


class MemoryFilter(msgspec.Struct, frozen=True, kw_only=True):
    """A filter of memories; times are unix ms, days YYYY-MM-DD.

    Attributes:
        created_from, created_before: the period in which they were stored; the end is exclusive.
        person: a normalised name.
        first_day, last_day: the first and the last day that their dates may have.
        valid_at, known_at: a time at which they were true, or stored and current.
        invalid_by: excludes memories whose `invalid_at` is at or before this time.
        superseded: include versions that are not current.
        archived: whether they are in the archival store.
        consolidated: whether another memory consolidates them.
        user_or_agent: the user or the agent, whichever has this name.
        places: narrows the search to these places, but memories of others may still be found.
        name: their name as a file.
    """

    ids: Sequence[str] | None = None
    excluded_ids: Sequence[str] = ()
    archived: bool | None = None
    consolidated: bool | None = None
    state: str | None = None
    scope: str | None = None
    memory_type: str | None = None
    namespace: str | None = None
    namespace_prefix: str | None = None
    created_from: int | None = None
    created_before: int | None = None
    entity_type: str | None = None
    person: str | None = None
    first_day: str | None = None
    last_day: str | None = None
    valid_at: int | None = None
    known_at: int | None = None
    invalid_by: int | None = None
    temporal_stability: str | None = None
    abstraction_level: int | None = None
    user_id: str | None = None
    agent_id: str | None = None
    user_or_agent: str | None = None
    places: Sequence[MemoryPlace] | None = None
    name: str | None = None
    superseded: bool = True


class _Filter(NamedTuple):
    """A condition on memories, and optionally a query for the ids of the memories that meet it.

    `{0}` and `{1}` in both stand for the numbers of the parameters.
    """

    sql: str
    values: tuple[object, ...] = ()
    ids: str | None = None


def memories(
    connection: apsw.Connection, chosen: MemoryFilter, after: tuple[int, int] | None, limit: int
) -> list[ListedMemory]:
    """Return up to `limit` memories that follow `after` (created_at, number) in the list."""
    memory_rows = _selected(
        connection,
        f"{_MEMORY}, {_VERSION}, {_ACCESSES}, {ARCHIVED}",
        chosen,
        after,
        f"LIMIT {limit:d}",
    )
    return [
        ListedMemory(
            StoredMemory(*row[:_WIDTH]),
            StoredMemoryVersion(*row[_WIDTH:-3]),
            row[-3] or 0,
            row[-2],
            bool(row[-1]),
        )
        for row in memory_rows
    ]


def memory_places(connection: apsw.Connection, chosen: MemoryFilter) -> list[MemoryPlace]:
    """Return the places in which there are memories."""
    found = _selected(connection, f"DISTINCT {_PLACE}", chosen, None, order="")
    return [MemoryPlace(*row) for row in found]


def memory_files(
    connection: apsw.Connection, chosen: MemoryFilter, after: tuple[int, int] | None
) -> Iterator[MemoryFile]:
    """Yield the memories that follow `after` (created_at, number) as files, newest first."""
    columns = f"memories.id, {_NAME}, memory_type, created_at, number, {_PLACE}"
    for id_, name, type_, at, number, *place in _selected(connection, columns, chosen, after):
        yield MemoryFile(id_, MemoryPlace(*place), name, type_, at, number)


def _selected(
    connection: apsw.Connection,
    columns: str,
    chosen: MemoryFilter,
    after: tuple[int, int] | None,
    limit: str = "",
    order: str = "ORDER BY memories.created_at DESC, memories.number DESC",
) -> apsw.Cursor:
    filters = [*_filters(chosen)]
    if after is not None:
        filters.append(_Filter("(memories.created_at, memories.number) < (?{0}, ?{1})", after))
    rarest = _rarest(connection, filters)
    conditions: list[str] = []
    values: list[object] = []
    source = "FROM memories"
    for condition in filters:
        places = range(len(values) + 1, len(values) + 1 + len(condition.values))
        values += condition.values
        if condition is rarest and condition.ids is not None:
            ids = condition.ids.format(*places)
            source = f"FROM ({ids}) AS found CROSS JOIN memories ON memories.id = found.id"
        conditions.append(condition.sql.format(*places))
    return connection.execute(
        f"SELECT {columns} {source} {_VERSIONS} WHERE {' AND '.join(conditions) or '1'} "
        f"{order} {limit}",
        values,
    )


def _rarest(connection: apsw.Connection, filters: Sequence[_Filter]) -> _Filter | None:
    """Return the filter that the fewest memories pass, if those are few."""
    counts: list[tuple[int, int, _Filter]] = []
    for condition in filters:
        if condition.ids is not None:
            ids = condition.ids.format(*range(1, 1 + len(condition.values)))
            count = scalar(
                connection,
                f"SELECT count(*) FROM ({ids} LIMIT {_MAX_LOOKED_UP + 1})",
                condition.values,
            )
            counts.append((int(count), len(counts), condition))
    count, _, rarest = min(counts, default=(_MAX_LOOKED_UP + 1, 0, None))
    return rarest if count <= _MAX_LOOKED_UP else None


def unwritable_records(connection: apsw.Connection, reader: Reader) -> frozenset[int]:
    """Return the numbers of the records that a user or an agent may not change.

    They are those of memories, trajectories and playbooks.
    """
    owner_rows = rows(connection, "SELECT DISTINCT scope, user_id, agent_id FROM memories")
    others = [owner for owner in owner_rows if not writer_of(*owner).includes(*reader)]
    numbers = rows(
        connection,
        "SELECT number FROM json_each(?) AS owner CROSS JOIN memories "
        "ON scope = owner.value ->> 0 AND user_id IS owner.value ->> 1 "
        "AND agent_id IS owner.value ->> 2",
        (json_array(others),),
    )
    learned = rows(
        connection,
        "SELECT id, scope, visibility, user_id, agent_id FROM playbooks "
        "UNION ALL SELECT id, scope, visibility, user_id, agent_id FROM trajectories",
    )
    of_others = [id_ for id_, *owner in learned if not learning_writer(*owner).includes(*reader)]
    return frozenset(number for (number,) in numbers) | {*learning_records(connection, of_others)}


def owners(
    connection: apsw.Connection, ids: Sequence[str]
) -> list[tuple[str, str | None, str | None]]:
    """Return the (scope, user, agent) of the stored memories among these events."""
    owner_rows = rows(
        connection,
        "SELECT scope, user_id, agent_id FROM json_each(?) AS given "
        "CROSS JOIN memories ON memories.id = given.value",
        (json_array(ids),),
    )
    return [(scope, user, agent) for scope, user, agent in owner_rows]


def stored_ids(connection: apsw.Connection, ids: Sequence[str]) -> set[str]:
    """Filter ids of events to those of stored memories."""
    found = rows(
        connection,
        "SELECT memories.id FROM json_each(?) AS given "
        "CROSS JOIN memories ON memories.id = given.value",
        (json_array(ids),),
    )
    return {id_ for (id_,) in found}


def related_memories(connection: apsw.Connection, ids: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return (memory, relation, other memory), as the relations of their facts imply."""
    relation_rows = rows(
        connection,
        """
        SELECT DISTINCT own.source_event_id, relation, other.source_event_id
          FROM json_each(?1) AS given
          CROSS JOIN facts AS own ON own.source_event_id = given.value
          JOIN fact_relations ON fact_relations.fact_id = own.id
          JOIN facts AS other ON other.id = target_fact_id
          JOIN memories ON memories.id = other.source_event_id
        UNION
        SELECT DISTINCT own.source_event_id, 'EXTENDED BY', other.source_event_id
          FROM json_each(?1) AS given
          CROSS JOIN facts AS own ON own.source_event_id = given.value
          JOIN fact_relations ON target_fact_id = own.id AND relation = 'EXTENDS'
          JOIN facts AS other ON other.id = fact_relations.fact_id
          JOIN memories ON memories.id = other.source_event_id
        UNION
        SELECT DISTINCT own.source_event_id, 'UPDATES', other.source_event_id
          FROM json_each(?1) AS given
          CROSS JOIN facts AS own ON own.source_event_id = given.value
          JOIN fact_ends ON fact_ends.superseded_by = own.id
          JOIN facts AS other ON other.id = fact_ends.fact_id
          JOIN memories ON memories.id = other.source_event_id
        ORDER BY 1, 2, 3
        """,
        (json_array(ids),),
    )
    return [(own, relation, other) for own, relation, other in relation_rows if own != other]


_EQUAL = ("scope", "memory_type", "namespace", "temporal_stability", "abstraction_level")
_OWNERS = ("user_id", "agent_id")


def _filters(chosen: MemoryFilter) -> Iterator[_Filter]:
    if chosen.ids is not None:
        ids = "SELECT value AS id FROM json_each(?{0})"
        yield _Filter(f"memories.id IN ({ids})", (json_array(chosen.ids),), ids)
    if chosen.excluded_ids:
        excluded = "SELECT value FROM json_each(?{0})"
        yield _Filter(f"memories.id NOT IN ({excluded})", (json_array(chosen.excluded_ids),))
    if chosen.consolidated is not None:
        yield _Filter(CONSOLIDATED if chosen.consolidated else f"NOT {CONSOLIDATED}")
    if chosen.archived is not None:
        yield (
            _Filter(ARCHIVED, (), ARCHIVED_IDS) if chosen.archived else _Filter(f"NOT {ARCHIVED}")
        )
    for name in (*_EQUAL, *_OWNERS):
        if (value := getattr(chosen, name)) is not None:
            yield _Filter(f"memories.{name} = ?{{0}}", (value,))
    if (owner := chosen.user_or_agent) is not None:
        ids = "SELECT id FROM memories WHERE {0} = ?{{0}}"
        either = f"{ids.format('user_id')} UNION {ids.format('agent_id')}"
        yield _Filter("?{0} IN (memories.user_id, memories.agent_id)", (owner,), either)
    if chosen.places is not None:
        ids = (
            "SELECT memories.id FROM json_each(?{0}) AS place CROSS JOIN memories "
            "ON namespace IS place.value ->> 2 AND user_id IS place.value ->> 0 "
            "AND agent_id IS place.value ->> 1"
        )
        yield _Filter("?{0} IS NOT NULL", (json_array(chosen.places),), ids)
    if chosen.name is not None:
        ids = (
            "SELECT id FROM memories WHERE path_key = ?{0} "
            "UNION SELECT id FROM memory_versions WHERE memory_id = ?{0}"
        )
        yield _Filter(f"{_NAME} = ?{{0}}", (chosen.name,), ids)
    if chosen.state is not None:
        # Most memories are active, so only the others have an index.
        ids = "SELECT id FROM memory_versions WHERE state <> 'active' AND state = ?{0}"
        yield _Filter(
            "version.state = ?{0}", (chosen.state,), None if chosen.state == "active" else ids
        )
    if not chosen.superseded:
        yield _Filter("version.superseded_by_id IS NULL")
    if (prefix := chosen.namespace_prefix) is not None:
        # The last character of Unicode follows every name with the prefix.
        end = f"{prefix}\U0010ffff"
        yield _among("namespace >= ?{0} AND namespace < ?{1}", (prefix, end))
    if chosen.created_from is not None:
        yield _Filter("memories.created_at >= ?{0}", (chosen.created_from,))
    if chosen.created_before is not None:
        yield _Filter("memories.created_at < ?{0}", (chosen.created_before,))
    for kind, value in (("type", chosen.entity_type), ("person", chosen.person)):
        if value is not None:
            named = f"FROM memory_references WHERE kind = '{kind}' AND value = ?{{0}}"
            yield _Filter(
                f"EXISTS (SELECT 1 {named} AND memory_id = memories.id)",
                (value,),
                f"SELECT memory_id AS id {named}",
            )
    first, last = chosen.first_day, chosen.last_day
    if first is not None and last is not None:
        # The first day is between both, since it is not after the last.
        yield _among("earliest_date >= ?{0} AND earliest_date <= ?{1}", (first, last))
    elif first is not None:
        yield _among("earliest_date >= ?{0}", (first,))
    if last is not None:
        yield _among("latest_date <= ?{0}", (last,))
    if chosen.valid_at is not None:
        yield _among("valid_at <= ?{0}", (chosen.valid_at,))
    if chosen.known_at is not None:
        yield _Filter("memories.created_at <= ?{0}", (chosen.known_at,))
    for point in (chosen.valid_at, chosen.known_at):
        if point is not None:
            yield _Filter(f"{_INVALID_AT} > ?{{1}}", (_NEVER, point))
    if chosen.invalid_by is not None:
        # Only `invalid_at` counts here: replaced versions have a filter of their own.
        yield _Filter("coalesce(memories.invalid_at, ?{0}) > ?{1}", (_NEVER, chosen.invalid_by))


def _among(condition: str, values: tuple[object, ...]) -> _Filter:
    """Return a filter by a range of an indexed column, with which the condition begins."""
    column = condition.partition(" ")[0]
    # The unary plus keeps the planner from sorting all memories in the range.
    checked = condition.replace(column, f"+memories.{column}")
    return _Filter(checked, values, f"SELECT id FROM memories WHERE {condition}")
