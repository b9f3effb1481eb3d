"""Queries of memory.db about the daily passes: when they ran, and what they consider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.changes import EntityFact


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

    They must have changed since the last temporal pass before the record `before`, or have an
    observation that becomes outdated with time: about upcoming days or a weekly cycle.
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
            SELECT entity_id FROM standing_observations
             WHERE kind IN ('ahead', 'cycle')
        )
        SELECT id, (SELECT coalesce(max(number), 0) FROM entity_facts WHERE entity_id = id)
          FROM changed
         WHERE ?2 <= (SELECT count(*) FROM (
                   SELECT 1 FROM entity_facts
                    WHERE entity_id = id AND is_told AND said_at >= ?1 LIMIT ?2))
            OR id IN (SELECT entity_id FROM standing_observations
                       WHERE kind IN ('ahead', 'cycle'))
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
    """Return the pairs of observations, one of which changed since the last merge pass.

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


def entities_with_new_facts(connection: apsw.Connection, before: int) -> list[str]:
    """Return the entities with facts that changed since the last merge of facts, or were merged.

    `before`: the number of the tick.
    """
    found = rows(
        connection,
        """
        WITH last (number) AS (
            SELECT coalesce(max(number), 0) FROM pass_ticks
             WHERE name = 'fact_merge' AND number < ?
        )
        SELECT entity_id FROM entity_facts WHERE number > (SELECT number FROM last)
         UNION
        SELECT entity_id FROM entity_changes WHERE number > (SELECT number FROM last)
         ORDER BY 1
        """,
        (before,),
    )
    return [str(id_) for (id_,) in found]


class MergeableFact(NamedTuple):
    """A current fact that was never separated from a duplicate, with the criteria for keeping it.

    `has_merged`: others are merged into it. `entities`: the number of entities it is about;
    `recalls`: how often it was recalled.
    """

    row: EntityFact
    has_merged: bool
    entities: int
    recalls: int


_ENTITY_FACT = ", ".join(f"fact.{name}" for name in EntityFact.__struct_fields__)


def mergeable_facts(connection: apsw.Connection, entity_ids: Sequence[str]) -> list[MergeableFact]:
    """Return the mergeable facts about an entity, given by all its ids, in order of statement."""
    found = rows(
        connection,
        f"""
        SELECT {_ENTITY_FACT},
               EXISTS (SELECT 1 FROM fact_merges WHERE keeper_id = fact.fact_id AND is_standing),
               (SELECT count(*) FROM fact_entities WHERE fact_entities.fact_id = fact.fact_id),
               (SELECT access_count FROM facts WHERE facts.id = fact.fact_id)
          FROM entity_facts AS fact
         WHERE entity_id IN (SELECT value FROM json_each(?)) AND is_told AND ended_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM fact_merges WHERE fact_merges.fact_id = fact.fact_id)
         ORDER BY said_at, fact.fact_id, entity_id
        """,
        (json_array(entity_ids),),
    )
    by_fact = {row[1]: row for row in found}
    return [
        MergeableFact(EntityFact(*row[:-3]), bool(row[-3]), row[-2], row[-1])
        for row in by_fact.values()
    ]


def merged_facts_said_again(connection: apsw.Connection) -> list[tuple[str, str, str]]:
    """Return (fact, keeper, event) of the events that state a merged fact but not its keeper."""
    return rows(
        connection,
        """
        SELECT merged.fact_id, merged.keeper_id, max(again.event_id)
          FROM fact_merges AS merged
         CROSS JOIN fact_occasions AS again ON again.fact_id = merged.fact_id
         WHERE merged.is_standing AND again.is_standing
           AND NOT EXISTS (SELECT 1 FROM fact_occasions AS known
                            WHERE known.fact_id = merged.keeper_id
                              AND known.event_id = again.event_id)
         GROUP BY merged.fact_id
         ORDER BY merged.fact_id
        """,
    )
