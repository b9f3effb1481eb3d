"""Routes for long-running operations: list, get, watch, cancel and retry."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from litestar import get, post
from litestar.params import FromPath
from litestar.response import ServerSentEvent, ServerSentEventMessage
from msgspec import Meta

from recollect.service.http.problem_details import Refused
from recollect.service.query_service import AnyRequest
from recollect.service.routes.route_kit import (
    existing_zone,
    message,
    principal_in,
    problem_message,
    service_of,
)
from recollect.service.work.long_operations import LongOperation


class OperationList(msgspec.Struct, frozen=True):
    """The operations of a zone, the latest first."""

    operations: Annotated[list[LongOperation], Meta(description="The operations, latest first.")]


@get(
    "/operations",
    opt={"right": "admin"},
)
async def operations(request: AnyRequest, zone: FromPath[str]) -> OperationList:
    """Return the operations of a zone, the latest first."""
    await existing_zone(request, zone)
    return OperationList(service_of(request).operations.of_zone(zone))


@get(
    "/operations/{id:str}",
    opt={"right": "admin"},
)
async def get_operation(
    request: AnyRequest, zone: FromPath[str], id: FromPath[str]
) -> LongOperation:
    """Return an operation with its progress or result."""
    await existing_zone(request, zone)
    return service_of(request).operations.get(zone, id)


@get(
    "/operations/{id:str}/progress",
    opt={"right": "admin"},
)
async def watch_operation(
    request: AnyRequest, zone: FromPath[str], id: FromPath[str]
) -> ServerSentEvent:
    """Send the operation as a server-sent event whenever it has changed, until it has ended.

    If the token becomes invalid meanwhile, the last event is a `problem`.
    """
    await existing_zone(request, zone)
    service, principal = service_of(request), principal_in(request)
    service.operations.get(zone, id)

    async def messages() -> AsyncIterator[ServerSentEventMessage]:
        try:
            async for operation in service.operations.watch(
                zone, id, lambda: service.is_valid(principal)
            ):
                yield message("operation", operation)
        except Refused as refused:
            yield problem_message(request, refused)

    return ServerSentEvent(messages())


@post(
    "/operations/{id:str}/cancel",
    status_code=202,
    opt={"right": "admin"},
)
async def cancel(request: AnyRequest, zone: FromPath[str], id: FromPath[str]) -> LongOperation:
    """Cancel an operation."""
    await existing_zone(request, zone)
    return service_of(request).operations.cancel(zone, id)


@post(
    "/operations/{id:str}/retry",
    status_code=202,
    opt={"right": "admin"},
)
async def retry_operation(
    request: AnyRequest, zone: FromPath[str], id: FromPath[str]
) -> LongOperation:
    """Restart an operation that failed, was cancelled or was interrupted."""
    opened = await existing_zone(request, zone)
    return service_of(request).operations.retry(opened, id)


ROUTES = (operations, get_operation, watch_operation, cancel, retry_operation)
