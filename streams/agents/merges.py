"""Handles merge commands: propose, decide, undo (A16)."""

from __future__ import annotations

import msgspec

from projections.identity.queries import canonical, merge, merge_candidate
from schemas.changes import Conclusions, Entity, Merge, MergeCandidate
from schemas.events import DecideMerge, Event, ProposeMerge, UndoMerge
from schemas.ids import row_id
from streams.agents.base import Extract, State, Surroundings

# A merge that is wrong costs more than one that waits: only near-certainty acts by itself.
AUTO_MERGE_CONFIDENCE = 0.9


def merge_row(winner: Entity, loser: Entity, *, confidence: float, reason: str, at: int) -> Merge:
    """Return the row that merges `loser` into `winner`."""
    return Merge(
        id=row_id(at, "merge", winner.id, loser.id),
        winner_id=winner.id,
        loser_id=loser.id,
        confidence=confidence,
        reason=reason,
        executed_at=at,
        undone_at=None,
    )


class MergeClerk:
    """Executes a merge above the threshold, keeps one below it for review, undoes either."""

    kinds = frozenset({"propose_merge", "decide_merge", "undo_merge"})

    def extract(self, event: Event, surroundings: Surroundings) -> Extract:
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[Conclusions]:
        payload = event.payload
        now = event.occurred_at
        conclusions = Conclusions((event.number,))
        if isinstance(payload, ProposeMerge):
            candidate = MergeCandidate(
                id=row_id(now, "merge_candidate", payload.entity_a, payload.entity_b),
                entity_a_id=payload.entity_a,
                entity_b_id=payload.entity_b,
                confidence=payload.confidence,
                reason=payload.reason,
                status="pending",
                created_at=now,
            )
            if payload.confidence >= AUTO_MERGE_CONFIDENCE:
                candidate = self._merged(candidate, state, now, conclusions)
            conclusions.puts.append(candidate)
        elif isinstance(payload, DecideMerge):
            held = merge_candidate(state.identity, payload.candidate_id)
            if held is not None and held.status == "pending":
                if payload.approve:
                    held = self._merged(held, state, now, conclusions)
                else:
                    held = msgspec.structs.replace(held, status="rejected")
                conclusions.puts.append(held)
        elif isinstance(payload, UndoMerge):
            executed = merge(state.identity, payload.merge_id)
            if executed is not None and executed.undone_at is None:
                conclusions.puts.append(msgspec.structs.replace(executed, undone_at=now))
        return [conclusions]

    def _merged(
        self, candidate: MergeCandidate, state: State, now: int, conclusions: Conclusions
    ) -> MergeCandidate:
        winner = canonical(state.identity, candidate.entity_a_id)
        loser = canonical(state.identity, candidate.entity_b_id)
        if winner is None or loser is None or winner.id == loser.id:
            return candidate
        conclusions.puts.append(
            merge_row(
                winner, loser, confidence=candidate.confidence, reason=candidate.reason, at=now
            )
        )
        return msgspec.structs.replace(candidate, status="executed")
