"""Queries of memory.db by agents about mental models and directives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.changes import Directive, EntityFact, MentalModel, MentalModelPage

_ENTITY_FACT = ", ".join(EntityFact.__struct_fields__)
_MODEL = ", ".join(f"model.{name}" for name in MentalModel.__struct_fields__)


def entity_facts(
    connection: apsw.Connection, entity_ids: Sequence[str], limit: int
) -> list[EntityFact]:
    """Return the newest distinct facts about these entities that pages may state."""
    fact_rows = rows(
        connection,
        f"""
        SELECT {_ENTITY_FACT} FROM entity_facts
         WHERE entity_id IN (SELECT value FROM json_each(?)) AND is_told
         ORDER BY said_at DESC, fact_id, entity_id LIMIT ?
        """,
        (json_array(entity_ids), len(entity_ids) * limit),
    )
    facts: dict[str, EntityFact] = {}
    for row in fact_rows:
        fact = EntityFact(*row)
        # Of several merged entities, only the subject of the slot has the value.
        if fact.fact_id not in facts or (fact.attribute and not facts[fact.fact_id].attribute):
            facts[fact.fact_id] = fact
    return list(facts.values())[:limit]


def entity_facts_of(connection: apsw.Connection, fact_id: str) -> list[EntityFact]:
    """Return the rows of a fact, one for each entity that it is about, by entity."""
    found = rows(
        connection,
        f"SELECT {_ENTITY_FACT} FROM entity_facts WHERE fact_id = ? ORDER BY entity_id",
        (fact_id,),
    )
    return [EntityFact(*row) for row in found]


def facts_of_slot(connection: apsw.Connection, entity_id: str, attribute: str) -> list[EntityFact]:
    """Return the facts about an entity that state a value of an attribute, in order of ids."""
    found = rows(
        connection,
        f"SELECT {_ENTITY_FACT} FROM entity_facts WHERE entity_id = ? AND attribute = ? "
        "ORDER BY fact_id",
        (entity_id, attribute),
    )
    return [EntityFact(*row) for row in found]


def page(connection: apsw.Connection, model_id: str) -> MentalModelPage | None:
    """Return the parts of a version of a mental model; None if it was written by hand."""
    columns = ", ".join(MentalModelPage.__struct_fields__)
    found = rows(
        connection, f"SELECT {columns} FROM mental_model_pages WHERE model_id = ?", (model_id,)
    )
    return MentalModelPage(*found[0]) if found else None


def versions_after(connection: apsw.Connection, model_id: str) -> list[MentalModel]:
    """Return the versions whose previous version is `model_id`, in order of the ledger."""
    found = rows(
        connection,
        f"SELECT {_MODEL} FROM mental_models AS model WHERE parent_id = ? ORDER BY number",
        (model_id,),
    )
    return [MentalModel(*row) for row in found]


def models_about(connection: apsw.Connection, entity_id: str) -> list[MentalModel]:
    """Return all versions of the mental models about an entity, in order of the ledger."""
    found = rows(
        connection,
        f"SELECT {_MODEL} FROM mental_models AS model WHERE entity_id = ? ORDER BY number",
        (entity_id,),
    )
    return [MentalModel(*row) for row in found]


# Which models are due


class StaleModel(NamedTuple):
    """The newest version of a mental model about an entity, which lacks later changes.

    Attributes:
        last_change: the last record that changed what is known about its entity.
        changes: how many records did so since it was up to date.
        refreshed_at: when it was last up to date (unix ms).
        is_merged: whether its entity was merged, or a merge of it undone, since then.
    """

    id: str
    entity_id: str
    subtype: str | None
    refresh_trigger: str | None
    last_change: int
    changes: int
    refreshed_at: int
    is_merged: bool


_STALE = """
    WITH newest AS (
        SELECT model.id, model.entity_id, model.subtype, model.refresh_trigger,
               max(model.number, coalesce((SELECT max(number) FROM mental_model_refreshes
                                            WHERE model_id = model.id), 0)) AS up_to,
               max(model.last_refreshed, coalesce((SELECT max(at) FROM mental_model_refreshes
                                                    WHERE model_id = model.id), 0)) AS refreshed_at,
               coalesce(page.entities, json_array(model.entity_id)) AS entities
          FROM mental_models AS model
          LEFT JOIN mental_model_pages AS page ON page.model_id = model.id
         WHERE model.entity_id IS NOT NULL AND page.replaced_by IS NULL
           AND NOT EXISTS (SELECT 1 FROM mental_models AS newer WHERE newer.parent_id = model.id)
    )
    SELECT newest.id, newest.entity_id, subtype, refresh_trigger,
           max(change.number), count(DISTINCT change.number), refreshed_at,
           EXISTS (SELECT 1 FROM json_each(newest.entities) AS one
                     JOIN entity_changes AS merged ON merged.entity_id = one.value
                    WHERE merged.number > newest.up_to)
      FROM newest, json_each(newest.entities) AS entity
      JOIN changes_of_entities AS change
           ON change.entity_id = entity.value AND change.number > newest.up_to
     GROUP BY newest.id ORDER BY newest.id
"""


def stale_models(connection: apsw.Connection) -> list[StaleModel]:
    """Return the newest versions that do not reflect the latest changes of their entity."""
    stale_rows = rows(connection, _STALE, ())
    return [StaleModel(*row)._replace(is_merged=bool(row[-1])) for row in stale_rows]


def has_standing_model(connection: apsw.Connection, entity_id: str, refresh_trigger: str) -> bool:
    """Return whether an entity has a mental model with this trigger that no other has replaced."""
    return bool(
        scalar(
            connection,
            """
            SELECT EXISTS (
                SELECT 1 FROM mental_models AS model
                  JOIN mental_model_pages AS page ON page.model_id = model.id
                 WHERE model.entity_id = ? AND model.refresh_trigger = ?
                   AND page.replaced_by IS NULL
                   AND NOT EXISTS (SELECT 1 FROM mental_models AS newer
                                    WHERE newer.parent_id = model.id))
            """,
            (entity_id, refresh_trigger),
        )
    )


class ChangedEntity(NamedTuple):
    """An entity about which something changed since the last refresh tick, and when last."""

    id: str
    last_change: int
    facts: int


def changed_entities(
    connection: apsw.Connection, min_facts: int, before: int | None = None
) -> list[ChangedEntity]:
    """Return the entities with enough facts that changed since the last tick, in order of ids.

    `before`: only ticks before this record count.
    """
    entity_rows = rows(
        connection,
        """
        SELECT changed.entity_id, changed.number, count(*) AS facts
          FROM (SELECT entity_id, max(number) AS number FROM changes_of_entities
                 WHERE number > (SELECT coalesce(max(number), 0) FROM refresh_ticks
                                  WHERE ?2 IS NULL OR number < ?2)
                 GROUP BY entity_id) AS changed
          JOIN entity_facts AS fact ON fact.entity_id = changed.entity_id AND fact.is_told
         GROUP BY changed.entity_id HAVING facts >= ?1
         ORDER BY changed.entity_id
        """,
        (min_facts, before),
    )
    return [ChangedEntity(*row) for row in entity_rows]


def current_model_texts(connection: apsw.Connection) -> dict[str, str]:
    """Return name and entity -> the text of the current mental model; of several, the last."""
    return dict(
        rows(
            connection,
            "SELECT name || ' ' || coalesce(entity_id, ''), description FROM mental_models "
            "WHERE id IN (SELECT id FROM current_mental_models) ORDER BY number",
        )
    )


# Directives

_DIRECTIVE = ", ".join(Directive.__struct_fields__)


def directives_of_events(connection: apsw.Connection, event_ids: Sequence[str]) -> list[Directive]:
    """Return the directives that events state, withdrawn ones included, in the events' order."""
    columns = ", ".join(f"directives.{name}" for name in Directive.__struct_fields__)
    found = rows(
        connection,
        f"SELECT {columns} FROM json_each(?) AS ids "
        "CROSS JOIN directives ON event_id = ids.value ORDER BY ids.key, char_start",
        (json_array(event_ids),),
    )
    return [Directive(*row) for row in found]


class ListedDirective(NamedTuple):
    """A directive; in force unless it was withdrawn, retracted or replaced by a later one."""

    directive: Directive
    is_obeyed: bool


def directives(
    connection: apsw.Connection, *, include_ended: bool = False, ids: Sequence[str] | None = None
) -> list[ListedDirective]:
    """Return the directives in force, or all, in the order in which they were stated."""
    directive_rows = rows(
        connection,
        f"""
        SELECT {_DIRECTIVE}, id IN (SELECT id FROM obeyed_directives) AS is_obeyed FROM directives
         WHERE (is_obeyed OR ?1) AND (?2 IS NULL OR id IN (SELECT value FROM json_each(?2)))
         ORDER BY said_at, id
        """,
        (include_ended, None if ids is None else json_array(ids)),
    )
    return [ListedDirective(Directive(*row[:-1]), bool(row[-1])) for row in directive_rows]
