"""Routes over zones: which there are for who asks."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get
from msgspec import Meta

from recollect.schemas.wire import ZoneSummary
from recollect.service.query_service import AnyRequest
from recollect.service.routes.route_kit import must_be_somebody, principal_in, service_of


class ZoneList(msgspec.Struct, frozen=True):
    """Zones that may be read, each with how many records it has."""

    zones: Annotated[list[ZoneSummary], Meta(description="The zones, by name.")]


@get(
    "/v1/zones",
    guards=[must_be_somebody],
)
async def zones(request: AnyRequest) -> ZoneList:
    """Return the zones that hold anything and that this token may read."""
    service, principal = service_of(request), principal_in(request)

    def readable() -> ZoneList:
        found = service.recollect.zone_summaries()
        return ZoneList([summary for summary in found if principal.has_right(summary.zone, "read")])

    return await service.reading.run(readable, service.settings.request_seconds)


ROUTES = (zones,)
