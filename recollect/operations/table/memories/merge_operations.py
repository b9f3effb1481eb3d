"""Operations on merges: two entities that are, or may be, the same."""

from __future__ import annotations

from typing import Annotated

from recollect.home.open_zone import OpenZone
from recollect.operations.memories import merging
from recollect.operations.table.operation import operation
from recollect.operations.table.parameters import PAGE, Cursor, EntityId, Limit, described
from recollect.schemas.wire import Merge, MergeDecision, MergePage, MergeReceipt, MergeStatus

MergeId = Annotated[str, described(description="Id of a merge, or of its proposal.")]

_AT = "2026-05-08T13:56:00.000Z"
_ADA, _ADA_L = "0000000000TM58XV8YZVBG9TN4", "0000000000EQRKW619BJ1ZNSF7"
_MERGE = {
    "id": "01KR3XZBC0Q5Z0S2M3Y8C1K7AB",
    "a": "Ada",
    "b": "Ada L.",
    "confidence": 0.6,
    "reasons": ["the same first name in one thread"],
    "status": "pending",
    "a_id": _ADA,
    "b_id": _ADA_L,
    "a_handles": [],
    "b_handles": [],
    "at": _AT,
    "merge_id": None,
}


@operation(
    "GET /merges",
    right="read",
    title="List merges",
    tag="merges",
    example=(None, {"merges": [_MERGE], "cursor": None}),
)
def merges(
    zone: OpenZone,
    *,
    status: Annotated[
        MergeStatus | None, described(description="Only merges with this status.")
    ] = None,
    entity: Annotated[
        str | None,
        described(description="Only merges of this person or thing: a name or an id."),
    ] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> MergePage:
    """Return pending merges first, then those merged, rejected or undone.

    Raises:
        InvalidInput: no entity has the name.

    >>> zone.merges()[0].reasons
    ['the name that the handle gave']
    """
    return merging.merge_page(zone, status=status, entity=entity, cursor=cursor, limit=limit)


@operation(
    "GET /merges/{id}",
    right="read",
    title="Get a merge",
    tag="merges",
    example=(None, _MERGE),
)
def get_merge(zone: OpenZone, id: MergeId) -> Merge:
    """Return one merge, whatever its status.

    Raises:
        UnknownId: there is no merge with this id.

    >>> zone.get_merge(zone.merges()[0].id).status
    'merged'
    """
    return merging.get_merge(zone, id)


@operation(
    "POST /merges",
    right="write",
    status=201,
    title="Propose a merge",
    tag="merges",
    example=(
        {"entity_a": _ADA, "entity_b": _ADA_L, "confidence": 0.6, "reason": "she said so"},
        {
            "status": "new",
            "number": 2,
            "event_id": "01KR3XZBC0BAQNHSCT9EJ4NDPT",
            "clamped": False,
            "id": _MERGE["id"],
        },
    ),
)
def propose_merge(
    zone: OpenZone,
    entity_a: EntityId,
    entity_b: EntityId,
    confidence: Annotated[
        float,
        described(
            minimum=0, maximum=1, description="Confidence that the two are the same, from 0 to 1."
        ),
    ],
    reason: Annotated[str, described(description="Why they are thought to be the same entity.")],
) -> MergeReceipt:
    """Propose to merge two entities, given by their ids.

    With a confidence of 0.9 or more the merge is executed at once; otherwise it waits for review.

    Raises:
        UnknownId: there is no entity with one of the ids.
        InvalidInput: both ids are the same, or `confidence` is out of range.

    >>> found = zone.recall("Ada Bob", scope="entities", max_results=2)
    >>> a, b = (result.id for result in found.results)
    >>> proposed = zone.propose_merge(a, b, 0.5, "both are new here")
    >>> zone.get_merge(proposed.id).status
    'pending'
    """
    return merging.propose_merge(zone, entity_a, entity_b, confidence, reason)


@operation(
    "PATCH /merges/{id}",
    right="write",
    title="Decide a merge",
    tag="merges",
    example=({"status": "merged"}, {**_MERGE, "status": "merged", "merge_id": _MERGE["id"]}),
)
def decide_merge(
    zone: OpenZone,
    id: MergeId,
    status: Annotated[
        MergeDecision,
        described(description="merged or rejected for a pending merge; undone for a merged one."),
    ],
) -> Merge:
    """Accept or reject a pending merge, or undo an accepted one; return its new state.

    Raises:
        UnknownId: there is no merge with this id.
        InvalidInput: its status does not allow this.

    >>> found = zone.recall("Ada Bob", scope="entities", max_results=2)
    >>> a, b = (result.id for result in found.results)
    >>> proposed = zone.propose_merge(a, b, 0.5, "both are new here")
    >>> zone.decide_merge(proposed.id, "rejected").status
    'rejected'
    >>> zone.decide_merge(zone.merges(status="merged")[0].id, "undone").status
    'undone'
    """
    return merging.decide_merge(zone, id, status)


class MergeOperations:
    """Merges of a zone."""

    merges = merges
    get_merge = get_merge
    propose_merge = propose_merge
    decide_merge = decide_merge
