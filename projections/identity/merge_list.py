"""Listing of merges: pending candidates, and merges that were executed, rejected or undone."""

from __future__ import annotations

from typing import Literal, NamedTuple

import apsw

from recollect.projections.identity.entities_for_recall import canonical_ids
from recollect.projections.sqlite import json_array, rows, scalar
from recollect.schemas.ids import first_ulid

MergeStatus = Literal["pending", "merged", "rejected", "undone"]
MergeOf = Literal["entities", "facts"]


class ListedMerge(NamedTuple):
    """A proposed or executed merge of two entities, or a merge of two facts.

    `id`: the candidate's id, or the merge's if there was no candidate. `a`, `b`: the names of the
    entities, or the texts of the facts. `merge_id`: id of the executed merge, or None. `at`: unix
    ms. `a_type`, `b_type`: the types of the entities; None for facts.
    """

    id: str
    a_id: str
    a: str
    b_id: str
    b: str
    confidence: float
    reason: str
    status: MergeStatus
    at: int
    merge_id: str | None
    a_type: str | None = None
    b_type: str | None = None
    of: MergeOf = "entities"


class _Selected(NamedTuple):
    """The candidates and the executed merges to list, as JSON arrays of ids; None: all."""

    candidates: str | None = None
    executed: str | None = None


class _Executed(NamedTuple):
    id: str
    winner_id: str
    winner: str
    winner_type: str
    loser_id: str
    loser: str
    loser_type: str
    confidence: float
    reason: str
    executed_at: int
    undone_at: int | None

    @property
    def status(self) -> MergeStatus:
        return "merged" if self.undone_at is None else "undone"


def merges(connection: apsw.Connection) -> list[ListedMerge]:
    """Return the pending candidates, then the other merges; both are newest first."""
    return _listed(connection, _Selected())


def merge_by_id(connection: apsw.Connection, id_: str) -> ListedMerge | None:
    """Return a merge by the id of its candidate or its own; reads only what was decided with it."""
    at = scalar(
        connection,
        "SELECT decided_at FROM merge_decisions WHERE candidate_id = ?1 AND status = 'executed' "
        "UNION ALL SELECT executed_at FROM merges WHERE id = ?1",
        (id_,),
    )
    selected = _Selected(json_array([id_]), "[]") if at is None else _decided_at(connection, at)
    found = _listed(connection, selected)
    return next((merge for merge in found if id_ in (merge.id, merge.merge_id)), None)


def _decided_at(connection: apsw.Connection, at: int) -> _Selected:
    """Select the candidates decided and the merges executed at a time (unix ms)."""
    candidates = rows(
        connection, "SELECT candidate_id FROM merge_decisions WHERE decided_at = ?", (at,)
    )
    executed = rows(
        connection,
        "SELECT id FROM merges WHERE id >= ? AND id < ?",
        (first_ulid(at), first_ulid(at + 1)),
    )
    return _Selected(
        json_array([id_ for (id_,) in candidates]), json_array([id_ for (id_,) in executed])
    )


def _listed(connection: apsw.Connection, selected: _Selected) -> list[ListedMerge]:
    executed = [
        _Executed(*row)
        for row in rows(
            connection,
            "SELECT merges.id, winner_id, winner.name, winner.type, loser_id, loser.name, "
            "loser.type, confidence, reason, executed_at, undone_at FROM merges "
            "JOIN entities AS winner ON winner.id = winner_id "
            "JOIN entities AS loser ON loser.id = loser_id "
            f"{_only('merges.id', selected.executed)} ORDER BY merges.id",
            _argument(selected.executed),
        )
    ]
    candidates, proposed = _candidates(connection, executed, selected.candidates)
    candidates += [
        ListedMerge(
            merge.id,
            merge.winner_id,
            merge.winner,
            merge.loser_id,
            merge.loser,
            merge.confidence,
            merge.reason,
            merge.status,
            merge.executed_at,
            merge.id,
            merge.winner_type,
            merge.loser_type,
        )
        for merge in executed
        if merge.id not in proposed
    ]
    return sorted(candidates, key=lambda item: (item.status != "pending", -item.at, item.id))


def _only(column: str, ids: str | None) -> str:
    return "" if ids is None else f"WHERE {column} IN (SELECT value FROM json_each(?))"


def _argument(ids: str | None) -> tuple[str, ...]:
    return () if ids is None else (ids,)


def _candidates(
    connection: apsw.Connection, executed: list[_Executed], ids: str | None
) -> tuple[list[ListedMerge], set[str]]:
    """Return the candidates with these ids, and the ids of the merges that resulted from them."""
    by_decision: dict[tuple[int, float], list[_Executed]] = {}
    for merge in executed:
        by_decision.setdefault((merge.executed_at, merge.confidence), []).append(merge)
    listed = []
    proposed: set[str] = set()
    candidates = rows(
        connection,
        "SELECT candidate.id, a.id, a.name, b.id, b.name, confidence, reason, candidate.status, "
        "candidate.created_at, decided_at, a.type, b.type FROM merge_candidates AS candidate "
        "JOIN entities AS a ON a.id = entity_a_id JOIN entities AS b ON b.id = entity_b_id "
        "LEFT JOIN merge_decisions ON candidate_id = candidate.id "
        f"{_only('candidate.id', ids)} ORDER BY candidate.id",
        _argument(ids),
    )
    undecided = {id_ for row in candidates if row[7] == "pending" for id_ in row[1:4:2]}
    unmerged = canonical_ids(connection, sorted(undecided))
    for row in candidates:
        id_, a_id, a, b_id, b, confidence, reason, status, created_at, decided_at, *types = row
        is_executed = status == "executed"
        possible = by_decision.get((decided_at, confidence), []) if is_executed else []
        result = _resulting_merge(a_id, b_id, possible, proposed)
        if result is not None:
            proposed.add(result.id)
        listed.append(
            ListedMerge(
                id_,
                a_id,
                a,
                b_id,
                b,
                confidence,
                reason,
                _status(status, result, is_one=unmerged.get(a_id) == unmerged.get(b_id)),
                created_at,
                None if result is None else result.id,
                *types,
            )
        )
    return listed, proposed


def _resulting_merge(
    a_id: str, b_id: str, executed: list[_Executed], taken: set[str]
) -> _Executed | None:
    """Return the merge that was executed when a candidate was approved, or None.

    `executed`: the merges with the candidate's confidence at that time. `taken`: ids of the merges
    that resulted from other candidates. An entity of the candidate may have been merged into
    another before; the merge then has that other entity.
    """
    free = [merge for merge in executed if merge.id not in taken]
    return max(
        free,
        key=lambda merge: (merge.winner_id == a_id) + (merge.loser_id == b_id),
        default=None,
    )


def _status(status: str, merge: _Executed | None, *, is_one: bool) -> MergeStatus:
    """Return the status of a candidate; `is_one`: other merges made one entity of both."""
    if merge is not None:
        return merge.status
    if status == "rejected":
        return "rejected"
    if status == "executed":
        return "merged"
    return "merged" if is_one else "pending"
