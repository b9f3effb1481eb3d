"""Routes over long work: begin it, see how far it is, cancel it, begin it again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from litestar import Response, get, post
from litestar.params import FromPath, JSONBody
from litestar.response import ServerSentEvent, ServerSentEventMessage

from recollect.schemas.wire import Level
from recollect.service.idempotent_calls import HEADER
from recollect.service.operations import Asked, Operation
from recollect.service.problem_details import Refused
from recollect.service.query_service import AnyRequest
from recollect.service.route_kit import held_zone, principal_in, service_of
from recollect.service.service_middleware import request_id_of


class VerifyBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`expect` is a head of an earlier moment that the ledger must hold."""

    expect: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None


class RebuildBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which layer is made again; `dry_run`: only count what that would read.

    `compare` (derive and fresh): make it beside the one in use, and say how they differ.
    """

    level: Level = "project"
    dry_run: bool = False
    compare: bool = False


class DryRunBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`dry_run`: say what would be done, and change nothing."""

    dry_run: bool = False


class OperationList(msgspec.Struct, frozen=True):
    """The operations of a zone, the latest first."""

    operations: list[Operation]


@post("/verify", status_code=202, opt={"right": "admin"}, summary="Verify", tags=["operations"])
async def verify(
    request: AnyRequest, zone: FromPath[str], data: JSONBody[VerifyBody | None] = None
) -> Response[Operation]:
    """Replay the ledger and compare every read model with what comes out; change nothing."""
    asked = data or VerifyBody()
    return await _begin(request, zone, Asked(kind="verify", expect=asked.expect))


@post("/rebuild", status_code=202, opt={"right": "admin"}, summary="Rebuild", tags=["operations"])
async def rebuild(
    request: AnyRequest, zone: FromPath[str], data: JSONBody[RebuildBody | None] = None
) -> Response[Operation]:
    """Throw a derived layer away and make it again; the old one serves until it is done."""
    asked = data or RebuildBody()
    return await _begin(
        request,
        zone,
        Asked(kind="rebuild", level=asked.level, dry_run=asked.dry_run, compare=asked.compare),
    )


@post(
    "/rollback", status_code=202, opt={"right": "admin"}, summary="Roll back", tags=["operations"]
)
async def rollback(request: AnyRequest, zone: FromPath[str]) -> Response[Operation]:
    """Go back to the generation before the last rebuild, brought up to date."""
    return await _begin(request, zone, Asked(kind="rollback"))


@post("/reclaim", status_code=202, opt={"right": "admin"}, summary="Reclaim", tags=["operations"])
async def reclaim(
    request: AnyRequest, zone: FromPath[str], data: JSONBody[DryRunBody | None] = None
) -> Response[Operation]:
    """Take change records that nothing needs any more out of the embedded ledger."""
    asked = data or DryRunBody()
    return await _begin(request, zone, Asked(kind="reclaim", dry_run=asked.dry_run))


@get("/operations", opt={"right": "admin"}, summary="List operations", tags=["operations"])
async def operations(request: AnyRequest, zone: FromPath[str]) -> OperationList:
    """Return the operations of a zone, the latest first."""
    await held_zone(request, zone)
    return OperationList(service_of(request).operations.of(zone))


@get(
    "/operations/{id:str}", opt={"right": "admin"}, summary="Get an operation", tags=["operations"]
)
async def get_operation(request: AnyRequest, zone: FromPath[str], id: FromPath[str]) -> Operation:
    """Return how far an operation is, or how it ended."""
    await held_zone(request, zone)
    return service_of(request).operations.get(zone, id)


@get(
    "/operations/{id:str}/progress",
    opt={"right": "admin"},
    summary="Watch an operation",
    tags=["operations"],
)
async def watch_operation(
    request: AnyRequest, zone: FromPath[str], id: FromPath[str]
) -> ServerSentEvent:
    """Send the operation as a server-sent event whenever it got further, until it has ended.

    Where the token counts no more meanwhile, the last event is a `problem`.
    """
    await held_zone(request, zone)
    service, principal = service_of(request), principal_in(request)
    service.operations.get(zone, id)

    async def messages() -> AsyncIterator[ServerSentEventMessage]:
        try:
            async for operation in service.operations.watch(
                zone, id, lambda: service.counts(principal)
            ):
                said = msgspec.json.encode(operation).decode()
                yield ServerSentEventMessage(data=said, event="operation")
        except Refused as refused:
            problem = refused.problem(request_id_of(request.scope))
            yield ServerSentEventMessage(
                data=msgspec.json.encode(problem).decode(), event="problem"
            )

    return ServerSentEvent(messages())


@post(
    "/operations/{id:str}/cancel",
    status_code=202,
    opt={"right": "admin"},
    summary="Cancel an operation",
    tags=["operations"],
)
async def cancel(request: AnyRequest, zone: FromPath[str], id: FromPath[str]) -> Operation:
    """Have an operation end before it is done."""
    await held_zone(request, zone)
    return service_of(request).operations.cancel(zone, id)


@post(
    "/operations/{id:str}/retry",
    status_code=202,
    opt={"right": "admin"},
    summary="Retry an operation",
    tags=["operations"],
)
async def retry_operation(request: AnyRequest, zone: FromPath[str], id: FromPath[str]) -> Operation:
    """Begin an operation again that failed, was cancelled or was interrupted."""
    held = await held_zone(request, zone)
    return service_of(request).operations.retry(held, id)


async def _begin(request: AnyRequest, zone: str, asked: Asked) -> Response[Operation]:
    held = await held_zone(request, zone)
    status = await service_of(request).reading.run(held.status)
    begun = service_of(request).operations.begin(
        held,
        asked,
        who=principal_in(request).name,
        key=request.headers.get(HEADER),
        total=status.models[0].watermark,
    )
    place = f"/v1/zones/{zone}/operations/{begun.id}"
    return Response(begun, status_code=202, headers={"Location": place})


ROUTES = (
    *(verify, rebuild, rollback, reclaim, operations),
    *(get_operation, watch_operation, cancel, retry_operation),
)
