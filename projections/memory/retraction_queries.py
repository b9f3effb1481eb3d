"""Retractions: which memories were retracted, and which facts that covers."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from recollect.projections.sqlite import json_array, rows
from recollect.schemas.changes import MemoryRetraction, RetractedFact

_RETRACTION = ", ".join(MemoryRetraction.__struct_fields__)
_FACT = ", ".join(RetractedFact.__struct_fields__)


def retractions_of(connection: apsw.Connection, target_id: str) -> list[MemoryRetraction]:
    """Return a memory's retraction, with a row for each event that states it, restored or not."""
    found = rows(
        connection,
        f"SELECT {_RETRACTION} FROM retractions WHERE target_id = ? ORDER BY event_id",
        (target_id,),
    )
    return [MemoryRetraction(*row) for row in found]


def active_retractions(
    connection: apsw.Connection, event_ids: Sequence[str]
) -> list[MemoryRetraction]:
    """Return the retractions in force of statements in these events, by target and event."""
    retraction_rows = rows(
        connection,
        f"SELECT {_RETRACTION} FROM json_each(?) AS near CROSS JOIN retractions "
        "ON event_id = near.value WHERE is_standing ORDER BY target_id, event_id",
        (json_array(event_ids),),
    )
    return [MemoryRetraction(*row) for row in retraction_rows]


def facts_covered(connection: apsw.Connection, target_id: str) -> list[RetractedFact]:
    """Return the facts that the retraction of a memory covers, restored or not, in order of ids."""
    found = rows(
        connection,
        f"SELECT {_FACT} FROM retracted_facts WHERE target_id = ? ORDER BY fact_id",
        (target_id,),
    )
    return [RetractedFact(*row) for row in found]


def retractions_of_fact(connection: apsw.Connection, fact_id: str) -> list[RetractedFact]:
    """Return the retractions that cover a fact, restored or not, by target."""
    found = rows(
        connection,
        f"SELECT {_FACT} FROM retracted_facts WHERE fact_id = ? ORDER BY target_id",
        (fact_id,),
    )
    return [RetractedFact(*row) for row in found]


def dated_facts_of(connection: apsw.Connection, event_id: str) -> list[tuple[str, str, int]]:
    """Return (id, text, as_of in unix ms) of the facts taken from an event, in order of ids."""
    return rows(
        connection,
        "SELECT id, text, as_of FROM facts WHERE source_event_id = ? ORDER BY id",
        (event_id,),
    )


def retracted_events(
    connection: apsw.Connection, event_ids: Sequence[str]
) -> dict[str, MemoryRetraction]:
    """Return event id -> its retraction in force, for events that are retracted as a whole."""
    retraction_rows = rows(
        connection,
        f"SELECT {_RETRACTION} FROM json_each(?) AS near CROSS JOIN retractions "
        "ON target_id = near.value AND event_id = target_id WHERE is_standing",
        (json_array(event_ids),),
    )
    return {
        row.target_id: row for row in (MemoryRetraction(*columns) for columns in retraction_rows)
    }


def events_replaced_by(connection: apsw.Connection, event_ids: Sequence[str]) -> dict[str, str]:
    """Return event -> the event that it replaced, for those of these events that replaced one."""
    return dict(
        rows(
            connection,
            "SELECT retracted_by, target_id FROM json_each(?) AS near CROSS JOIN retractions "
            "ON retracted_by = near.value AND event_id = target_id "
            "WHERE is_standing AND replaced_at IS NOT NULL ORDER BY target_id",
            (json_array(event_ids),),
        )
    )
