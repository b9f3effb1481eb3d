"""Queries of memory.db about stated dependencies, and the facts on their two sides."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.changes import StatedDependency

_COLUMNS = ", ".join(StatedDependency.__struct_fields__)
#: Changes of one side that are considered: the latest.
_MAX_CHANGES = 200


def dependencies_of_events(
    connection: apsw.Connection, event_ids: Sequence[str]
) -> list[StatedDependency]:
    """Return the dependencies that events state, withdrawn ones included, in the events' order."""
    columns = ", ".join(f"dependencies.{name}" for name in StatedDependency.__struct_fields__)
    found = rows(
        connection,
        f"SELECT {columns} FROM json_each(?) AS ids "
        "CROSS JOIN dependencies ON event_id = ids.value ORDER BY ids.key, char_start",
        (json_array(event_ids),),
    )
    return [StatedDependency(*row) for row in found]


class TwoSides(NamedTuple):
    """A standing dependency with the words of its sides, in plain forms."""

    dependency: StatedDependency
    condition: frozenset[str]
    consequence: frozenset[str]


def has_dependencies(connection: apsw.Connection) -> bool:
    """Return whether any dependency was stated."""
    return bool(scalar(connection, "SELECT EXISTS (SELECT 1 FROM dependencies)"))


def with_consequence(connection: apsw.Connection, terms: Collection[str]) -> list[TwoSides]:
    """Return the standing dependencies whose consequence has one of these words, in id order."""
    dependency_rows = rows(
        connection,
        f"SELECT {_COLUMNS} FROM standing_dependencies WHERE id IN ("
        "SELECT dependency_id FROM dependency_terms "
        "WHERE side = 'consequence' AND term IN (SELECT value FROM json_each(?))) ORDER BY id",
        (json_array(sorted(terms)),),
    )
    dependencies = [StatedDependency(*row) for row in dependency_rows]
    sides: dict[tuple[str, str], set[str]] = {}
    for dependency, side, term in rows(
        connection,
        "SELECT dependency_id, side, term FROM dependency_terms "
        "WHERE dependency_id IN (SELECT value FROM json_each(?))",
        (json_array([dependency.id for dependency in dependencies]),),
    ):
        sides.setdefault((dependency, side), set()).add(term)
    return [
        TwoSides(
            dependency,
            frozenset(sides.get((dependency.id, "condition"), ())),
            frozenset(sides.get((dependency.id, "consequence"), ())),
        )
        for dependency in dependencies
    ]


class CurrentFact(NamedTuple):
    """A fact that has not ended; `last_said`: when an event last stated it (unix ms)."""

    id: str
    text: str
    event_id: str
    last_said: int


def current_facts(connection: apsw.Connection, fact_ids: Sequence[str]) -> list[CurrentFact]:
    """Return the facts with these ids that have not ended."""
    fact_rows = rows(
        connection,
        "SELECT id, text, source_event_id, max(as_of, coalesce((SELECT max(said_at) "
        "FROM fact_occasions AS again WHERE again.fact_id = facts.id AND again.is_standing), 0)) "
        "FROM facts WHERE id IN (SELECT value FROM json_each(?)) "
        "AND NOT EXISTS (SELECT 1 FROM fact_ends WHERE fact_ends.fact_id = facts.id)",
        (json_array(fact_ids),),
    )
    return [CurrentFact(*row) for row in fact_rows]


class SideFact(NamedTuple):
    """A fact about a side; `ended_by` (fact or event) and `ended_at` (unix ms) if it ended.

    `newer`: the text of the fact that superseded it.
    """

    id: str
    text: str
    event_id: str
    as_of: int
    ended_by: str | None
    ended_at: int | None
    newer: str | None
    newer_event_id: str | None


_SIDE_FACT = (
    "facts.id, facts.text, facts.source_event_id, facts.as_of, superseded_by, invalid_at, "
    "newer.text, newer.source_event_id"
)


def facts_with_words(
    connection: apsw.Connection, terms: Collection[str], after: int
) -> list[SideFact]:
    """Return the facts that have all of these words and were stated or ended after a time.

    At most the latest two hundred; the time is unix ms.
    """
    phrases = " AND ".join('"' + term.replace('"', '""') + '"' for term in sorted(terms))
    fact_rows = rows(
        connection,
        f"SELECT {_SIDE_FACT} "
        "FROM facts_fts CROSS JOIN facts ON facts.rowid = facts_fts.rowid "
        "LEFT JOIN fact_ends ON fact_ends.fact_id = facts.id "
        "LEFT JOIN facts AS newer ON newer.id = superseded_by "
        "WHERE facts_fts MATCH ?1 AND max(facts.as_of, coalesce(invalid_at, 0)) > ?2 "
        "ORDER BY facts.as_of DESC, facts.id LIMIT ?3",
        (phrases, after, _MAX_CHANGES),
    )
    return [SideFact(*row) for row in fact_rows]


def ended_values(
    connection: apsw.Connection, subjects: Sequence[str], attributes: Sequence[str], after: int
) -> list[SideFact]:
    """Return the facts that state a value of these slots and ended after a time (unix ms)."""
    fact_rows = rows(
        connection,
        f"SELECT {_SIDE_FACT} FROM fact_claims AS claim JOIN facts ON facts.id = claim.fact_id "
        "JOIN fact_ends ON fact_ends.fact_id = facts.id "
        "LEFT JOIN facts AS newer ON newer.id = superseded_by "
        "WHERE claim.subject IN (SELECT value FROM json_each(?1)) "
        "AND claim.attribute IN (SELECT value FROM json_each(?2)) AND invalid_at > ?3 "
        "ORDER BY facts.as_of DESC, facts.id LIMIT ?4",
        (json_array(subjects), json_array(attributes), after, _MAX_CHANGES),
    )
    return [SideFact(*row) for row in fact_rows]
