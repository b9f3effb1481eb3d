"""Queries of memory.db about dreams, and the topics that they may link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.changes import Dream

_DREAM = ", ".join(Dream.__struct_fields__)


def recent_dreams(connection: apsw.Connection, limit: int) -> list[Dream]:
    """Return the last dreams, in order of the ledger."""
    found = rows(
        connection, f"SELECT {_DREAM} FROM dreams ORDER BY number DESC, id DESC LIMIT ?", (limit,)
    )
    return [Dream(*row) for row in reversed(found)]


def dreams_before(connection: apsw.Connection, number: int, id_: str, limit: int) -> list[Dream]:
    """Return up to `limit` dreams before the dream (record, id), latest first."""
    found = rows(
        connection,
        f"SELECT {_DREAM} FROM dreams WHERE (number, id) < (?, ?) "
        "ORDER BY number DESC, id DESC LIMIT ?",
        (number, id_, limit),
    )
    return [Dream(*row) for row in found]


def facts_of_dreams(connection: apsw.Connection, ids: Sequence[str]) -> dict[str, list[str]]:
    """Return dream -> the facts that it rests on, by id."""
    facts_by_dream: dict[str, list[str]] = {}
    for dream, fact in rows(
        connection,
        "SELECT dream_id, fact_id FROM json_each(?) AS ids "
        "CROSS JOIN dream_facts ON dream_id = ids.value ORDER BY dream_id, fact_id",
        (json_array(ids),),
    ):
        facts_by_dream.setdefault(dream, []).append(fact)
    return facts_by_dream


def dreams_of_record(connection: apsw.Connection, number: int) -> int:
    """Return how many dreams a ledger record wrote."""
    found = rows(connection, "SELECT count(*) FROM dreams WHERE number = ?", (number,))
    return int(found[0][0])


def last_dream_tick(connection: apsw.Connection) -> int | None:
    """Return the record of the last tick of the dream pass, or None."""
    found: int | None = scalar(
        connection, "SELECT max(number) FROM pass_ticks WHERE name = 'dreams'"
    )
    return found


def is_dream_due(connection: apsw.Connection) -> bool:
    """Return whether no model has answered since the last tick of the dream pass."""
    found = scalar(
        connection,
        "SELECT ifnull(max(number) FILTER (WHERE name = 'dreams'), 0) "
        "> ifnull(max(number) FILTER (WHERE name = 'dreams_answered'), 0) FROM pass_ticks",
    )
    return bool(found)


class Topic(NamedTuple):
    """A topic of an entity: a cluster of facts."""

    cluster_id: str
    name: str
    topic: str


def topics(connection: apsw.Connection, min_facts: int) -> list[Topic]:
    """Return the topics with enough facts, in order of ids."""
    found = rows(
        connection,
        "SELECT cluster_id, max(name), max(topic) FROM cluster_facts WHERE kind = 'topic' "
        "GROUP BY cluster_id HAVING count(*) >= ? ORDER BY cluster_id",
        (min_facts,),
    )
    return [Topic(*row) for row in found]


class TopicFact(NamedTuple):
    """A current fact of a topic; `sources`: the numbers of its events, as JSON."""

    id: str
    text: str
    as_of: int
    sources: str


def facts_of_topic(connection: apsw.Connection, cluster_id: str, limit: int) -> list[TopicFact]:
    """Return the newest current facts of a topic."""
    fact_rows = rows(
        connection,
        """
        SELECT facts.id, facts.text, facts.as_of, units.sources
          FROM cluster_facts AS member
         CROSS JOIN facts ON facts.id = member.fact_id
         CROSS JOIN fact_units AS units ON units.fact_id = facts.id
         WHERE member.cluster_id = ?
           AND NOT EXISTS (SELECT 1 FROM fact_ends WHERE fact_ends.fact_id = facts.id)
         ORDER BY facts.as_of DESC, facts.id DESC LIMIT ?
        """,
        (cluster_id, limit),
    )
    return [TopicFact(*row) for row in reversed(fact_rows)]
