"""Routes that say how a zone stands, and keep it in order."""

from __future__ import annotations

from litestar import get
from litestar.params import FromPath

from recollect.service.query_service import AnyRequest
from recollect.service.route_kit import read
from schemas.wire import Status


@get("/status", opt={"right": "read"}, summary="Status", tags=["upkeep"])
async def status(request: AnyRequest, zone: FromPath[str]) -> Status:
    """Return what a zone holds, and how far it is."""
    return await read(request, zone, lambda held: held.status())


ROUTES = (status,)
