"""The routes that tell a client which zones there are, and what it may do in them."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get
from msgspec import Meta

from recollect.home.access_tokens import RIGHTS, Right
from recollect.schemas.wire import ZoneSummary
from recollect.service.query_service import AnyRequest
from recollect.service.routes.route_kit import principal_in, require_principal, service_of


class ZoneList(msgspec.Struct, frozen=True):
    """Zones that the token may read, each with its size, and whether it is stalled."""

    zones: Annotated[list[ZoneSummary], Meta(description="The zones, by name.")]


class ZoneRights(msgspec.Struct, frozen=True):
    """What a token may do in a zone."""

    zone: Annotated[str, Meta(description="Name of the zone.")]
    rights: Annotated[list[Right], Meta(description="Rights to it: read, write, forget, admin.")]
    stalled: Annotated[bool, Meta(description="Records are waiting, and no process handles them.")]


class Access(msgspec.Struct, frozen=True):
    """What a client may do."""

    authentication: Annotated[bool, Meta(description="Whether the service asks for tokens.")]
    token: Annotated[str | None, Meta(description="Id of the token, which is not secret.")]
    user: Annotated[str | None, Meta(description="User that the token is for.")]
    zones: Annotated[list[ZoneRights], Meta(description="The zones with events, by name.")]


@get(
    "/v1/zones",
    guards=[require_principal],
)
async def zones(request: AnyRequest) -> ZoneList:
    """Return the zones with events that this token may read."""
    service, principal = service_of(request), principal_in(request)

    def readable() -> ZoneList:
        found = service.recollect.zone_summaries()
        return ZoneList([summary for summary in found if principal.has_right(summary.zone, "read")])

    return await service.reading.run(readable, service.settings.request_seconds)


@get(
    "/v1/access",
    guards=[require_principal],
)
async def access(request: AnyRequest) -> Access:
    """Return the zones with events that the token gives access to, each with its rights."""
    service, principal = service_of(request), principal_in(request)

    def allowed() -> Access:
        zones = [
            ZoneRights(summary.zone, given, summary.stalled)
            for summary in service.recollect.zone_summaries()
            if (given := [right for right in RIGHTS if principal.has_right(summary.zone, right)])
        ]
        return Access(
            authentication=principal.token is not None,
            token=None if principal.token is None else principal.token.id,
            user=None if principal.token is None else principal.token.user,
            zones=zones,
        )

    return await service.reading.run(allowed, service.settings.request_seconds)


ROUTES = (zones, access)
