"""Listing of unmerged entities, the most mentioned first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows

# Maximum number of names that are compared with a mistyped name.
_MAX_CANDIDATES = 20_000


class ListedEntity(NamedTuple):
    """An unmerged entity; `mentions`: the number of events that mention it or come from it."""

    id: str
    name: str
    type: str
    mentions: int


def entities(connection: apsw.Connection, among: Sequence[str] | None = None) -> list[ListedEntity]:
    """Return unmerged entities, counting the mentions of entities merged into them.

    `among`: only entities with these ids.
    """
    entity_rows = rows(
        connection,
        """
        WITH RECURSIVE standing(id, under) AS (
            SELECT id, id FROM entities
             WHERE merged_into IS NULL
               AND (?1 IS NULL OR id IN (SELECT value FROM json_each(?1)))
            UNION
            SELECT standing.id, entities.id FROM standing
              JOIN entities ON entities.merged_into = standing.under
        ),
        mentioned(id, number) AS (
            SELECT standing.id, count(DISTINCT event_id)
              FROM standing JOIN mentions
                ON mentions.entity_id = standing.under AND mentions.entity_id <> ''
             GROUP BY standing.id
        )
        SELECT entities.id, name, type, coalesce(number, 0)
          FROM entities LEFT JOIN mentioned ON mentioned.id = entities.id
         WHERE merged_into IS NULL
           AND (?1 IS NULL OR entities.id IN (SELECT value FROM json_each(?1)))
         ORDER BY coalesce(number, 0) DESC, normalized, entities.id
        """,
        (None if among is None else json_array(among),),
    )
    return [ListedEntity(*row) for row in entity_rows]


def ids_of_names_with(connection: apsw.Connection, text: str) -> list[str]:
    """Return the ids of unmerged entities with a name or an account that contains `text`.

    `text`: normalised. The names and accounts of merged entities count too.
    """
    id_rows = rows(
        connection,
        """
        WITH RECURSIVE chain(id) AS (
            SELECT id FROM entities WHERE instr(normalized, ?1) > 0
            UNION
            SELECT entity_id FROM handles WHERE instr(lower(handle), ?1) > 0
            UNION
            SELECT merged_into FROM chain JOIN entities ON entities.id = chain.id
             WHERE merged_into IS NOT NULL
        )
        SELECT chain.id FROM chain JOIN entities ON entities.id = chain.id
         WHERE merged_into IS NULL
        """,
        (text,),
    )
    return [str(id_) for (id_,) in id_rows]


def merged_entities(
    connection: apsw.Connection, entity_ids: Sequence[str]
) -> list[tuple[str, str, str]]:
    """Return (entity, merged id, merged name) of all entities merged into these, transitively."""
    return rows(
        connection,
        """
        WITH RECURSIVE under(standing, id) AS (
            SELECT value, value FROM json_each(?)
            UNION
            SELECT standing, entities.id FROM under
              JOIN entities ON entities.merged_into = under.id
        )
        SELECT standing, entities.id, name FROM under JOIN entities ON entities.id = under.id
         WHERE standing <> entities.id ORDER BY standing, created_at, entities.id
        """,
        (json_array(entity_ids),),
    )


def direct_merges(connection: apsw.Connection, entity_ids: Sequence[str]) -> dict[str, str]:
    """Return id -> id of the entity that it was merged into, for the merged ones among these."""
    found = rows(
        connection,
        "SELECT id, merged_into FROM entities "
        "WHERE id IN (SELECT value FROM json_each(?)) AND merged_into IS NOT NULL",
        (json_array(entity_ids),),
    )
    return dict(found)


def directly_merged(connection: apsw.Connection, entity_ids: Sequence[str]) -> list[str]:
    """Return the ids of the entities that were merged into these, without those merged earlier."""
    found = rows(
        connection,
        "SELECT id FROM entities WHERE merged_into IN (SELECT value FROM json_each(?))",
        (json_array(entity_ids),),
    )
    return [str(id_) for (id_,) in found]


def handles_of(
    connection: apsw.Connection, entity_ids: Sequence[str]
) -> list[tuple[str, str, str]]:
    """Return (entity, platform, handle) of these entities' accounts, merges not applied."""
    return rows(
        connection,
        "SELECT entity_id, platform, handle FROM handles "
        "WHERE entity_id IN (SELECT value FROM json_each(?)) ORDER BY platform, handle",
        (json_array(entity_ids),),
    )


def names_of(connection: apsw.Connection, entity_ids: Sequence[str]) -> dict[str, str]:
    """Return id -> name, for entities that exist."""
    found = rows(
        connection,
        "SELECT id, name FROM entities WHERE id IN (SELECT value FROM json_each(?))",
        (json_array(entity_ids),),
    )
    return dict(found)


def types_of(connection: apsw.Connection, entity_ids: Sequence[str]) -> dict[str, str]:
    """Return id -> type, for entities that exist."""
    found = rows(
        connection,
        "SELECT id, type FROM entities WHERE id IN (SELECT value FROM json_each(?))",
        (json_array(entity_ids),),
    )
    return dict(found)


def names_with_words(connection: apsw.Connection, normalized: str, limit: int) -> list[str]:
    """Return names of unmerged entities that contain a normalised name as whole words."""
    found = rows(
        connection,
        "SELECT DISTINCT name FROM entities "
        "WHERE merged_into IS NULL AND instr(' ' || normalized || ' ', ' ' || ?1 || ' ') "
        "ORDER BY name LIMIT ?2",
        (normalized, limit),
    )
    return [str(name) for (name,) in found]


def typo_candidates(connection: apsw.Connection, normalized: str) -> list[str]:
    """Return names of unmerged entities that may match a normalised name with up to two typos."""
    found = rows(
        connection,
        "SELECT DISTINCT name FROM entities "
        "WHERE merged_into IS NULL AND length(normalized) BETWEEN ?1 - 2 AND ?1 + 2 "
        "ORDER BY name LIMIT ?2",
        (len(normalized), _MAX_CANDIDATES),
    )
    return [str(name) for (name,) in found]
