"""The events that state a fact: the first one, and those that repeat it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows
from recollect.schemas.times import format_time
from recollect.schemas.wire import StatementCount


class FactStatement(NamedTuple):
    """An event that states a fact, and when (unix ms)."""

    event_id: str
    said_at: int


def statements(
    connection: apsw.Connection, fact_ids: Sequence[str]
) -> dict[str, list[FactStatement]]:
    """Return fact id -> the events that state it, earliest first.

    An event that was edited or deleted is left out as long as other events state the fact.
    """
    by_fact: dict[str, list[FactStatement]] = {}
    if not fact_ids:
        return by_fact
    for fact, *statement in rows(
        connection,
        # A join would compute the view for all facts.
        "SELECT fact_id, event_id, said_at FROM statements "
        "WHERE fact_id IN (SELECT value FROM json_each(?)) ORDER BY fact_id, said_at, event_id",
        (json_array(fact_ids),),
    ):
        by_fact.setdefault(fact, []).append(FactStatement(*statement))
    return by_fact


def events_with_occasions(connection: apsw.Connection) -> list[str]:
    """Return the ids of the events that repeat a fact."""
    return [str(event) for (event,) in rows(connection, "SELECT DISTINCT event_id FROM occasions")]


def in_order(found: Iterable[FactStatement], source_ids: Mapping[str, str]) -> list[FactStatement]:
    """Return the statements of readable events, by time.

    `source_ids`: event id -> source id of the readable events, in the order of the ledger.
    Statements made at the same time keep that order.
    """
    readable = [statement for statement in found if statement.event_id in source_ids]
    if len(readable) < 2:
        # Most facts are stated once; for those, do not build the order of all events.
        return readable
    places = {event_id: place for place, event_id in enumerate(source_ids)}
    return sorted(readable, key=lambda each: (each.said_at, places[each.event_id]))


def statement_summary(statements: Sequence[FactStatement]) -> StatementCount:
    """Return how often a fact was said, given all its statements, earliest first."""
    first = last = format_time(statements[0].said_at)
    if len(statements) > 1:
        last = format_time(statements[-1].said_at)
    return StatementCount(len(statements), first, last)
