"""Routes that ask what a zone remembers."""

from __future__ import annotations

from litestar import get, post
from litestar.params import FromPath, JSONBody

from recollect.service.query_service import AnyRequest
from recollect.service.route_kit import read
from schemas.wire import Chain, Query, RecallAnswer


@post(
    "/memories/recall",
    status_code=200,
    opt={"right": "read"},
    summary="Recall",
    tags=["memories"],
)
async def recall(request: AnyRequest, zone: FromPath[str], data: JSONBody[Query]) -> RecallAnswer:
    """Answer a question with what is remembered, best first, each with its sources."""
    return await read(request, zone, lambda held: held.recall(data))


@get("/memories/{id:str}/why", opt={"right": "read"}, summary="Why", tags=["memories"])
async def why(request: AnyRequest, zone: FromPath[str], id: FromPath[str]) -> Chain:
    """Return the way from a memory of any kind down to the events that it rests on."""
    return await read(request, zone, lambda held: held.why(id))


ROUTES = (recall, why)
