"""Merges (A16): saying that two entities may be one, deciding that, and taking it back."""

from __future__ import annotations

from recollect.ingesting import command
from recollect.open_zone import OpenZone
from schemas.errors import InvalidInput
from schemas.events import DecideMerge, ProposeMerge, UndoMerge
from schemas.wire import Receipt
from streams.publishing.commands import drawn_id


def propose_merge(
    zone: OpenZone, entity_a: str, entity_b: str, confidence: float, reason: str
) -> Receipt:
    """Say that two entities may be one, by their ids. `confidence` is 0 to 1."""
    if not 0 <= confidence <= 1:
        raise InvalidInput(f"confidence {confidence}: give 0 to 1")
    return command(
        zone,
        ProposeMerge(
            source_id=drawn_id(f"merge:{entity_a}:{entity_b}"),
            entity_a=entity_a,
            entity_b=entity_b,
            confidence=confidence,
            reason=reason,
        ),
    )


def decide_merge(zone: OpenZone, candidate_id: str, *, approve: bool) -> Receipt:
    """Approve or reject a merge that waits for a decision."""
    return command(
        zone,
        DecideMerge(
            source_id=drawn_id(f"decide-merge:{candidate_id}"),
            candidate_id=candidate_id,
            approve=approve,
        ),
    )


def undo_merge(zone: OpenZone, merge_id: str) -> Receipt:
    """Take a merge back that was carried out."""
    source = drawn_id(f"undo-merge:{merge_id}")
    return command(zone, UndoMerge(source_id=source, merge_id=merge_id))
