"""Routes over merges: what waits for a decision, what was merged, and taking it back."""

from __future__ import annotations

from typing import Literal

import msgspec
from litestar import get, patch, post
from litestar.params import FromPath, FromQuery, JSONBody

from recollect.schemas.wire import Merge, Receipt
from recollect.service.query_service import AnyRequest
from recollect.service.route_kit import read, write

MergeStatus = Literal["pending", "merged", "rejected", "undone"]


class MergeList(msgspec.Struct, frozen=True):
    """Merges: those that wait for a decision first."""

    merges: list[Merge]


class ProposalBody(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two entities, by their ids, that may be one. `confidence` is 0 to 1."""

    entity_a: str
    entity_b: str
    confidence: float
    reason: str


class DecisionBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a merge becomes: `approved` or `rejected` where it waits, `undone` where it was done."""

    state: Literal["approved", "rejected", "undone"]


@get("/merges", opt={"right": "read"}, summary="List merges", tags=["merges"])
async def merges(
    request: AnyRequest, zone: FromPath[str], status: FromQuery[MergeStatus | None] = None
) -> MergeList:
    """Return what waits for a decision, then what was merged, rejected or undone."""
    found = await read(request, zone, lambda held: held.merges())
    return MergeList([merge for merge in found if status in (None, merge.status)])


@post(
    "/merges", status_code=201, opt={"right": "write"}, summary="Propose a merge", tags=["merges"]
)
async def propose(
    request: AnyRequest, zone: FromPath[str], data: JSONBody[ProposalBody]
) -> Receipt:
    """Say that two entities may be one."""
    return await write(
        request,
        zone,
        lambda held: held.propose_merge(data.entity_a, data.entity_b, data.confidence, data.reason),
    )


@patch("/merges/{id:str}", opt={"right": "write"}, summary="Decide a merge", tags=["merges"])
async def decide(
    request: AnyRequest, zone: FromPath[str], id: FromPath[str], data: JSONBody[DecisionBody]
) -> Merge:
    """Approve or reject a merge that waits, or undo one that was done; return how it stands."""
    if data.state == "undone":
        return await write(request, zone, lambda held: held.undo_merge(id))
    approve = data.state == "approved"
    return await write(request, zone, lambda held: held.decide_merge(id, approve))


ROUTES = (merges, propose, decide)
