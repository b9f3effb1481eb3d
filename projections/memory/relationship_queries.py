"""Queries of memory.db about relationships between entities, as the facts that state them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows
from recollect.schemas.choices import RelationshipType

Direction = Literal["out", "in", "both"]
#: The columns of a relationship's near and far end, by direction.
_ENDS = {
    "out": (("source_entity_id", "target_entity_id"),),
    "in": (("target_entity_id", "source_entity_id"),),
    "both": (
        ("source_entity_id", "target_entity_id"),
        ("target_entity_id", "source_entity_id"),
    ),
}


class RelationshipFilter(NamedTuple):
    """A filter of relationships by type, and by validity at a time (unix ms) or now.

    `ended`: include those that have ended.
    """

    types: tuple[RelationshipType, ...] | None = None
    valid_ms: int | None = None
    ended: bool = False


#: All current relationships.
CURRENT = RelationshipFilter()


class Evidence(NamedTuple):
    """A fact that states a relationship in text[start:end]. Times are unix ms."""

    source: str
    target: str
    type: RelationshipType
    fact_id: str
    confidence: float
    as_of: int
    ended_at: int | None
    start: int
    end: int


_OF_TYPE = "(?2 IS NULL OR evidence.relationship_type IN (SELECT value FROM json_each(?2)))"
#: For current relationships, the usual case, the ends of facts suffice.
_HOLDS_NOW = """?3 IS NULL AND NOT ?4
    AND NOT EXISTS (SELECT 1 FROM fact_ends WHERE fact_ends.fact_id = evidence.fact_id)"""
_HELD_THEN = """(
    ?4 OR EXISTS (SELECT 1 FROM facts WHERE facts.id = evidence.fact_id AND facts.as_of <= ?3)
      AND NOT EXISTS (SELECT 1 FROM fact_ends AS ended
                       WHERE ended.fact_id = evidence.fact_id AND ended.invalid_at <= ?3))"""


def _counts(which: RelationshipFilter) -> str:
    """Return the condition that a row of evidence passes a filter."""
    is_now = which.valid_ms is None and not which.ended
    return f"{_OF_TYPE} AND {_HOLDS_NOW if is_now else _HELD_THEN}"


def _bindings(ids: Sequence[str], which: RelationshipFilter) -> tuple[object, ...]:
    types = None if which.types is None else json_array(which.types)
    return json_array(ids), types, which.valid_ms, which.ended


def adjacent(
    connection: apsw.Connection,
    entity_ids: Sequence[str],
    direction: Direction,
    which: RelationshipFilter = CURRENT,
) -> list[tuple[str, int]]:
    """Return (entity related to any of these, number of facts), merges not applied."""
    return rows(
        connection,
        f"SELECT far, count(*) FROM ({_ends(direction, which)}) GROUP BY far",
        _bindings(entity_ids, which),
    )


def links(
    connection: apsw.Connection,
    entity_ids: Sequence[str],
    direction: Direction,
    which: RelationshipFilter = CURRENT,
) -> list[tuple[str, str, int]]:
    """Return (one of these entities, entity related to it, number of facts), merges not applied."""
    return rows(
        connection,
        f"SELECT near, far, count(*) FROM ({_ends(direction, which)}) GROUP BY near, far",
        _bindings(entity_ids, which),
    )


def _ends(direction: Direction, which: RelationshipFilter) -> str:
    return " UNION ALL ".join(
        f"SELECT {near} AS near, {far} AS far FROM relationship_evidence AS evidence "
        f"WHERE {near} IN (SELECT value FROM json_each(?1)) AND {_counts(which)}"
        for near, far in _ENDS[direction]
    )


def evidence_of(
    connection: apsw.Connection,
    entity_ids: Sequence[str],
    direction: Direction,
    which: RelationshipFilter = CURRENT,
) -> list[Evidence]:
    """Return the evidence of the relationships of these entities, by fact."""
    nears = (near for near, _ in _ENDS[direction])
    of_these = " OR ".join(f"{near} IN (SELECT value FROM json_each(?1))" for near in nears)
    return _evidence(connection, f"({of_these})", entity_ids, which)


def evidence_among(
    connection: apsw.Connection,
    entity_ids: Sequence[str],
    which: RelationshipFilter = CURRENT,
) -> list[Evidence]:
    """Return the evidence of the relationships between these entities, by fact."""
    both = (
        "source_entity_id IN (SELECT value FROM json_each(?1)) "
        "AND +target_entity_id IN (SELECT value FROM json_each(?1))"
    )
    return _evidence(connection, both, entity_ids, which)


def _evidence(
    connection: apsw.Connection,
    condition: str,
    entity_ids: Sequence[str],
    which: RelationshipFilter,
) -> list[Evidence]:
    evidence_rows = rows(
        connection,
        "SELECT source_entity_id, target_entity_id, relationship_type, evidence.fact_id, "
        "confidence, facts.as_of, ended.invalid_at, char_start, char_end "
        "FROM relationship_evidence AS evidence JOIN facts ON facts.id = evidence.fact_id "
        "LEFT JOIN fact_ends AS ended ON ended.fact_id = evidence.fact_id "
        f"WHERE {condition} AND {_counts(which)} "
        "ORDER BY evidence.fact_id, source_entity_id, target_entity_id",
        _bindings(entity_ids, which),
    )
    return [Evidence(*row) for row in evidence_rows]
