"""Queries of memory.db about the daily passes: when they ran, and what they consider."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.changes import EntityFact


def last_pass(connection: apsw.Connection, name: str) -> int | None:
    """Return the time of a pass's last tick (unix ms), or None."""
    found: int | None = scalar(connection, "SELECT max(at) FROM pass_ticks WHERE name = ?", (name,))
    return found


def last_tick(connection: apsw.Connection, name: str, before: int) -> int:
    """Return the number of a pass's last tick before a record; 0 if there is none."""
    number: int = scalar(
        connection,
        "SELECT coalesce(max(number), 0) FROM pass_ticks WHERE name = ? AND number < ?",
        (name, before),
    )
    return number


class ActiveEntity(NamedTuple):
    """An entity that a temporal pass considers, and the last record that changed it."""

    id: str
    last_change: int


def active_entities(
    connection: apsw.Connection, since: int, min_facts: int, before: int
) -> list[ActiveEntity]:
    """Return the entities with enough facts said since a time (unix ms), in order of ids.

    They must have changed since the last temporal pass before the record `before`, or have an
    observation that becomes outdated with time: about upcoming days or a weekly cycle.
    """
    entity_rows = rows(
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
    return [ActiveEntity(*row) for row in entity_rows]


class SimilarPair(NamedTuple):
    """Two standing observations of an entity that share a fact.

    `facts`: how many support each.
    """

    clusters: tuple[str, str]
    texts: tuple[str, str]
    facts: tuple[int, int]
    last_change: int


def sharing_observations(connection: apsw.Connection, since: int) -> list[SimilarPair]:
    """Return the pairs of observations, one of which changed after the record `since`."""
    pair_rows = rows(
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
         WHERE changed.number > ?
         ORDER BY 1, 2
        """,
        (since,),
    )
    pairs = []
    for first, second in pair_rows:
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


def entities_with_new_facts(connection: apsw.Connection, since: int) -> list[str]:
    """Return the entities with facts that changed after the record `since`, or merged after it."""
    id_rows = rows(
        connection,
        """
        SELECT entity_id FROM entity_facts WHERE number > ?1
         UNION
        SELECT entity_id FROM entity_changes WHERE number > ?1
         ORDER BY 1
        """,
        (since,),
    )
    return [str(id_) for (id_,) in id_rows]


class MergeableFact(NamedTuple):
    """A current fact that was never merged, with what decides which of its duplicates is kept.

    `has_merged`: others are merged into it. `entities`: the number of entities it is about;
    `recalls`: how often it was recalled.
    """

    row: EntityFact
    has_merged: bool
    entities: int
    recalls: int


#: If at least one in this many facts about an entity is new, all of them are compared.
_MANY_NEW = 10


def new_facts(
    connection: apsw.Connection, entity_ids: Sequence[str], since: int
) -> list[str] | None:
    """Return the ids of the facts about an entity that changed after the record `since`.

    None if they are many, or the entity was merged after it.
    """
    given = json_array(entity_ids)
    of_entity = "entity_id IN (SELECT value FROM json_each(?))"
    merged = f"SELECT EXISTS (SELECT 1 FROM entity_changes WHERE {of_entity} AND number > ?)"
    if scalar(connection, merged, (given, since)):
        return None
    new = rows(
        connection,
        f"SELECT DISTINCT fact_id FROM entity_facts WHERE {of_entity} AND number > ? ORDER BY 1",
        (given, since),
    )
    known = scalar(connection, f"SELECT count(*) FROM entity_facts WHERE {of_entity}", (given,))
    return None if len(new) * _MANY_NEW >= known else [str(id_) for (id_,) in new]


def facts_with_words(connection: apsw.Connection, words: Iterable[str], longest: int) -> list[str]:
    """Return the ids of the facts with all these words and at most `longest` characters."""
    sought = " AND ".join(f'"{word}"' for word in sorted(words))
    if not sought:
        return []
    id_rows = rows(
        connection,
        "SELECT facts.id FROM facts_fts CROSS JOIN facts ON facts.rowid = facts_fts.rowid "
        "WHERE facts_fts MATCH ? AND length(facts.text) <= ?",
        (sought, longest),
    )
    return [str(id_) for (id_,) in id_rows]


def stated_values(
    connection: apsw.Connection, entity_ids: Sequence[str], attribute: str
) -> list[tuple[str, str]]:
    """Return (fact, value) of the facts that state a value of an entity's attribute."""
    return rows(
        connection,
        "SELECT fact_id, value FROM fact_claims "
        "WHERE subject IN (SELECT value FROM json_each(?)) AND attribute = ?",
        (json_array(entity_ids), attribute),
    )


_ENTITY_FACT = ", ".join(f"fact.{name}" for name in EntityFact.__struct_fields__)


def mergeable_facts(
    connection: apsw.Connection, entity_ids: Sequence[str], among: Sequence[str] | None = None
) -> list[MergeableFact]:
    """Return the mergeable facts about an entity, given by all its ids, in order of statement.

    `among`: the ids of the facts to consider; None: all.
    """
    restricted = "" if among is None else "AND fact.fact_id IN (SELECT value FROM json_each(?2))"
    fact_rows = rows(
        connection,
        f"""
        SELECT {_ENTITY_FACT},
               EXISTS (SELECT 1 FROM fact_merges WHERE keeper_id = fact.fact_id AND is_standing),
               (SELECT count(*) FROM fact_entities WHERE fact_entities.fact_id = fact.fact_id),
               (SELECT access_count FROM facts WHERE facts.id = fact.fact_id)
          FROM entity_facts AS fact
         WHERE entity_id IN (SELECT value FROM json_each(?1)) AND is_told AND ended_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM fact_merges WHERE fact_merges.fact_id = fact.fact_id)
           {restricted}
         ORDER BY said_at, fact.fact_id, entity_id
        """,
        (json_array(entity_ids), *([] if among is None else [json_array(among)])),
    )
    by_fact = {row[1]: row for row in fact_rows}
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
