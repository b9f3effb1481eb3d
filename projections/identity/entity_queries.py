"""Queries of identity.db; merges are followed to the entity at their end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.changes import Entity

_ENTITY = "id, name, type, normalized, source, created_at"


def entity(connection: apsw.Connection, entity_id: str) -> Entity | None:
    """Return an entity as its row has it."""
    row = connection.execute(
        f"SELECT {_ENTITY} FROM entities WHERE id = ?", (entity_id,)
    ).fetchone()
    return None if row is None else Entity(*row)


def merges_of(connection: apsw.Connection, entity_id: str) -> list[tuple[str, str]]:
    """Return (merge, winner) of the merges that an entity lost, undone ones too, the last first."""
    return rows(
        connection,
        "SELECT id, winner_id FROM merges WHERE loser_id = ? ORDER BY executed_at DESC, id DESC",
        (entity_id,),
    )


def merged_ids(connection: apsw.Connection, entity_id: str) -> list[str]:
    """Return the ids of entities that were ever merged into this one, by id."""
    found = rows(
        connection,
        "SELECT DISTINCT loser_id FROM merges WHERE winner_id = ? ORDER BY loser_id",
        (entity_id,),
    )
    return [loser for (loser,) in found]


def canonical(connection: apsw.Connection, entity_id: str) -> Entity | None:
    """Return the entity at the end of the merges; None if it does not exist."""
    seen: set[str] = set()
    while entity_id not in seen:
        seen.add(entity_id)
        row = connection.execute(
            f"SELECT {_ENTITY}, merged_into FROM entities WHERE id = ?", (entity_id,)
        ).fetchone()
        if row is None:
            return None
        *columns, onward = row
        if onward is None:
            return Entity(*columns)
        entity_id = onward
    return None


class MentionSpan(NamedTuple):
    """A place in an event's text at which somebody or something is mentioned."""

    event_id: str
    start: int
    end: int


def all_mentions(connection: apsw.Connection) -> Iterator[tuple[MentionSpan, str]]:
    """Yield each place with the entity that is meant there, where it is one; no merge followed."""
    found = connection.execute(
        "SELECT event_id, char_offset_start, char_offset_end, min(entity_id) FROM mentions "
        "GROUP BY event_id, char_offset_start, char_offset_end "
        "HAVING count(DISTINCT entity_id) = 1"
    )
    for event, start, end, entity_id in found:
        yield MentionSpan(event, start, end), entity_id


def entity_at(connection: apsw.Connection, place: MentionSpan) -> str | None:
    """Return the entity that is meant at a place; None: none, or several. No merge is followed."""
    found = rows(
        connection,
        "SELECT DISTINCT entity_id FROM mentions "
        "WHERE event_id = ? AND char_offset_start = ? AND char_offset_end = ? LIMIT 2",
        place,
    )
    return str(found[0][0]) if len(found) == 1 else None


def entities_named(connection: apsw.Connection, normalized: str) -> list[Entity]:
    """Return the entities with this normalised name, merged ones included, oldest first."""
    return [
        Entity(*row)
        for row in connection.execute(
            f"SELECT {_ENTITY} FROM entities WHERE normalized = ? ORDER BY created_at, id",
            (normalized,),
        )
    ]


def persons_with_first_name(connection: apsw.Connection, first_name: str) -> list[Entity]:
    """Return the persons whose name begins with this normalised word and has more."""
    return [
        Entity(*row)
        for row in connection.execute(
            f"SELECT {_ENTITY} FROM entities WHERE normalized > ?1 || ' ' "
            "AND normalized < ?1 || '!' AND type = 'person' ORDER BY created_at, id",
            (first_name,),
        )
    ]


def persons_with_prefix(connection: apsw.Connection, letters: str, limit: int) -> list[Entity]:
    """Return the persons whose normalised name begins with some letters, by id."""
    return [
        Entity(*row)
        for row in connection.execute(
            f"SELECT {_ENTITY} FROM entities WHERE normalized >= ?1 "
            "AND normalized < ?1 || char(1114111) AND type = 'person' ORDER BY id LIMIT ?2",
            (letters, limit),
        )
    ]


def candidates_of(connection: apsw.Connection, one: str, other: str) -> list[tuple[str, bool]]:
    """Return the candidates of a pair of entities: the id of each, and whether it was rejected."""
    found = rows(
        connection,
        "SELECT id, status = 'rejected' FROM merge_candidates "
        "WHERE (entity_a_id, entity_b_id) IN (VALUES (?1, ?2), (?2, ?1)) ORDER BY id",
        (one, other),
    )
    return [(str(id_), bool(rejected)) for id_, rejected in found]


def entities_with_similar_names(
    connection: apsw.Connection, keys: Sequence[str], limit: int
) -> list[Entity]:
    """Return the entities that share one of these name keys, those that share most first."""
    columns = ", ".join(f"entities.{column}" for column in _ENTITY.split(", "))
    return [
        Entity(*row)
        for row in connection.execute(
            f"SELECT {columns} FROM json_each(?) AS wanted "
            "CROSS JOIN name_keys ON name_keys.key = wanted.value "
            "CROSS JOIN entities ON entities.id = name_keys.entity_id "
            "GROUP BY entities.id ORDER BY count(*) DESC, entities.created_at, entities.id LIMIT ?",
            (json_array(keys), limit),
        )
    ]


def aliases(connection: apsw.Connection, entity_id: str) -> list[Entity]:
    """Return every entity that was merged into this one, directly or not."""
    return [
        Entity(*row)
        for row in connection.execute(
            f"""
            WITH RECURSIVE merged(id) AS (
                SELECT id FROM entities WHERE merged_into = ?1
                UNION
                SELECT entities.id FROM entities JOIN merged ON entities.merged_into = merged.id
            )
            SELECT {_ENTITY} FROM entities WHERE id IN (SELECT id FROM merged)
            ORDER BY created_at, id
            """,
            (entity_id,),
        )
    ]


def handle_owner(connection: apsw.Connection, handle_id: str) -> str | None:
    """Return the id of the entity that a delivered handle stands for."""
    owner: str | None = scalar(
        connection, "SELECT entity_id FROM handles WHERE id = ?", (handle_id,)
    )
    return owner


def handles(connection: apsw.Connection, entity_id: str) -> list[tuple[str, str]]:
    """Return (platform, handle) of this entity's own accounts, not of those merged into it."""
    return rows(
        connection,
        "SELECT platform, handle FROM handles WHERE entity_id = ? ORDER BY platform, handle",
        (entity_id,),
    )


def is_merge_active(connection: apsw.Connection, merge_id: str) -> bool:
    """Return whether a merge was executed and not undone."""
    return bool(
        scalar(connection, "SELECT 1 FROM merges WHERE id = ? AND undone_at IS NULL", (merge_id,))
    )


def pending_candidate(
    connection: apsw.Connection, candidate_id: str
) -> tuple[str, str, float] | None:
    """Return (entity a, entity b, confidence) of a candidate that waits for review."""
    row = connection.execute(
        "SELECT entity_a_id, entity_b_id, confidence FROM merge_candidates "
        "WHERE id = ? AND status = 'pending'",
        (candidate_id,),
    ).fetchone()
    return None if row is None else (str(row[0]), str(row[1]), float(row[2]))


def merge_reason(connection: apsw.Connection, loser_id: str) -> tuple[str, float] | None:
    """Return (reason, confidence) of the merge of an entity into another."""
    found = rows(
        connection,
        "SELECT reason, confidence FROM merges WHERE loser_id = ? AND undone_at IS NULL",
        (loser_id,),
    )
    return (str(found[0][0]), float(found[0][1])) if found else None


def events_naming(connection: apsw.Connection, entity_id: str, limit: int) -> list[str]:
    """Return the ids of the first events that mention this entity itself."""
    found = rows(
        connection,
        "SELECT DISTINCT event_id FROM mentions WHERE entity_id = ? ORDER BY event_id LIMIT ?",
        (entity_id, limit),
    )
    return [str(event) for (event,) in found]


def all_names(connection: apsw.Connection, entity_ids: Sequence[str]) -> set[str]:
    """Return every name, handle and mention of these entities, as written."""
    found = rows(
        connection,
        """
        WITH known(id) AS (SELECT value FROM json_each(?))
        SELECT name FROM entities WHERE id IN (SELECT id FROM known)
        UNION SELECT handle FROM handles WHERE entity_id IN (SELECT id FROM known)
        UNION SELECT display_name FROM handles WHERE entity_id IN (SELECT id FROM known)
        UNION SELECT mention_text FROM mentions WHERE entity_id IN (SELECT id FROM known)
        """,
        (json_array(entity_ids),),
    )
    return {str(name) for (name,) in found if name}


def entity_count(connection: apsw.Connection) -> int:
    """Return how many entities there are, without merged ones."""
    return int(scalar(connection, "SELECT count(*) FROM entities WHERE merged_into IS NULL"))
