"""Facts by day, for the timeline, without void facts (retracted as never true)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, scalar


class DatedFact(NamedTuple):
    """A fact, when it was said (unix ms), its event, and the days that it speaks of, if any."""

    id: str
    as_of: int
    event_id: str
    first_day: str | None
    last_day: str | None


class Selection(NamedTuple):
    """A filter of facts: `about`, ids of entities; `valid_at`, when they hold (unix ms)."""

    about: Sequence[str] | None = None
    valid_at: int | None = None


# Up to this many facts of an entity are read and sorted for a page. If an entity has more, its
# facts are looked up in the order of the days instead, since a page is then soon full.
_FEW = 2_000
_ABOUT = """
    SELECT fact_id FROM fact_entities WHERE entity_id IN (SELECT value FROM json_each(:about))
"""
_SELECTED = """
     AND NOT EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = facts.id)
     AND (:valid_at IS NULL OR (
             facts.as_of <= :valid_at
             AND NOT EXISTS (SELECT 1 FROM fact_ends
                              WHERE fact_ends.fact_id = facts.id
                                AND invalid_at <= :valid_at)))
"""


_BY_DAY = "fact_days CROSS JOIN facts ON facts.id = fact_days.fact_id"
_BY_FACT = "facts CROSS JOIN fact_days ON fact_days.fact_id = facts.id"


class _Plan(NamedTuple):
    """The parts of a query that depend on the selection.

    `condition`: the WHERE clause; `dated`: the facts with days, joined in the order in which they
    are read; `by_time`: "+" before a time column whose index must not be used.
    """

    condition: str
    dated: str
    by_time: str
    bindings: dict[str, object]


def _plan(connection: apsw.Connection, selection: Selection) -> _Plan:
    about = None if selection.about is None else json_array(selection.about)
    bindings: dict[str, object] = {"about": about, "valid_at": selection.valid_at}
    if about is None:
        return _Plan(_SELECTED, _BY_DAY, "", bindings)
    counted = _ABOUT.replace(":about", "?")
    count = scalar(connection, f"SELECT count(*) FROM ({counted} LIMIT {_FEW + 1})", (about,))
    # The unary plus keeps SQLite from reading the facts by their ids.
    if count > _FEW:
        return _Plan(f"{_SELECTED} AND +facts.id IN ({_ABOUT})", _BY_DAY, "", bindings)
    return _Plan(f"{_SELECTED} AND facts.id IN ({_ABOUT})", _BY_FACT, "+", bindings)


def facts_by_first_day(
    connection: apsw.Connection, selection: Selection, first: str, last: str
) -> Iterator[DatedFact]:
    """Yield the facts whose first day is from `first` to `last`, by (day, when said, id)."""
    return _dated(connection, selection, "first_day", first, last)


def facts_by_last_day(
    connection: apsw.Connection, selection: Selection, first: str, last: str
) -> Iterator[DatedFact]:
    """Yield the facts of several days whose last day is from `first` to `last`, by that day."""
    return _dated(connection, selection, "last_day", first, last, "AND last_day > first_day")


def facts_lasting_into(
    connection: apsw.Connection, selection: Selection, day: str, earliest: str
) -> Iterator[DatedFact]:
    """Yield the facts whose first day is from `earliest` to before `day`, and that last into it."""
    condition = "AND last_day > first_day AND first_day < :last AND last_day >= :last"
    return _dated(connection, selection, "first_day", earliest, day, condition)


def _dated(
    connection: apsw.Connection,
    selection: Selection,
    column: str,
    first: str,
    last: str,
    condition: str = "",
) -> Iterator[DatedFact]:
    plan = _plan(connection, selection)
    fact_rows = connection.execute(
        f"""
        SELECT facts.id, as_of, source_event_id, first_day, last_day
          FROM {plan.dated}
         WHERE {column} BETWEEN :first AND :last {condition} {plan.condition}
         ORDER BY {column}, as_of, facts.id
        """,
        {**plan.bindings, "first": first, "last": last},
    )
    return (DatedFact(*row) for row in fact_rows)


def facts_by_statement(
    connection: apsw.Connection, selection: Selection, since: int, until: int
) -> Iterator[DatedFact]:
    """Yield the facts that name no day or several, said from `since` until before `until`.

    They are in the order of (when said, id); the times are unix ms.
    """
    plan = _plan(connection, selection)
    fact_rows = connection.execute(
        f"""
        SELECT facts.id, as_of, source_event_id, first_day, last_day
          FROM facts LEFT JOIN fact_days ON fact_days.fact_id = facts.id
         WHERE {plan.by_time}as_of >= :since AND {plan.by_time}as_of < :until
           AND (fact_days.fact_id IS NULL OR last_day > first_day) {plan.condition}
         ORDER BY as_of, facts.id
        """,
        {**plan.bindings, "since": since, "until": until},
    )
    return (DatedFact(*row) for row in fact_rows)
