"""Routes that say how a zone stands, and wait until it has got somewhere."""

from __future__ import annotations

import msgspec
from litestar import get, post
from litestar.params import FromPath, JSONBody

from recollect.home.token import Token
from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import Query, Status
from recollect.service.query_service import AnyRequest
from recollect.service.route_kit import held_zone, read, service_of


class ZoneToken(msgspec.Struct, frozen=True):
    """A text that stands for everything that was published to a zone here."""

    token: str


class Hints(msgspec.Struct, frozen=True):
    """What to say of names in a question that nothing has."""

    hints: list[str]


@get("/status", opt={"right": "read"}, summary="Status", tags=["zones"])
async def status(request: AnyRequest, zone: FromPath[str]) -> Status:
    """Return what a zone holds, and how far it is."""
    return await read(request, zone, lambda held: held.status())


@get("/token", opt={"right": "read"}, summary="Token", tags=["zones"])
async def zone_token(request: AnyRequest, zone: FromPath[str]) -> ZoneToken:
    """Return a text that stands for everything that was published here, to wait for."""
    return ZoneToken(await read(request, zone, lambda held: held.token()))


@post("/wait", status_code=200, opt={"right": "read"}, summary="Wait", tags=["zones"])
async def wait(request: AnyRequest, zone: FromPath[str], data: JSONBody[ZoneToken]) -> Status:
    """Answer when everything that a token stands for is decided, and can be recalled."""
    wanted = Token.read(data.token)
    held = await held_zone(request, zone)
    own = await service_of(request).reading.run(held.token)
    if Token.read(own).partition != wanted.partition:
        raise InvalidInput("token: it is not of this zone")
    await service_of(request).until(zone, wanted.number)
    return await read(request, zone, lambda held: held.status())


@post("/hints", status_code=200, opt={"right": "read"}, summary="Hints", tags=["zones"])
async def hints(request: AnyRequest, zone: FromPath[str], data: JSONBody[Query]) -> Hints:
    """Return what to say of names in a question's filters that nothing has."""
    # Of a zone that holds nothing the library names the others.
    return Hints(await read(request, zone, lambda held: held.hints(data), holding=True))


ROUTES = (status, zone_token, wait, hints)
