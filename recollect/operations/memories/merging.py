"""Merges of entities: proposing, deciding and undoing them."""

from __future__ import annotations

import msgspec

from recollect.home.open_zone import OpenZone
from recollect.operations.ingestion.ingesting import command
from recollect.operations.memories.listing import (
    merge_by_id,
    merges,
    resolve_entities,
    to_merges,
    unmerged_entity,
)
from recollect.operations.memories.page_cursors import after_cursor, check_limit
from recollect.projections.identity import entity_list
from recollect.schemas.errors import InvalidInput, UnknownId
from recollect.schemas.events import DecideMerge, ProposeMerge, UndoMerge
from recollect.schemas.ids import merge_candidate_id, time_of
from recollect.schemas.wire import Merge, MergeDecision, MergePage, MergeReceipt, MergeStatus
from recollect.streams.publishing.commands import random_id


def propose_merge(
    zone: OpenZone, entity_a: str, entity_b: str, confidence: float, reason: str
) -> MergeReceipt:
    """Propose to merge two entities, given by their ids. `confidence` is 0 to 1.

    Raises:
        UnknownId: there is no entity with one of the ids.
        InvalidInput: both ids are the same, or `confidence` is out of range.
    """
    if not 0 <= confidence <= 1:
        raise InvalidInput(f"confidence {confidence}: give 0 to 1")
    if entity_a == entity_b:
        raise InvalidInput("entity_a and entity_b are the same; give the ids of two entities")
    for id_ in (entity_a, entity_b):
        unmerged_entity(zone, id_)
    receipt = command(
        zone,
        ProposeMerge(
            source_id=random_id(f"merge:{entity_a}:{entity_b}"),
            entity_a=entity_a,
            entity_b=entity_b,
            confidence=confidence,
            reason=reason,
        ),
    )
    id_ = merge_candidate_id(time_of(receipt.event_id), entity_a, entity_b)
    return MergeReceipt(**msgspec.structs.asdict(receipt), id=id_)


def merge_page(
    zone: OpenZone,
    *,
    status: MergeStatus | None,
    entity: str | None,
    cursor: str | None,
    limit: int,
) -> MergePage:
    """Return a page of merges, pending ones first; a cursor is the id of a page's last merge.

    `entity`: only merges of this entity, or of one that is merged into it.

    Raises:
        InvalidInput: no merge has the cursor's id, no entity has the name, or the limit is invalid.
    """
    check_limit(limit)
    if not zone.exists():
        return MergePage(merges=[])
    with zone.files() as files, files.read_transaction():
        listed = [merge for merge in merges(files) if status in (None, merge.status)]
        if entity is not None:
            ids = resolve_entities(files, entity)
            merged = entity_list.merged_entities(files.identity.connection, ids)
            involved = {*ids, *(id_ for _, id_, _ in merged)}
            listed = [merge for merge in listed if involved & {merge.a_id, merge.b_id}]
        page, more = after_cursor(listed, cursor, limit)
        return MergePage(merges=to_merges(files, page), cursor=more)


def get_merge(zone: OpenZone, id_: str) -> Merge:
    """Return a merge, by its own id or that of its proposal.

    Raises:
        UnknownId: there is no merge with this id.
    """
    found = _by_id(zone, id_)
    if found is None:
        raise UnknownId(
            f"zone {zone.name} has no merge {id_!r}; run recollect merges to see the ids"
        )
    return found


def decide_merge(zone: OpenZone, id_: str, status: MergeDecision) -> Merge:
    """Merge or reject a pending merge, or undo a completed one; return it with its new status.

    Raises:
        UnknownId: there is no merge with this id.
        InvalidInput: its status does not allow this.
    """
    if status == "undone":
        return _undo(zone, _find(zone, id_, "merged", "undone"), id_)
    merge = _find(zone, id_, "pending", "merged or rejected")
    source = random_id(f"decide-merge:{merge.id}")
    approve = status == "merged"
    command(zone, DecideMerge(source_id=source, candidate_id=merge.id, approve=approve))
    return _by_id(zone, merge.id) or merge


def _undo(zone: OpenZone, merge: Merge, id_: str) -> Merge:
    if merge.merge_id is None:
        raise InvalidInput(
            f"merge {id_} was never executed: {merge.a} and {merge.b} are one entity through other "
            "merges; undo those"
        )
    source = random_id(f"undo-merge:{merge.merge_id}")
    command(zone, UndoMerge(source_id=source, merge_id=merge.merge_id))
    return _by_id(zone, merge.id) or merge


def _find(zone: OpenZone, id_: str, status: str, action: str) -> Merge:
    """Return the merge with an id; raise if it does not exist or has another status."""
    found = get_merge(zone, id_)
    if found.status != status:
        raise InvalidInput(f"merge {id_} is {found.status}; only a {status} one can be {action}")
    return found


def _by_id(zone: OpenZone, id_: str) -> Merge | None:
    if not zone.exists():
        return None
    with zone.files() as files, files.read_transaction():
        found = merge_by_id(files, id_)
        return None if found is None else to_merges(files, [found])[0]
