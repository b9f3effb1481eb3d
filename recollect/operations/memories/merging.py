"""Merges (A16): proposing that two entities are one, deciding it, and undoing it."""

from __future__ import annotations

from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion.ingesting import command
from recollect.operations.memories.listing import merges
from recollect.schemas.errors import InvalidInput, UnknownId
from recollect.schemas.events import DecideMerge, ProposeMerge, UndoMerge
from recollect.schemas.wire import Merge, Receipt
from recollect.streams.publishing.commands import drawn_id


def propose_merge(
    zone: OpenZone, entity_a: str, entity_b: str, confidence: float, reason: str
) -> Receipt:
    """Propose that two entities are one, by their ids. `confidence` is 0 to 1."""
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


def decide_merge(zone: OpenZone, id_: str, *, approve: bool) -> Merge:
    """Approve or reject a merge that waits for a decision; return its new state.

    Raises:
        InvalidInput: there is none with this id, or it waits for none.
    """
    merge = _found(zone, id_, "pending", "approved or rejected")
    source = drawn_id(f"decide-merge:{merge.id}")
    command(zone, DecideMerge(source_id=source, candidate_id=merge.id, approve=approve))
    return _named(zone, merge.id) or merge


def undo_merge(zone: OpenZone, id_: str) -> Merge:
    """Undo a merge, by its id or that of its proposal; return its new state.

    Raises:
        InvalidInput: there is none with this id, or it was not carried out.
    """
    merge = _found(zone, id_, "merged", "undone")
    if merge.merge_id is None:
        raise InvalidInput(
            f"merge {id_} was never carried out: {merge.a} and {merge.b} are one through others; "
            "undo those"
        )
    source = drawn_id(f"undo-merge:{merge.merge_id}")
    command(zone, UndoMerge(source_id=source, merge_id=merge.merge_id))
    return _named(zone, merge.id) or merge


def _found(zone: OpenZone, id_: str, status: str, verb: str) -> Merge:
    merge = _named(zone, id_)
    if merge is None:
        raise UnknownId(f"zone {zone.name} has no merge {id_!r}; recollect merges lists their ids")
    if merge.status != status:
        raise InvalidInput(f"merge {id_} is {merge.status}; what is {status} can be {verb}")
    return merge


def _named(zone: OpenZone, id_: str) -> Merge | None:
    return next((merge for merge in merges(zone) if id_ in (merge.id, merge.merge_id)), None)
