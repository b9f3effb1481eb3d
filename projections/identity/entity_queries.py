"""Queries of identity.db."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.changes import Entity

_ENTITY = "id, name, type, normalized, source, created_at"


def entity(connection: apsw.Connection, entity_id: str) -> Entity | None:
    """Return an entity by id, without following merges."""
    row = connection.execute(
        f"SELECT {_ENTITY} FROM entities WHERE id = ?", (entity_id,)
    ).fetchone()
    return None if row is None else Entity(*row)


def merges_of(connection: apsw.Connection, entity_id: str) -> list[tuple[str, str]]:
    """Return (merge id, winner id) of an entity's merges into others, latest first.

    Undone merges are included.
    """
    return rows(
        connection,
        "SELECT id, winner_id FROM merges WHERE loser_id = ? ORDER BY executed_at DESC, id DESC",
        (entity_id,),
    )


def merged_ids(connection: apsw.Connection, entity_id: str) -> list[str]:
    """Return the ids of the entities ever merged directly into this one, even if undone since."""
    found = rows(
        connection,
        "SELECT DISTINCT loser_id FROM merges WHERE winner_id = ? ORDER BY loser_id",
        (entity_id,),
    )
    return [loser for (loser,) in found]


def has_merges(connection: apsw.Connection, entity_id: str) -> bool:
    """Return whether an entity was ever merged into another, or another into it."""
    return bool(
        scalar(
            connection,
            "SELECT EXISTS (SELECT 1 FROM merges WHERE loser_id = ?1) "
            "OR EXISTS (SELECT 1 FROM merges WHERE winner_id = ?1)",
            (entity_id,),
        )
    )


def canonical(connection: apsw.Connection, entity_id: str) -> Entity | None:
    """Follow merges to the unmerged entity; None if it does not exist."""
    seen: set[str] = set()
    while entity_id not in seen:
        seen.add(entity_id)
        row = connection.execute(
            f"SELECT {_ENTITY}, merged_into FROM entities WHERE id = ?", (entity_id,)
        ).fetchone()
        if row is None:
            return None
        *columns, merged_into = row
        if merged_into is None:
            return Entity(*columns)
        entity_id = merged_into
    return None


class MentionSpan(NamedTuple):
    """A span of an event's text, in characters, that mentions an entity."""

    event_id: str
    start: int
    end: int


def all_mentions(connection: apsw.Connection) -> Iterator[tuple[MentionSpan, str]]:
    """Yield each unambiguous mention with the id of its entity, merges not applied."""
    found = connection.execute(
        "SELECT event_id, char_offset_start, char_offset_end, min(entity_id) FROM mentions "
        "WHERE entity_id <> '' GROUP BY event_id, char_offset_start, char_offset_end "
        "HAVING count(DISTINCT entity_id) = 1"
    )
    for event, start, end, entity_id in found:
        yield MentionSpan(event, start, end), entity_id


def entity_at(connection: apsw.Connection, span: MentionSpan) -> str | None:
    """Return the id of a mention's entity, merges not applied; None if it has none or several."""
    found = rows(
        connection,
        "SELECT DISTINCT entity_id FROM mentions "
        "WHERE event_id = ? AND char_offset_start = ? AND char_offset_end = ? "
        "AND entity_id <> '' LIMIT 2",
        span,
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
    """Return the persons whose normalised name has this first word and at least one other word."""
    # The unary plus, here and below, avoids the index by type, which would scan all persons.
    return [
        Entity(*row)
        for row in connection.execute(
            f"SELECT {_ENTITY} FROM entities WHERE normalized > ?1 || ' ' "
            "AND normalized < ?1 || '!' AND +type = 'person' ORDER BY created_at, id",
            (first_name,),
        )
    ]


def persons_with_prefix(connection: apsw.Connection, prefix: str, limit: int) -> list[Entity]:
    """Return up to `limit` persons whose normalised name begins with a prefix, in order of ids."""
    return [
        Entity(*row)
        for row in connection.execute(
            f"SELECT {_ENTITY} FROM entities WHERE normalized >= ?1 "
            "AND normalized < ?1 || char(1114111) AND +type = 'person' ORDER BY +id LIMIT ?2",
            (prefix, limit),
        )
    ]


def candidates_of(
    connection: apsw.Connection, entity_a: str, entity_b: str
) -> list[tuple[str, bool]]:
    """Return (id, is rejected) of the merge candidates of a pair of entities."""
    found = rows(
        connection,
        "SELECT id, status = 'rejected' FROM merge_candidates "
        "WHERE (entity_a_id, entity_b_id) IN (VALUES (?1, ?2), (?2, ?1)) ORDER BY id",
        (entity_a, entity_b),
    )
    return [(str(id_), bool(rejected)) for id_, rejected in found]


def pending_with(connection: apsw.Connection, entity_id: str) -> set[str]:
    """Return the ids of the entities whose merge with this one is pending review."""
    found = rows(
        connection,
        "SELECT iif(entity_a_id = ?1, entity_b_id, entity_a_id) FROM merge_candidates "
        "WHERE status = 'pending' AND ?1 IN (entity_a_id, entity_b_id)",
        (entity_id,),
    )
    return {str(other) for (other,) in found}


def entities_with_similar_names(
    connection: apsw.Connection, keys: Sequence[str], limit: int
) -> list[Entity]:
    """Return up to `limit` entities with any of these name keys, those with most of them first.

    Ties are in order of ids: an entity's time changes when its first mention is erased.
    """
    columns = ", ".join(f"entities.{column}" for column in _ENTITY.split(", "))
    return [
        Entity(*row)
        for row in connection.execute(
            f"SELECT {columns} FROM json_each(?) AS keys "
            "CROSS JOIN name_keys ON name_keys.key = keys.value "
            "CROSS JOIN entities ON entities.id = name_keys.entity_id "
            "GROUP BY entities.id ORDER BY count(*) DESC, entities.id LIMIT ?",
            (json_array(keys), limit),
        )
    ]


def aliases(connection: apsw.Connection, entity_id: str) -> list[Entity]:
    """Return the entities merged into this one, transitively."""
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
    """Return the id of the entity that owns a handle, or None."""
    owner: str | None = scalar(
        connection, "SELECT entity_id FROM handles WHERE id = ?", (handle_id,)
    )
    return owner


def handles(connection: apsw.Connection, entity_id: str) -> list[tuple[str, str]]:
    """Return (platform, handle) of an entity's accounts, without those of merged entities."""
    return rows(
        connection,
        "SELECT platform, handle FROM handles WHERE entity_id = ? ORDER BY platform, handle",
        (entity_id,),
    )


def is_merge_active(connection: apsw.Connection, merge_id: str) -> bool:
    """Return whether a merge was executed and has not been undone."""
    return bool(
        scalar(connection, "SELECT 1 FROM merges WHERE id = ? AND undone_at IS NULL", (merge_id,))
    )


def is_merge_by_command(connection: apsw.Connection, merge_id: str) -> bool:
    """Return whether a command executed a merge."""
    found = scalar(connection, "SELECT 1 FROM merges_by_command WHERE merge_id = ?", (merge_id,))
    return found is not None


def merged_pair(connection: apsw.Connection, merge_id: str) -> tuple[str, str] | None:
    """Return (winner, loser) of a merge, undone or not, or None."""
    found = rows(connection, "SELECT winner_id, loser_id FROM merges WHERE id = ?", (merge_id,))
    return found[0] if found else None


def pending_candidate(
    connection: apsw.Connection, candidate_id: str
) -> tuple[str, str, float] | None:
    """Return (entity a, entity b, confidence) of a candidate pending review, or None."""
    row = connection.execute(
        "SELECT entity_a_id, entity_b_id, confidence FROM merge_candidates "
        "WHERE id = ? AND status = 'pending'",
        (candidate_id,),
    ).fetchone()
    return None if row is None else (str(row[0]), str(row[1]), float(row[2]))


def merge_reason(connection: apsw.Connection, loser_id: str) -> tuple[str, float] | None:
    """Return (reason, confidence) of the merge of an entity into another, or None."""
    found = rows(
        connection,
        "SELECT reason, confidence FROM merges WHERE loser_id = ? AND undone_at IS NULL",
        (loser_id,),
    )
    return (str(found[0][0]), float(found[0][1])) if found else None


def events_naming(connection: apsw.Connection, entity_id: str, limit: int) -> list[str]:
    """Return the ids of the first `limit` events that mention this entity, merges not applied."""
    found = rows(
        connection,
        "SELECT DISTINCT event_id FROM mentions WHERE entity_id = ? AND entity_id <> '' "
        "ORDER BY event_id LIMIT ?",
        (entity_id, limit),
    )
    return [str(event) for (event,) in found]


def all_names(connection: apsw.Connection, entity_ids: Sequence[str]) -> set[str]:
    """Return all names, handles and mentions of these entities, as written."""
    found = rows(
        connection,
        """
        WITH known(id) AS (SELECT value FROM json_each(?))
        SELECT name FROM entities WHERE id IN (SELECT id FROM known)
        UNION SELECT handle FROM handles WHERE entity_id IN (SELECT id FROM known)
        UNION SELECT display_name FROM handles WHERE entity_id IN (SELECT id FROM known)
        UNION SELECT mention_text FROM mentions
               WHERE entity_id IN (SELECT id FROM known) AND entity_id <> ''
        """,
        (json_array(entity_ids),),
    )
    return {str(name) for (name,) in found if name}


def entity_count(connection: apsw.Connection) -> int:
    """Return the number of unmerged entities."""
    return int(scalar(connection, "SELECT count(*) FROM entities WHERE merged_into IS NULL"))
