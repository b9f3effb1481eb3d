"""The agent that handles merge commands: propose, decide, undo."""

from __future__ import annotations

from recollect.schemas.changes import (
    AnyRow,
    DecidedPart,
    Merge,
    MergeByCommand,
    MergeCandidate,
    MergeDecision,
    MergeUndo,
)
from recollect.schemas.events import DecideMerge, Event, ProposeMerge, UndoMerge
from recollect.schemas.ids import merge_candidate_id, row_id
from recollect.streams.agents.agent import Agent, Conversation, Extract
from recollect.streams.agents.consolidation.merged_slots import (
    ALWAYS_COMPARED,
    merged_supersessions,
)
from recollect.streams.agents.state import State, end_of_merges

# A wrong merge does more harm than a pending one, so only near-certain merges are executed at once.
AUTO_MERGE_CONFIDENCE = 0.9


def merge_row(winner: str, loser: str, *, confidence: float, reason: str, at: int) -> Merge:
    """Return the row that merges `loser` into `winner`."""
    return Merge(
        id=row_id(at, "merge", winner, loser),
        winner_id=winner,
        loser_id=loser,
        confidence=confidence,
        reason=reason,
        executed_at=at,
    )


class MergeHandler(Agent):
    """Executes, proposes and undoes merges.

    A proposed merge is executed at once if its confidence is `AUTO_MERGE_CONFIDENCE` or more, or
    else left pending review. The rows hold ids and the words of the command, never the words of
    another event.
    """

    kinds = frozenset({"propose_merge", "decide_merge", "undo_merge"})

    def extract(self, event: Event, conversation: Conversation) -> Extract:
        return Extract()

    def resolve(self, event: Event, extract: Extract, state: State) -> list[DecidedPart]:
        payload = event.payload
        part = DecidedPart((event.number,))
        if isinstance(payload, ProposeMerge):
            self._propose(event, payload, state, part)
        elif isinstance(payload, DecideMerge):
            pending = state.pending_candidate(payload.candidate_id)
            if pending is not None and not payload.approve:
                part.puts.append(MergeDecision(payload.candidate_id, "rejected", event.occurred_at))
            elif pending is not None:
                reason = "approved by review"
                self._execute(payload.candidate_id, *pending, reason, event, state, part)
        elif isinstance(payload, UndoMerge) and state.is_merge_active(payload.merge_id):
            part.puts.append(MergeUndo(payload.merge_id, event.occurred_at))
            part.puts += _slot_rows(state, undone=payload.merge_id)
        return [part]

    def _propose(
        self, event: Event, payload: ProposeMerge, state: State, part: DecidedPart
    ) -> None:
        candidate = MergeCandidate(
            id=merge_candidate_id(event.occurred_at, payload.entity_a, payload.entity_b),
            entity_a_id=payload.entity_a,
            entity_b_id=payload.entity_b,
            confidence=payload.confidence,
            reason=payload.reason,
            created_at=event.occurred_at,
        )
        part.puts.append(candidate)
        if payload.confidence >= AUTO_MERGE_CONFIDENCE:
            self._execute(
                candidate.id,
                payload.entity_a,
                payload.entity_b,
                payload.confidence,
                payload.reason,
                event,
                state,
                part,
            )

    def _execute(
        self,
        candidate_id: str,
        entity_a: str,
        entity_b: str,
        confidence: float,
        reason: str,
        event: Event,
        state: State,
        part: DecidedPart,
    ) -> None:
        """Merge the canonical entity of b into a's, unless they are the same."""
        winner, loser = state.canonical(entity_a), state.canonical(entity_b)
        if winner is None or loser is None:
            return
        at = event.occurred_at
        if winner.id != loser.id:
            merge = merge_row(winner.id, loser.id, confidence=confidence, reason=reason, at=at)
            part.puts += [merge, MergeByCommand(merge.id)]
            part.puts += _slot_rows(state, executed=merge)
        part.puts.append(MergeDecision(candidate_id, "executed", at))


def _slot_rows(
    state: State, *, executed: Merge | None = None, undone: str | None = None
) -> list[AnyRow]:
    """Return the slot rows that change when merge `executed` is executed or `undone` is undone.

    Only slots that both persons have filled can change.
    """
    pair = None
    if executed is not None:
        pair = executed.winner_id, executed.loser_id
    elif undone is not None:
        pair = state.merged_pair(undone)
    if pair is None:
        return []

    def winner_of(entity_id: str) -> str | None:
        if executed is not None and entity_id == executed.loser_id:
            return executed.winner_id
        return next((merge.winner_id for merge in state.merges_of(entity_id, undone)), None)

    def own_winner_of(entity_id: str) -> str | None:
        merges = state.merges_of(entity_id, undone)
        return next((merge.winner_id for merge in merges if not merge.by_command), None)

    def own_id(entity_id: str) -> str:
        return end_of_merges(entity_id, own_winner_of) or entity_id

    persons: dict[str, list[str]] = {}
    for entity_id in sorted(set().union(*(state.group_of(member) for member in pair))):
        persons.setdefault(end_of_merges(entity_id, winner_of) or entity_id, []).append(entity_id)
    attributes = {*ALWAYS_COMPARED}
    for ids in persons.values():
        attributes.update(attribute for id_ in ids for attribute in state.merged_attributes(id_))
    return [
        *merged_supersessions(
            persons.values(),
            attributes,
            own_id,
            state.claims,
            state.repeat_times,
            state.author,
            state,
            {},
        )
    ]
