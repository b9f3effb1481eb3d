"""Queries of memory.db about clusters of facts: by agents, and which clusters a tick considers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.changes import (
    AnalysisRun,
    ClusterFact,
    FactUnits,
    ObservationMerge,
    ObservationVersion,
)

_CLUSTER_FACT = ", ".join(ClusterFact.__struct_fields__)


def fact_units(connection: apsw.Connection, fact_id: str) -> FactUnits | None:
    """Return the units of a fact."""
    found = rows(
        connection,
        f"SELECT {', '.join(FactUnits.__struct_fields__)} FROM fact_units WHERE fact_id = ?",
        (fact_id,),
    )
    return FactUnits(*found[0]) if found else None


def cluster_facts(connection: apsw.Connection, cluster_id: str) -> list[ClusterFact]:
    """Return the facts of a cluster, in the order in which they were said."""
    found = rows(
        connection,
        f"SELECT {_CLUSTER_FACT} FROM cluster_facts WHERE cluster_id = ? ORDER BY said_at, fact_id",
        (cluster_id,),
    )
    return [ClusterFact(*row) for row in found]


def clusters_of(connection: apsw.Connection, fact_id: str) -> list[str]:
    """Return the ids of the clusters that a fact is in, sorted."""
    found = rows(
        connection,
        "SELECT cluster_id FROM cluster_facts WHERE fact_id = ? ORDER BY cluster_id",
        (fact_id,),
    )
    return [str(cluster) for (cluster,) in found]


def newest_version(connection: apsw.Connection, cluster_id: str) -> ObservationVersion | None:
    """Return the newest version of a cluster's observation."""
    found = rows(
        connection,
        f"SELECT {', '.join(ObservationVersion.__struct_fields__)} FROM observation_versions "
        "WHERE cluster_id = ? ORDER BY number DESC LIMIT 1",
        (cluster_id,),
    )
    return ObservationVersion(*found[0]) if found else None


def analysis_run(connection: apsw.Connection, run_id: str) -> AnalysisRun | None:
    """Return an analysis, such as a version of an observation."""
    found = rows(
        connection,
        f"SELECT {', '.join(AnalysisRun.__struct_fields__)} FROM analysis_runs WHERE id = ?",
        (run_id,),
    )
    return AnalysisRun(*found[0]) if found else None


def last_change(connection: apsw.Connection, cluster_id: str) -> int:
    """Return the last record that changed the facts of a cluster or its observation; 0 if none."""
    return int(
        scalar(
            connection,
            """
            SELECT coalesce(max(number), 0) FROM (
                SELECT number FROM cluster_facts WHERE cluster_id = ?1
                UNION ALL SELECT number FROM cluster_changes WHERE cluster_id = ?1
                UNION ALL SELECT number FROM observation_versions WHERE cluster_id = ?1)
            """,
            (cluster_id,),
        )
    )


def observed_clusters(connection: apsw.Connection, entity_ids: Sequence[str]) -> list[str]:
    """Return the clusters of entities that have or had an observation, sorted."""
    found = rows(
        connection,
        "SELECT DISTINCT cluster_id FROM observation_versions "
        "WHERE entity_id IN (SELECT value FROM json_each(?)) ORDER BY cluster_id",
        (json_array(entity_ids),),
    )
    return [str(cluster) for (cluster,) in found]


def evidence(connection: apsw.Connection, run_id: str) -> list[str]:
    """Return the facts that support a version of an observation, sorted."""
    found = rows(
        connection,
        "SELECT fact_id FROM observation_facts WHERE analysis_run_id = ? ORDER BY fact_id",
        (run_id,),
    )
    return [str(fact) for (fact,) in found]


def observation_merge(connection: apsw.Connection, run_id: str) -> ObservationMerge | None:
    """Return the merge by which an observation ended with this version, or None."""
    columns = ", ".join(ObservationMerge.__struct_fields__)
    found = rows(
        connection,
        f"SELECT {columns} FROM observation_merges WHERE analysis_run_id = ?",
        (run_id,),
    )
    return ObservationMerge(*found[0]) if found else None


class ChangedCluster(NamedTuple):
    """A cluster with facts or changes since the last tick.

    Attributes:
        changed: the last record that changed it.
        facts: how many facts it has.
        messages: how many events state them.
        days: on how many days they were stated.
        about_entity: how many facts mention its entity.
        is_observed: whether it has an observation.
    """

    id: str
    kind: str
    entity_id: str
    topic: str
    changed: int
    facts: int
    messages: int
    days: int
    about_entity: int
    is_observed: bool


def changed_clusters(connection: apsw.Connection, before: int | None) -> list[ChangedCluster]:
    """Return the clusters changed since the last tick before a record, in order of their changes.

    Those of fewer than two facts that have no observation are left out.
    """
    cluster_rows = rows(
        connection,
        """
        WITH changed (id, number) AS (
            SELECT cluster_id, max(number) FROM (
                SELECT cluster_id, number FROM cluster_facts WHERE number > ?1
                UNION ALL
                SELECT cluster_id, number FROM cluster_changes WHERE number > ?1
            ) GROUP BY cluster_id
        ), said (id, event_id, said_at) AS (
            SELECT changed.id, units.event_id, units.said_at
              FROM changed CROSS JOIN cluster_facts AS fact ON fact.cluster_id = changed.id
             CROSS JOIN fact_units AS units ON units.fact_id = fact.fact_id
            UNION
            SELECT changed.id, again.event_id, again.said_at
              FROM changed CROSS JOIN cluster_facts AS fact ON fact.cluster_id = changed.id
             CROSS JOIN fact_occasions AS again
                   ON again.fact_id = fact.fact_id AND again.is_standing
        ), counted (id, messages, days) AS (
            SELECT id, count(DISTINCT event_id), count(DISTINCT said_at / 86400000)
              FROM said GROUP BY id
        ), measured AS (
            SELECT changed.id, fact.kind, fact.entity_id, fact.topic, changed.number,
                   count(*) AS facts, counted.messages, counted.days,
                   EXISTS (SELECT 1 FROM observation_versions AS version JOIN analysis_runs AS run
                               ON run.id = version.analysis_run_id
                            WHERE version.cluster_id = changed.id AND run.output_text IS NOT NULL
                              AND NOT EXISTS (SELECT 1 FROM observation_versions AS newer
                                               WHERE newer.cluster_id = changed.id
                                                 AND newer.number > version.number)) AS is_observed
              FROM changed
              JOIN cluster_facts AS fact ON fact.cluster_id = changed.id
              JOIN counted ON counted.id = changed.id
             GROUP BY changed.id
        )
        SELECT id, kind, entity_id, topic, number, facts, messages, days,
               (SELECT count(*) FROM fact_entities WHERE entity_id = measured.entity_id),
               is_observed
          FROM measured WHERE messages >= 2 OR is_observed
         ORDER BY number, id
        """,
        (_last_tick(connection, before),),
    )
    return [ChangedCluster(*row)._replace(is_observed=bool(row[-1])) for row in cluster_rows]


def _last_tick(connection: apsw.Connection, before: int | None) -> int:
    return int(
        scalar(
            connection,
            "SELECT coalesce(max(number), 0) FROM consolidation_ticks "
            "WHERE ?1 IS NULL OR number < ?1",
            (before,),
        )
    )


class Overlap(NamedTuple):
    """Another topic of the same entity: its size, and how many facts it shares with the first."""

    topic: str
    facts: int
    shared: int


def overlaps(connection: apsw.Connection, cluster: ChangedCluster) -> list[Overlap]:
    """Return the topics of the entity that have at least half of a cluster's facts."""
    overlap_rows = rows(
        connection,
        """
        SELECT other.topic,
               (SELECT count(*) FROM cluster_facts WHERE cluster_id = other.cluster_id),
               count(*) AS shared
          FROM cluster_facts AS own JOIN cluster_facts AS other
               ON other.fact_id = own.fact_id AND other.cluster_id <> own.cluster_id
         WHERE own.cluster_id = ? AND other.entity_id = ? AND other.kind = 'topic'
         GROUP BY other.cluster_id HAVING 2 * shared >= ?
        """,
        (cluster.id, cluster.entity_id, cluster.facts),
    )
    return [Overlap(*row) for row in overlap_rows]
