"""What recall asks of memory.db."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from projections.sqlite import rows


def fact_sources(connection: apsw.Connection) -> list[tuple[str, str]]:
    """Return (fact id, source event id) of every fact, oldest row first."""
    return rows(connection, "SELECT id, source_event_id FROM facts ORDER BY rowid")


def facts_of_events(connection: apsw.Connection, event_ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return (fact id, source event id) of the facts that these events gave."""
    return rows(
        connection,
        f"SELECT id, source_event_id FROM facts WHERE source_event_id IN ({_marks(event_ids)})",
        tuple(event_ids),
    )


def facts_matching(
    connection: apsw.Connection, match: str, limit: int
) -> list[tuple[str, str, float]]:
    """Return (fact id, source event id, BM25) of facts by an FTS5 query, best first."""
    return [
        (str(row[0]), str(row[1]), -float(row[2]))
        for row in connection.execute(
            "SELECT facts.id, facts.source_event_id, found.score FROM ("
            "    SELECT rowid, bm25(facts_fts) AS score FROM facts_fts WHERE facts_fts MATCH ?"
            "     ORDER BY score LIMIT ?"
            ") AS found JOIN facts ON facts.rowid = found.rowid ORDER BY found.score",
            (match, limit),
        )
    ]


def effects_and_causes(
    connection: apsw.Connection, fact_ids: Sequence[str]
) -> list[tuple[str, str, float]]:
    """Return (fact, linked fact, strength) for causal links from or to these facts."""
    marks = _marks(fact_ids)
    return rows(
        connection,
        f"SELECT from_fact_id, to_fact_id, strength FROM causal_links "
        f"WHERE from_fact_id IN ({marks}) "
        "UNION ALL SELECT to_fact_id, from_fact_id, strength FROM causal_links "
        f"WHERE to_fact_id IN ({marks})",
        (*fact_ids, *fact_ids),
    )


def facts(connection: apsw.Connection, fact_ids: Sequence[str]) -> dict[str, tuple[str, int, str]]:
    """Return fact id -> (text, as_of, source event id)."""
    return {
        str(row[0]): (str(row[1]), int(row[2]), str(row[3]))
        for row in connection.execute(
            f"SELECT id, text, as_of, source_event_id FROM facts WHERE id IN ({_marks(fact_ids)})",
            tuple(fact_ids),
        )
    }


def superseded(connection: apsw.Connection, fact_ids: Sequence[str]) -> set[str]:
    """Return those facts whose place a newer one has taken."""
    return {
        str(row[0])
        for row in connection.execute(
            "SELECT DISTINCT fact_id FROM fact_supersessions "
            f"WHERE fact_id IN ({_marks(fact_ids)})",
            tuple(fact_ids),
        )
    }


def repeating_events(connection: apsw.Connection, fact_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return fact id -> events that said the same again, in order."""
    found: dict[str, list[str]] = {}
    for fact, event in connection.execute(
        f"SELECT fact_id, event_id FROM fact_repeats WHERE fact_id IN ({_marks(fact_ids)}) "
        "ORDER BY event_id",
        tuple(fact_ids),
    ):
        events = found.setdefault(str(fact), [])
        if event not in events:
            events.append(str(event))
    return found


def entities_of_facts(connection: apsw.Connection, fact_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return fact id -> ids of the entities it is about, as they were linked."""
    found: dict[str, list[str]] = {}
    for fact, entity in connection.execute(
        "SELECT fact_id, entity_id FROM fact_entities "
        f"WHERE fact_id IN ({_marks(fact_ids)}) ORDER BY fact_id, entity_id",
        tuple(fact_ids),
    ):
        found.setdefault(str(fact), []).append(str(entity))
    return found


def mental_models(connection: apsw.Connection) -> list[tuple[str, str, str, int, bool]]:
    """Return (id, name, description, updated_at, is_stale) of the newest versions."""
    return [
        (str(row[0]), str(row[1]), str(row[2]), int(row[3]), bool(row[4]))
        for row in connection.execute(
            "SELECT id, name, description, updated_at, is_stale FROM mental_models AS model "
            "WHERE NOT EXISTS (SELECT 1 FROM mental_models WHERE parent_id = model.id) ORDER BY id"
        )
    ]


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
