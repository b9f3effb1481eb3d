"""Paginated listing of facts, newest first, with their sources and entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.changes import FactMerge


class ListedFact(NamedTuple):
    """A fact with its claim and the days that it speaks of, if any; `as_of` is unix ms."""

    id: str
    text: str
    as_of: int
    source_event_id: str
    subject: str | None
    attribute: str | None
    value: str | None
    superseded_by: str | None
    retracted: bool
    first_day: str | None
    last_day: str | None
    context: str | None


_COLUMNS = (
    "facts.id, text, facts.as_of, source_event_id, subject, attribute, value, superseded_by, "
    "EXISTS (SELECT 1 FROM void_facts WHERE void_facts.fact_id = facts.id), first_day, last_day, "
    "facts.context"
)
_FROM_WHERE = """
    FROM facts LEFT JOIN fact_claims ON fact_claims.fact_id = facts.id
         LEFT JOIN fact_ends ON fact_ends.fact_id = facts.id
              AND (invalid_at <= ?3 OR invalid_at <= (SELECT max(as_of) FROM facts))
         LEFT JOIN fact_days ON fact_days.fact_id = facts.id
   WHERE (?1 IS NULL OR facts.id IN (
             SELECT fact_id FROM fact_entities
              WHERE entity_id IN (SELECT value FROM json_each(?1))))
     AND (?2 OR fact_ends.fact_id IS NULL)
"""
_OF_EVENTS = """
     AND facts.id IN (
         SELECT id FROM facts WHERE source_event_id IN (SELECT value FROM json_each(?7))
         UNION
         SELECT fact_id FROM occasions WHERE event_id IN (SELECT value FROM json_each(?7)))
"""


def facts(
    connection: apsw.Connection,
    *,
    about: Sequence[str] | None,
    superseded: bool,
    present: int,
    after: tuple[int, str],
    limit: int,
    of_events: Sequence[str] | None = None,
) -> list[ListedFact]:
    """Return up to `limit` facts that follow the fact `after` (`as_of`, id) in the list.

    `about`: only facts about one of these entities. `superseded`: include superseded facts.
    `present` (unix ms): what is superseded only later, and after the last fact, still holds.
    `of_events`: only facts that one of these events states or repeats.
    """
    of_events_filter, bindings = "", []
    if of_events is not None:
        of_events_filter = _OF_EVENTS
        bindings.append(json_array(of_events))
    fact_rows = rows(
        connection,
        f"SELECT {_COLUMNS} {_FROM_WHERE} {of_events_filter} "
        "AND facts.as_of <= ?4 AND (facts.as_of < ?4 OR facts.id < ?5) "
        "ORDER BY facts.as_of DESC, facts.id DESC LIMIT ?6",
        (
            None if about is None else json_array(about),
            superseded,
            present,
            *after,
            limit,
            *bindings,
        ),
    )
    return [ListedFact(*row) for row in fact_rows]


class GenerationFact(NamedTuple):
    """A fact of a generation: its event, text, (attribute, value), and whether it is current."""

    id: str
    event_id: str
    text: str
    slot: tuple[str, str] | None
    current: bool


def facts_by_event(connection: apsw.Connection) -> Iterator[GenerationFact]:
    """Yield all facts, ordered by source event."""
    fact_rows = connection.execute(
        "SELECT facts.id, source_event_id, text, attribute, value, fact_ends.fact_id "
        "FROM facts LEFT JOIN fact_claims ON fact_claims.fact_id = facts.id "
        "LEFT JOIN fact_ends ON fact_ends.fact_id = facts.id "
        "ORDER BY source_event_id, facts.id"
    )
    for id_, event, text, attribute, value, superseded in fact_rows:
        slot = None if attribute is None else (str(attribute), str(value))
        yield GenerationFact(id_, event, text, slot, superseded is None)


def fact_merges(
    connection: apsw.Connection, fact_id: str | None = None
) -> list[tuple[FactMerge, str, str]]:
    """Return (merge, text of the fact kept, text of the other) of facts, the last merge first.

    `fact_id`: only the merge of this fact into another.
    """
    columns = ", ".join(f"merged.{name}" for name in FactMerge.__struct_fields__)
    found = rows(
        connection,
        f"SELECT {columns}, keeper.text, fact.text FROM fact_merges AS merged "
        "JOIN facts AS keeper ON keeper.id = keeper_id JOIN facts AS fact ON fact.id = fact_id "
        f"{'' if fact_id is None else 'WHERE fact_id = ? '}ORDER BY merged_at DESC, fact_id",
        () if fact_id is None else (fact_id,),
    )
    return [(FactMerge(*row[:-2]), *row[-2:]) for row in found]


def with_ids(connection: apsw.Connection, ids: Sequence[str], present: int) -> list[ListedFact]:
    """Return the facts with these ids, superseded ones included; `present` as in `facts`."""
    found = rows(
        connection,
        f"SELECT {_COLUMNS} {_FROM_WHERE} AND facts.id IN (SELECT value FROM json_each(?4)) "
        "ORDER BY facts.as_of, facts.id",
        (None, True, present, json_array(ids)),
    )
    return [ListedFact(*row) for row in found]


def as_of(connection: apsw.Connection, fact_id: str) -> int | None:
    """Return when a fact was stated (unix ms), or None."""
    found: int | None = scalar(connection, "SELECT as_of FROM facts WHERE id = ?", (fact_id,))
    return found


def fact_count(
    connection: apsw.Connection, *, about: Sequence[str] | None, superseded: bool, present: int
) -> int:
    """Return the number of facts that `facts` lists."""
    arguments = (None if about is None else json_array(about), superseded, present)
    return int(scalar(connection, f"SELECT count(*) {_FROM_WHERE}", arguments))


def entities_of(connection: apsw.Connection, fact_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return fact id -> ids of the entities that it is about, merges not applied."""
    entities_by_fact: dict[str, list[str]] = {}
    for fact, entity in rows(
        connection,
        "SELECT fact_id, entity_id FROM fact_entities "
        "WHERE fact_id IN (SELECT value FROM json_each(?)) ORDER BY fact_id, entity_id",
        (json_array(fact_ids),),
    ):
        entities_by_fact.setdefault(fact, []).append(entity)
    return entities_by_fact


def fact_counts(
    connection: apsw.Connection, canonical_and_merged: Sequence[tuple[str, str]]
) -> dict[str, int]:
    """Return entity id -> number of facts about it.

    `canonical_and_merged`: (entity id, id of an entity merged into it); each entity is also paired
    with itself.
    """
    return dict(
        rows(
            connection,
            "SELECT value ->> 0, count(DISTINCT fact_id) FROM json_each(?) "
            "CROSS JOIN fact_entities ON entity_id = value ->> 1 GROUP BY 1",
            (json_array(canonical_and_merged),),
        )
    )


class SharedFacts(NamedTuple):
    """Two entities, merges not applied, and the number of facts that are about both."""

    a: str
    b: str
    facts: int


def shared_facts(
    connection: apsw.Connection, entity_ids: Sequence[str], others: Sequence[str] | None = None
) -> list[SharedFacts]:
    """Return the entities that share facts with these; `others`: only with these."""
    pair_rows = rows(
        connection,
        """
        SELECT a.entity_id, b.entity_id, count(*)
          FROM json_each(?1) AS ids
         CROSS JOIN fact_entities AS a ON a.entity_id = ids.value
          JOIN fact_entities AS b ON b.fact_id = a.fact_id AND b.entity_id <> a.entity_id
         WHERE ?2 IS NULL OR b.entity_id IN (SELECT value FROM json_each(?2))
         GROUP BY a.entity_id, b.entity_id
        """,
        (json_array(entity_ids), None if others is None else json_array(others)),
    )
    return [SharedFacts(*row) for row in pair_rows]
