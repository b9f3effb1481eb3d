"""Queries of recall over memory.db."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.attributes import MASK, SINGLE_VALUED
from recollect.schemas.changes import FactDays, MessageDate

#: (rowid, id, source event id, text) of a fact.
Fact = tuple[int, str, str | None, str]


class RowKinds(NamedTuple):
    """Which kinds of rows a zone has, so that queries of absent kinds can be skipped."""

    observations: bool
    mental_models: bool
    causal_links: bool
    supersessions: bool
    repeats: bool
    claims: bool


def present_row_kinds(connection: apsw.Connection) -> RowKinds:
    """Return which kinds of rows the file has."""
    (found,) = rows(
        connection,
        "SELECT EXISTS (SELECT 1 FROM observation_facts), EXISTS (SELECT 1 FROM mental_models), "
        "EXISTS (SELECT 1 FROM causal_links), EXISTS (SELECT 1 FROM fact_ends), "
        "EXISTS (SELECT 1 FROM occasions), EXISTS (SELECT 1 FROM fact_claims)",
    )
    return RowKinds(*map(bool, found))


def facts_after(connection: apsw.Connection, rowid: int, limit: int) -> list[Fact]:
    """Return up to `limit` facts after a rowid, in rowid order."""
    return rows(
        connection,
        "SELECT rowid, id, source_event_id, text FROM facts WHERE rowid > ? ORDER BY rowid LIMIT ?",
        (rowid, limit),
    )


def rowids(connection: apsw.Connection, fact_ids: Sequence[str]) -> dict[str, int]:
    """Return fact id -> rowid."""
    if not fact_ids:
        return {}
    return dict(
        rows(
            connection,
            "SELECT id, rowid FROM facts WHERE id IN (SELECT value FROM json_each(?))",
            (json_array(fact_ids),),
        )
    )


class EventFacts(NamedTuple):
    """The facts of an event: `stated` ones as id -> text, and the ids of `repeated` ones."""

    stated: dict[str, str]
    repeated: list[str]


def event_facts(connection: apsw.Connection, event_ids: Sequence[str]) -> dict[str, EventFacts]:
    """Return event id -> its facts, for events that have any."""
    stated: dict[str, list[tuple[str, str]]] = {}
    repeated: dict[str, list[tuple[int, str]]] = {}
    for event, fact, text, start in rows(
        connection,
        "SELECT source_event_id, facts.id, text, NULL FROM json_each(?1) AS ids "
        "CROSS JOIN facts ON source_event_id = ids.value "
        "UNION ALL SELECT event_id, fact_id, NULL, char_start FROM occasions "
        "WHERE event_id IN (SELECT value FROM json_each(?1))",
        (json_array(event_ids),),
    ):
        if start is None:
            stated.setdefault(event, []).append((fact, text))
        else:
            repeated.setdefault(event, []).append((start, fact))
    # Most events have one or two facts: sorting here is three times as fast as ORDER BY.
    return {
        event: EventFacts(
            dict(sorted(stated.get(event, ()))),
            [fact for _, fact in sorted(repeated.get(event, ()))],
        )
        for event in stated.keys() | repeated.keys()
    }


def causal_neighbours(
    connection: apsw.Connection, fact_ids: Sequence[str]
) -> list[tuple[str, str, float]]:
    """Return (fact, linked fact, strength) of causal links from or to these facts."""
    return rows(
        connection,
        "WITH given AS MATERIALIZED (SELECT value AS id FROM json_each(?)) "
        "SELECT from_fact_id, to_fact_id, strength FROM given "
        "JOIN causal_links ON from_fact_id = given.id "
        "UNION ALL SELECT to_fact_id, from_fact_id, strength FROM given "
        "JOIN causal_links ON to_fact_id = given.id",
        (json_array(fact_ids),),
    )


def texts(connection: apsw.Connection, fact_ids: Sequence[str]) -> dict[str, str]:
    """Return fact id -> text."""
    return dict(
        rows(
            connection,
            "SELECT id, text FROM facts WHERE id IN (SELECT value FROM json_each(?))",
            (json_array(fact_ids),),
        )
    )


def contexts(connection: apsw.Connection, fact_ids: Sequence[str]) -> dict[str, str]:
    """Return fact id -> its context: the text that it answers or corrects, or its heading."""
    return dict(
        rows(
            connection,
            "SELECT facts.id, context FROM json_each(?) AS ids "
            "CROSS JOIN facts ON facts.id = ids.value "
            "WHERE context IS NOT NULL",
            (json_array(fact_ids),),
        )
    )


_SINGLE_VALUED = ", ".join(f"'{name}'" for name in sorted(SINGLE_VALUED))
# All statements about single-valued attributes up to a time, ordered by slot and then by time.
# A claim that begins after its fact was said counts from then on.
_COUNTS_AT = "CASE WHEN claim.as_of > facts.as_of THEN max(said_at, claim.as_of) ELSE said_at END"
_SLOT_STATEMENTS = f"""
SELECT claim.subject, claim.attribute, claim.value, claim.fact_id, {_COUNTS_AT} AS counts_at
  FROM fact_claims AS claim JOIN facts ON facts.id = claim.fact_id
  JOIN statements AS said USING (fact_id)
 WHERE counts_at <= ?1
   AND (claim.attribute IN ({_SINGLE_VALUED}) OR instr(claim.attribute, '{MASK}'))
   AND NOT EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = claim.fact_id)
 ORDER BY claim.subject, claim.attribute, counts_at, claim.fact_id
"""


def facts_retracted_as_false(connection: apsw.Connection) -> frozenset[str]:
    """Return the facts that were retracted as never true, and not restored."""
    return frozenset(str(fact) for (fact,) in rows(connection, "SELECT fact_id FROM void_facts"))


def retracted_spans(connection: apsw.Connection) -> list[tuple[str, int, int]]:
    """Return (event id, start, end) of each span of text that was retracted as never true."""
    return rows(
        connection,
        "SELECT event_id, char_start, char_end FROM retractions "
        "WHERE is_standing AND replaced_at IS NULL ORDER BY event_id, char_start",
    )


def ends_until(connection: apsw.Connection, time: int) -> dict[str, int]:
    """Return fact id -> when it first ended (unix ms), for facts that had ended by `time`.

    A fact ends when it is superseded. A fact about a single-valued attribute also ends when, after
    its last statement up to `time`, another value is stated. Statements count by when they were
    made, even if they were ingested later.
    """
    ends = dict(
        rows(
            connection,
            "SELECT fact_id, invalid_at FROM fact_changes WHERE invalid_at <= ?",
            (time,),
        )
    )
    stated: Iterable[tuple[str, str, str, str, int]]
    stated = rows(connection, _SLOT_STATEMENTS, (time,))
    for _, of_slot in groupby(stated, key=lambda row: row[:2]):
        next_statement: tuple[str, int] | None = None  # its value and time
        next_change: int | None = None  # time of the next statement with another value
        later_facts: set[str] = set()  # facts that a later statement states
        for _, _, value, fact, said_at in reversed(list(of_slot)):
            if next_statement is not None and next_statement[0] != value:
                next_change = next_statement[1]
            if fact not in later_facts and next_change is not None:
                ends[fact] = min(next_change, ends.get(fact, next_change))
            later_facts.add(fact)
            next_statement = value, said_at
    return ends


def facts_of_events_stating(
    connection: apsw.Connection, fact_ids: Iterable[str]
) -> list[tuple[str, str]]:
    """Return (fact id, event id) of every statement in the events that state these facts."""
    return rows(
        connection,
        """
        SELECT fact_id, event_id FROM statements
         WHERE event_id IN (SELECT event_id FROM statements
                             WHERE fact_id IN (SELECT value FROM json_each(?)))
        """,
        (json_array(list(fact_ids)),),
    )


def supersessions(
    connection: apsw.Connection, fact_ids: Sequence[str], until_ms: int
) -> list[tuple[str, str, int]]:
    """Return (older, newer, unix ms) of supersessions, latest first.

    In each of them, one of these facts is the older or the newer one.
    """
    return rows(
        connection,
        "SELECT fact_id, superseded_by, invalid_at FROM json_each(?1) AS ids "
        "CROSS JOIN fact_changes ON fact_id = ids.value WHERE invalid_at <= ?2 "
        "UNION SELECT fact_id, superseded_by, invalid_at FROM json_each(?1) AS ids "
        "CROSS JOIN fact_changes ON superseded_by = ids.value WHERE invalid_at <= ?2 "
        "ORDER BY invalid_at DESC, fact_id, superseded_by",
        (json_array(fact_ids), until_ms),
    )


def days_of_facts(connection: apsw.Connection, fact_ids: Sequence[str]) -> dict[str, FactDays]:
    """Return fact id -> the days that it speaks of, for facts that name any."""
    found = rows(
        connection,
        "SELECT fact_id, first_day, last_day FROM json_each(?) AS ids "
        "CROSS JOIN fact_days ON fact_id = ids.value",
        (json_array(fact_ids),),
    )
    return {row[0]: FactDays(*row) for row in found}


def facts_about_days(connection: apsw.Connection, first: str, last: str) -> list[tuple[int, bool]]:
    """Return (rowid, whether all its days are inside) of facts that speak of any day of a span.

    `first`, `last`: the first and the last day of the span (YYYY-MM-DD).
    """
    # Few facts speak of several days. With both halves in one condition, and `last_day` usable for
    # a search, the planner would read all rows.
    return rows(
        connection,
        """
        SELECT facts.rowid, last_day <= ?2
          FROM fact_days CROSS JOIN facts ON facts.id = fact_id WHERE first_day BETWEEN ?1 AND ?2
         UNION ALL
        SELECT facts.rowid, FALSE
          FROM fact_days CROSS JOIN facts ON facts.id = fact_id
         WHERE last_day > first_day AND first_day < ?1 AND +last_day >= ?1
        """,
        (first, last),
    )


def message_dates(
    connection: apsw.Connection, event_ids: Sequence[str]
) -> dict[str, list[MessageDate]]:
    """Return event id -> the dates in its text, in order, for events with any."""
    dates_by_event: dict[str, list[MessageDate]] = {}
    for row in rows(
        connection,
        "SELECT event_id, char_start, char_end, first_day, last_day, is_relative "
        "FROM json_each(?) AS ids CROSS JOIN message_dates ON event_id = ids.value "
        "ORDER BY event_id, char_start",
        (json_array(event_ids),),
    ):
        dates_by_event.setdefault(row[0], []).append(MessageDate(*row))
    return dates_by_event


def dates_in_messages(
    connection: apsw.Connection, event_ids: Sequence[str]
) -> list[tuple[int, int, int]]:
    """Return (position of the event, first day, last day) of each date in the texts of events.

    Days are counted from 1970, and both are included.
    """
    return rows(
        connection,
        """
        SELECT ids.key, CAST(julianday(first_day) - julianday('1970-01-01') AS INTEGER),
               CAST(julianday(last_day) - julianday('1970-01-01') AS INTEGER)
          FROM json_each(?) AS ids CROSS JOIN message_dates ON event_id = ids.value
         ORDER BY ids.key, char_start
        """,
        (json_array(event_ids),),
    )


class Claim(NamedTuple):
    """A value of a slot, and the fact that states it; `as_of` and `ended_at` in unix ms."""

    fact_id: str
    attribute: str
    value: str
    as_of: int
    ended_at: int | None

    def is_valid_at(self, time: int) -> bool:
        """Return whether the fact was stated and had not ended at a time (unix ms)."""
        return self.as_of <= time and (self.ended_at is None or self.ended_at > time)


def subjects_with_claims(connection: apsw.Connection, subjects: Sequence[str]) -> set[str]:
    """Filter subjects to those with claims."""
    found = rows(
        connection,
        "SELECT value FROM json_each(?) AS subjects WHERE EXISTS "
        "(SELECT 1 FROM fact_claims WHERE subject = subjects.value)",
        (json_array(subjects),),
    )
    return {str(subject) for (subject,) in found}


def claims_about(connection: apsw.Connection, subjects: Sequence[str]) -> dict[str, list[Claim]]:
    """Return subject -> the claims about it, ended ones included, in order of fact id."""
    found: dict[str, list[Claim]] = {}
    for subject, *claim in rows(
        connection,
        "SELECT subject, claim.fact_id, attribute, claim.value, as_of, (SELECT min(invalid_at) "
        "FROM fact_ends AS ended WHERE ended.fact_id = claim.fact_id) "
        "FROM json_each(?) AS subjects "
        "CROSS JOIN fact_claims AS claim ON subject = subjects.value ORDER BY claim.fact_id",
        (json_array(subjects),),
    ):
        found.setdefault(subject, []).append(Claim(*claim))
    return found


def latest_version_of(connection: apsw.Connection, fact_id: str, until_ms: int) -> str:
    """Follow supersessions from a fact up to a time; return the id at the end of the chain.

    It is the id of a fact, or of an event that ended the last fact without stating a new one.
    """
    latest_id: str = scalar(
        connection,
        """
        WITH RECURSIVE line(id, step) AS (
            SELECT ?1, 0
            UNION
            SELECT superseded_by, step + 1 FROM line
              JOIN fact_changes ON fact_id IN (
                       SELECT line.id UNION SELECT id FROM facts WHERE source_event_id = line.id)
             WHERE invalid_at <= ?2 AND step < 1000
        )
        SELECT id FROM line ORDER BY step DESC LIMIT 1
        """,
        (fact_id, until_ms),
    )
    return latest_id


def entities_of_facts(connection: apsw.Connection, fact_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return fact id -> ids of the entities that it is about, merges not applied."""
    return _grouped(
        connection,
        "SELECT fact_id, entity_id FROM json_each(?) AS ids "
        "CROSS JOIN fact_entities ON fact_id = ids.value ORDER BY fact_id, entity_id",
        fact_ids,
    )


def recall_counts(
    connection: apsw.Connection, event_ids: Sequence[str]
) -> list[tuple[str, int, int]]:
    """Return (event id, recalls of its facts, number of the last record that reports some)."""
    return rows(
        connection,
        "SELECT facts.source_event_id, sum(count), max(number) FROM json_each(?) AS ids "
        "CROSS JOIN facts ON facts.source_event_id = ids.value "
        "JOIN fact_accesses ON fact_accesses.fact_id = facts.id GROUP BY facts.source_event_id",
        (json_array(event_ids),),
    )


def _grouped(connection: apsw.Connection, sql: str, ids: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    if not ids:
        return found
    for key, item in rows(connection, sql, (json_array(ids),)):
        found.setdefault(str(key), []).append(str(item))
    return found
