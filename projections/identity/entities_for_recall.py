"""Queries of recall over identity.db."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import msgspec

from recollect.projections.sqlite import json_array, rows, scalar


def events_mentioning(connection: apsw.Connection, entity_ids: Sequence[str]) -> list[str]:
    """Return the ids of the events that mention any of these entities or come from one."""
    found = rows(
        connection,
        "SELECT DISTINCT event_id FROM mentions "
        f"WHERE entity_id IN ({_placeholders(entity_ids)}) AND entity_id <> ''",
        entity_ids,
    )
    return [str(event) for (event,) in found]


def events_mentioning_each(
    connection: apsw.Connection, entity_ids: Sequence[str], limit: int
) -> dict[str, list[str]]:
    """Return entity id -> ids of up to `limit` events that mention it or come from it.

    Includes the events of entities merged into it.
    """
    mention_rows = rows(
        connection,
        "WITH RECURSIVE under(entity, id) AS ("
        "SELECT value, value FROM json_each(?1) "
        "UNION SELECT entity, entities.id FROM under JOIN entities ON merged_into = under.id) "
        "SELECT value, (SELECT json_group_array(event_id) FROM (SELECT DISTINCT event_id "
        "FROM under JOIN mentions ON entity_id = under.id AND entity_id <> '' "
        "WHERE entity = ids.value LIMIT ?2)) "
        "FROM json_each(?1) AS ids",
        (json_array(entity_ids), limit),
    )
    return {entity: msgspec.json.decode(events, type=list[str]) for entity, events in mention_rows}


def entities_of_events(
    connection: apsw.Connection, event_ids: Sequence[str]
) -> dict[str, list[str]]:
    """Return event id -> ids of the entities that it mentions, merges not applied."""
    by_event: dict[str, set[str]] = {}
    for event, entity in rows(
        connection,
        "SELECT event_id, entity_id FROM json_each(?) AS ids "
        "CROSS JOIN mentions ON event_id = ids.value AND entity_id <> ''",
        (json_array(event_ids),),
    ):
        by_event.setdefault(event, set()).add(entity)
    return {event: sorted(entities) for event, entities in by_event.items()}


def canonical_ids(connection: apsw.Connection, entity_ids: Sequence[str]) -> dict[str, str]:
    """Return id -> id of the unmerged entity to which its merges lead, for ids that exist."""
    return dict(
        rows(
            connection,
            "WITH RECURSIVE chain(start, id) AS (SELECT value, value FROM json_each(?) "
            "UNION SELECT start, merged_into FROM chain JOIN entities ON entities.id = chain.id "
            "WHERE merged_into IS NOT NULL) "
            "SELECT start, chain.id FROM chain JOIN entities ON entities.id = chain.id "
            "WHERE merged_into IS NULL",
            (json_array(entity_ids),),
        )
    )


def matching_names(connection: apsw.Connection, names: Sequence[str]) -> set[str]:
    """Filter normalised names and ids to those that match an entity.

    A single word also matches a person's first name.
    """
    if not names:
        return set()
    name_rows = rows(
        connection,
        """
        SELECT value FROM json_each(?)
         WHERE EXISTS (SELECT 1 FROM entities WHERE id = value)
            OR EXISTS (SELECT 1 FROM entities WHERE normalized = value)
            OR (
                instr(value, ' ') = 0 AND EXISTS (
                    SELECT 1 FROM entities
                     WHERE normalized > value || ' ' AND normalized < value || '!'
                       AND +type = 'person'
                )
            )
        """,
        (json_array(names),),
    )
    return {str(name) for (name,) in name_rows}


def senders(connection: apsw.Connection, entity_ids: Sequence[str]) -> set[tuple[str, str]]:
    """Return the (platform, handle) of the accounts of these entities."""
    return {
        (str(platform), str(handle))
        for platform, handle in rows(
            connection,
            "SELECT platform, handle FROM handles "
            f"WHERE entity_id IN ({_placeholders(entity_ids)})",
            entity_ids,
        )
    }


def entity_of_sender(connection: apsw.Connection, platform: str, handle: str) -> str | None:
    """Return the id of the entity, before merges, that sends under a handle, or None."""
    entity: str | None = scalar(
        connection,
        "SELECT entity_id FROM handles WHERE platform = ? AND handle = ?",
        (platform, handle),
    )
    return entity


def accounts_of_sender(
    connection: apsw.Connection, sender: str, platform: str | None
) -> set[tuple[str, str]]:
    """Return the (platform, handle) of all accounts of the person who sends under a handle.

    The handle is looked up on the given platform; if it does not exist there, on all platforms.
    """
    account_rows = rows(
        connection,
        """
        WITH accounts AS (
            SELECT platform, handle, coalesce(alias.entity_id, handles.entity_id) AS person
              FROM handles LEFT JOIN session_aliases AS alias ON alias_id = handles.entity_id
        ),
        own AS (
            SELECT platform, person FROM accounts WHERE handle = ?1
        )
        SELECT platform, handle FROM accounts
         WHERE person IN (SELECT person FROM own
                           WHERE platform = ?2
                              OR NOT EXISTS (SELECT 1 FROM own WHERE platform = ?2))
        """,
        (sender, platform),
    )
    return {(str(platform), str(handle)) for platform, handle in account_rows}


def _placeholders(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
