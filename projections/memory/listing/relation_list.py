"""Relations between facts for listings: stated relations, supersessions, and slot values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import apsw

from recollect.projections.sqlite import json_array, rows


class StatedRelation(NamedTuple):
    """A stated relation: a fact extends another or derives from it; `confidence` is 0 to 1."""

    fact_id: str
    target_fact_id: str
    relation: str
    confidence: float


_COLUMNS = "fact_id, target_fact_id, relation, confidence"


def stated_relations(connection: apsw.Connection, fact_ids: Sequence[str]) -> list[StatedRelation]:
    """Return the stated relations from these facts, by fact and target.

    EXTENDS relations to a fact that had ended by then are left out, even if its end was learned
    later.
    """
    relation_rows = rows(
        connection,
        f"SELECT {', '.join(f'fact_relations.{column}' for column in _COLUMNS.split(', '))} "
        "FROM fact_relations JOIN facts ON facts.id = fact_relations.fact_id "
        "LEFT JOIN fact_ends AS ended ON ended.fact_id = target_fact_id "
        "WHERE fact_relations.fact_id IN (SELECT value FROM json_each(?)) "
        "AND (relation <> 'EXTENDS' OR invalid_at IS NULL OR invalid_at > facts.as_of) "
        "ORDER BY 1, 2",
        (json_array(fact_ids),),
    )
    return [StatedRelation(*row) for row in relation_rows]


def facts_relating_to(connection: apsw.Connection, fact_id: str) -> list[str]:
    """Return the facts that have a stated relation to this one."""
    found = rows(
        connection,
        "SELECT fact_id FROM fact_relations WHERE target_fact_id = ? ORDER BY 1",
        (fact_id,),
    )
    return [str(fact) for (fact,) in found]


def superseded_pairs(connection: apsw.Connection, fact_ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return a (fact, superseded fact) pair for each given fact that supersedes one."""
    return rows(
        connection,
        "SELECT superseded_by, fact_id FROM fact_ends "
        "WHERE superseded_by IN (SELECT value FROM json_each(?)) ORDER BY 1, 2",
        (json_array(fact_ids),),
    )


class SlotValue(NamedTuple):
    """A fact that states a value of a slot; `as_of` is when it was stated (unix ms)."""

    fact_id: str
    subject: str
    attribute: str
    value: str
    as_of: int
    text: str


_SLOT = (
    "SELECT claim.fact_id, claim.subject, claim.attribute, claim.value, claim.as_of, text "
    "FROM fact_claims AS claim JOIN facts ON facts.id = claim.fact_id "
)


def values_of(connection: apsw.Connection, fact_ids: Sequence[str]) -> list[SlotValue]:
    """Return the slot values that these facts state, by fact."""
    found = rows(
        connection,
        f"{_SLOT} WHERE claim.fact_id IN (SELECT value FROM json_each(?)) ORDER BY 1",
        (json_array(fact_ids),),
    )
    return [SlotValue(*row) for row in found]


def values_before(
    connection: apsw.Connection, subject: str, attribute: str, as_of: int, limit: int
) -> list[SlotValue]:
    """Return up to `limit` values of a slot stated before a time and valid then, latest first."""
    value_rows = rows(
        connection,
        f"{_SLOT} LEFT JOIN fact_ends AS ended ON ended.fact_id = claim.fact_id "
        "WHERE claim.subject = ?1 AND claim.attribute = ?2 AND claim.as_of < ?3 "
        "AND (invalid_at IS NULL OR invalid_at > ?3) "
        "ORDER BY claim.as_of DESC, claim.fact_id DESC LIMIT ?4",
        (subject, attribute, as_of, limit),
    )
    return [SlotValue(*row) for row in value_rows]


def facts_after(
    connection: apsw.Connection, subject: str, attribute: str, as_of: int, limit: int
) -> list[str]:
    """Return up to `limit` facts that state a value of a slot after a time, earliest first."""
    id_rows = rows(
        connection,
        "SELECT fact_id FROM fact_claims WHERE subject = ? AND attribute = ? AND as_of > ? "
        "ORDER BY as_of, fact_id LIMIT ?",
        (subject, attribute, as_of, limit),
    )
    return [str(fact) for (fact,) in id_rows]
