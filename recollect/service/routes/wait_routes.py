"""The routes that wait for a zone: until events are decided, and for changes of its status."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from litestar import get, post
from litestar.params import FromPath, JSONBody
from litestar.response import ServerSentEvent, ServerSentEventMessage

from recollect.home.consistency_token import LedgerPosition
from recollect.schemas.errors import InvalidInput, RecollectError
from recollect.schemas.wire import Status
from recollect.service.http.problem_details import Refused
from recollect.service.query_service import AnyRequest
from recollect.service.routes.route_kit import (
    existing_zone,
    message,
    principal_in,
    problem_message,
    read,
    service_of,
)


class ConsistencyToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A position in the ledger, as an ingest report gives it."""

    token: Annotated[
        str, msgspec.Meta(description="A consistency token: `token` of an ingest report.")
    ]


@post("/wait", status_code=200, opt={"right": "read"}, include_in_schema=False)
async def wait(
    request: AnyRequest, zone: FromPath[str], data: JSONBody[ConsistencyToken]
) -> Status:
    """Answer once everything up to a consistency token is decided and can be recalled."""
    target = LedgerPosition.parse(data.token)
    opened = await existing_zone(request, zone)
    current = await service_of(request).reading.run(opened.consistency_token)
    if LedgerPosition.parse(current).partition != target.partition:
        raise InvalidInput("token: give a consistency token of this zone")
    await service_of(request).wait_until_decided(zone, target.number)
    return await read(request, zone, lambda opened: opened.status())


@get("/status/stream", opt={"right": "read"}, include_in_schema=False)
async def watch_status(request: AnyRequest, zone: FromPath[str]) -> ServerSentEvent:
    """Send the status of a zone as a server-sent event, again whenever it has changed.

    The last event is a `problem` if the token becomes invalid, or the zone cannot be read.
    """
    await existing_zone(request, zone)
    service, principal = service_of(request), principal_in(request)

    async def messages() -> AsyncIterator[ServerSentEventMessage]:
        try:
            async for status in service.watch_status(principal, zone):
                yield message("status", status)
        except Exception as error:
            if not isinstance(error, RecollectError | Refused):
                service.log.error("the status cannot be read", error, zone=zone)
            yield problem_message(request, error)

    return ServerSentEvent(messages())


ROUTES = (wait, watch_status)
