"""Routes over facts, and over those whom and what they are about."""

from __future__ import annotations

import msgspec
from litestar import get, post
from litestar.params import FromPath, FromQuery, JSONBody

from recollect.schemas.wire import Comparison, Entity, EntityPage, Fact
from recollect.service.problem_details import INVALID, FieldError, Refused
from recollect.service.query_service import AnyRequest
from recollect.service.route_kit import read

_MAX_LIMIT = 1_000


class FactPage(msgspec.Struct, frozen=True, kw_only=True):
    """Some facts, the newest first; `cursor` gives those that follow, if any do."""

    facts: list[Fact]
    cursor: str | None = None


class PairBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two entities, each by its name or its id."""

    a: str
    b: str


@get("/facts", opt={"right": "read"}, summary="List facts", tags=["facts and entities"])
async def facts(
    request: AnyRequest,
    zone: FromPath[str],
    entity: FromQuery[str | None] = None,
    superseded: FromQuery[bool] = False,
    cursor: FromQuery[str | None] = None,
    limit: FromQuery[int] = 50,
) -> FactPage:
    """Return facts, the newest first; `superseded`: also those that a newer one has replaced."""
    _check_limit(limit)
    found = await read(
        request,
        zone,
        lambda held: held.facts(
            entity=entity, superseded=superseded, after=cursor, limit=limit + 1
        ),
    )
    shown = found[:limit]
    more = f"{shown[-1].as_of}/{shown[-1].id}" if len(found) > limit else None
    return FactPage(facts=shown, cursor=more)


@get("/entities", opt={"right": "read"}, summary="List entities", tags=["facts and entities"])
async def entities(
    request: AnyRequest,
    zone: FromPath[str],
    cursor: FromQuery[str | None] = None,
    limit: FromQuery[int] = 50,
) -> EntityPage:
    """Return whom and what the zone knows, the most mentioned first.

    The `cursor` of a page gives the next, as the zone stood when the first was asked for."""
    return await read(request, zone, lambda held: held.entity_page(cursor=cursor, limit=limit))


@get(
    "/entities/{name_or_id:str}",
    opt={"right": "read"},
    summary="Get an entity",
    tags=["facts and entities"],
)
async def get_entity(request: AnyRequest, zone: FromPath[str], name_or_id: FromPath[str]) -> Entity:
    """Return the one whom or what a name or an id means."""
    return await read(request, zone, lambda held: held.get_entity(name_or_id))


@post(
    "/entities/compare",
    status_code=200,
    opt={"right": "read"},
    summary="Compare entities",
    tags=["facts and entities"],
)
async def compare(request: AnyRequest, zone: FromPath[str], data: JSONBody[PairBody]) -> Comparison:
    """Return whether two are or would be taken for the same, and why."""
    return await read(request, zone, lambda held: held.compare(data.a, data.b))


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= _MAX_LIMIT:
        detail = f"limit is {limit}; it may be 1 to {_MAX_LIMIT}"
        raise Refused(INVALID, detail, (FieldError("limit", detail),))


ROUTES = (facts, entities, get_entity, compare)
