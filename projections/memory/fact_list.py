"""Facts as a list: newest first, a page at a time, with their sources and entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar


class ListedFact(NamedTuple):
    """A fact as its row has it, with the claim that it makes; times are unix ms."""

    id: str
    text: str
    as_of: int
    source_event_id: str
    subject: str | None
    attribute: str | None
    value: str | None
    superseded_by: str | None


_COLUMNS = "facts.id, text, facts.as_of, source_event_id, subject, attribute, value, superseded_by"
_CHOSEN = """
    FROM facts LEFT JOIN fact_claims ON fact_claims.fact_id = facts.id
         LEFT JOIN fact_supersessions ON fact_supersessions.fact_id = facts.id
   WHERE (?1 IS NULL OR facts.id IN (
             SELECT fact_id FROM fact_entities
              WHERE entity_id IN (SELECT value FROM json_each(?1))))
     AND (?2 OR fact_supersessions.fact_id IS NULL)
"""
_OF_EVENTS = """
     AND facts.id IN (
         SELECT id FROM facts WHERE source_event_id IN (SELECT value FROM json_each(?6))
         UNION
         SELECT fact_id FROM fact_repeats WHERE event_id IN (SELECT value FROM json_each(?6)))
"""


def facts(
    connection: apsw.Connection,
    *,
    about: Sequence[str] | None,
    superseded: bool,
    after: tuple[int, str],
    limit: int,
    of_events: Sequence[str] | None = None,
) -> list[ListedFact]:
    """Return up to `limit` facts that come after (`as_of`, id) in the list.

    `about`: the ids of the entities that they are about, None for all; `superseded`: include facts
    that a newer one has superseded; `of_events`: only those that come from one of these events,
    or that one of them repeats.
    """
    some, bindings = "", []
    if of_events is not None:
        some = _OF_EVENTS
        bindings.append(json_array(of_events))
    found = rows(
        connection,
        f"SELECT {_COLUMNS} {_CHOSEN} {some} "
        "AND facts.as_of <= ?3 AND (facts.as_of < ?3 OR facts.id < ?4) "
        "ORDER BY facts.as_of DESC, facts.id DESC LIMIT ?5",
        (None if about is None else json_array(about), superseded, *after, limit, *bindings),
    )
    return [ListedFact(*row) for row in found]


class GenerationFact(NamedTuple):
    """A fact as a generation holds it: its event, its text, its slot, and whether it is current."""

    id: str
    event_id: str
    text: str
    slot: tuple[str, str] | None
    current: bool


def facts_by_event(connection: apsw.Connection) -> Iterator[GenerationFact]:
    """Yield every fact in the order of the events that they come from."""
    found = connection.execute(
        "SELECT facts.id, source_event_id, text, attribute, value, fact_supersessions.fact_id "
        "FROM facts LEFT JOIN fact_claims ON fact_claims.fact_id = facts.id "
        "LEFT JOIN fact_supersessions ON fact_supersessions.fact_id = facts.id "
        "ORDER BY source_event_id, facts.id"
    )
    for id_, event, text, attribute, held, ended in found:
        slot = None if attribute is None else (str(attribute), str(held))
        yield GenerationFact(id_, event, text, slot, ended is None)


def with_ids(connection: apsw.Connection, ids: Sequence[str]) -> list[ListedFact]:
    """Return the facts with these ids, those as well whose place a newer one has taken."""
    found = rows(
        connection,
        f"SELECT {_COLUMNS} {_CHOSEN} AND facts.id IN (SELECT value FROM json_each(?3)) "
        "ORDER BY facts.as_of, facts.id",
        (None, True, json_array(ids)),
    )
    return [ListedFact(*row) for row in found]


def as_of(connection: apsw.Connection, fact_id: str) -> int | None:
    """Return when a fact was said (unix ms); None if there is no such fact."""
    found: int | None = scalar(connection, "SELECT as_of FROM facts WHERE id = ?", (fact_id,))
    return found


def fact_count(
    connection: apsw.Connection, *, about: Sequence[str] | None, superseded: bool
) -> int:
    """Return how many facts `facts` lists in all."""
    arguments = (None if about is None else json_array(about), superseded)
    return int(scalar(connection, f"SELECT count(*) {_CHOSEN}", arguments))


def repeats(connection: apsw.Connection, fact_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return fact -> the events that repeat it, for facts that have any."""
    found: dict[str, list[str]] = {}
    for fact, event in rows(
        connection,
        "SELECT DISTINCT fact_id, event_id FROM fact_repeats "
        "WHERE fact_id IN (SELECT value FROM json_each(?)) ORDER BY fact_id, event_id",
        (json_array(fact_ids),),
    ):
        found.setdefault(fact, []).append(event)
    return found


def entities_of(connection: apsw.Connection, fact_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return fact -> the ids of the entities that it is about, without following merges."""
    found: dict[str, list[str]] = {}
    for fact, entity in rows(
        connection,
        "SELECT fact_id, entity_id FROM fact_entities "
        "WHERE fact_id IN (SELECT value FROM json_each(?)) ORDER BY fact_id, entity_id",
        (json_array(fact_ids),),
    ):
        found.setdefault(fact, []).append(entity)
    return found


def counts_about(
    connection: apsw.Connection, standing: Sequence[tuple[str, str]]
) -> dict[str, int]:
    """Return entity -> how many facts are about it; `standing`: (entity, id under which)."""
    return dict(
        rows(
            connection,
            "SELECT value ->> 0, count(DISTINCT fact_id) FROM json_each(?) "
            "CROSS JOIN fact_entities ON entity_id = value ->> 1 GROUP BY 1",
            (json_array(standing),),
        )
    )
