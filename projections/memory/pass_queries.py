"""Queries of memory.db about the daily passes: when they ran, and what they consider."""

from __future__ import annotations

from typing import NamedTuple

import apsw

from recollect.projections.sqlite import rows, scalar


def last_pass(connection: apsw.Connection, name: str) -> int | None:
    """Return the time of a pass's last tick (unix ms), or None."""
    found: int | None = scalar(connection, "SELECT max(at) FROM pass_ticks WHERE name = ?", (name,))
    return found


class ActiveEntity(NamedTuple):
    """An entity that a temporal pass considers, and the last record that changed it."""

    id: str
    last_change: int


def active_entities(
    connection: apsw.Connection, since: int, min_facts: int, before: int
) -> list[ActiveEntity]:
    """Return the entities with enough facts said since a time (unix ms), by id.

    They must have changed since the last temporal pass before the record `before`, or have a
    standing observation on what is ahead, which passes by itself.
    """
    found = rows(
        connection,
        """
        WITH last (number) AS (
            SELECT coalesce(max(number), 0) FROM pass_ticks
             WHERE name = 'temporal' AND number < ?3
        ), changed (id) AS (
            SELECT DISTINCT entity_id FROM entity_facts WHERE number > (SELECT number FROM last)
            UNION
            SELECT DISTINCT entity_id FROM entity_changes WHERE number > (SELECT number FROM last)
            UNION
            SELECT entity_id FROM standing_observations WHERE kind = 'ahead'
        )
        SELECT id, (SELECT max(number) FROM entity_facts WHERE entity_id = id)
          FROM changed
         WHERE ?2 <= (SELECT count(*) FROM (
                   SELECT 1 FROM entity_facts
                    WHERE entity_id = id AND is_told AND said_at >= ?1 LIMIT ?2))
            OR id IN (SELECT entity_id FROM standing_observations WHERE kind = 'ahead')
         ORDER BY id
        """,
        (since, min_facts, before),
    )
    return [ActiveEntity(*row) for row in found]


class SimilarPair(NamedTuple):
    """Two standing observations of an entity that share a fact.

    `facts`: how many support each.
    """

    clusters: tuple[str, str]
    texts: tuple[str, str]
    facts: tuple[int, int]
    last_change: int


def sharing_observations(connection: apsw.Connection, before: int) -> list[SimilarPair]:
    """Return the pairs of observations of which one changed since the last merge pass.

    `before`: the number of the tick.
    """
    found = rows(
        connection,
        """
        SELECT DISTINCT min(one.cluster_id, other.cluster_id),
                        max(one.cluster_id, other.cluster_id)
          FROM observation_versions AS changed
         CROSS JOIN standing_observations AS one
               ON one.analysis_run_id = changed.analysis_run_id
         CROSS JOIN observation_facts AS own ON own.analysis_run_id = one.analysis_run_id
         CROSS JOIN observation_facts AS shared ON shared.fact_id = own.fact_id
               AND shared.analysis_run_id <> one.analysis_run_id
         CROSS JOIN standing_observations AS other
               ON other.analysis_run_id = shared.analysis_run_id
              AND other.entity_id = one.entity_id
         WHERE changed.number > (SELECT coalesce(max(number), 0) FROM pass_ticks
                              WHERE name = 'observation_merge' AND number < ?)
         ORDER BY 1, 2
        """,
        (before,),
    )
    pairs = []
    for first, second in found:
        one, other = _standing(connection, first), _standing(connection, second)
        pairs.append(
            SimilarPair(
                (first, second), (one[0], other[0]), (one[1], other[1]), max(one[2], other[2])
            )
        )
    return pairs


def _standing(connection: apsw.Connection, cluster_id: str) -> tuple[str, int, int]:
    """Return (text, number of facts, record) of a cluster's standing observation."""
    ((text, facts, number),) = rows(
        connection,
        """
        SELECT run.output_text,
               (SELECT count(*) FROM observation_facts WHERE analysis_run_id = run.id),
               version.number
          FROM standing_observations AS version
          JOIN analysis_runs AS run ON run.id = version.analysis_run_id
         WHERE version.cluster_id = ?
        """,
        (cluster_id,),
    )
    return text, facts, number
