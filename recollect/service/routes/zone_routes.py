"""The route that lists zones."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get
from msgspec import Meta

from recollect.schemas.wire import ZoneSummary
from recollect.service.query_service import AnyRequest
from recollect.service.routes.route_kit import principal_in, require_principal, service_of


class ZoneList(msgspec.Struct, frozen=True):
    """Zones that the token may read, each with the number of its records."""

    zones: Annotated[list[ZoneSummary], Meta(description="The zones, by name.")]


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


ROUTES = (zones,)
