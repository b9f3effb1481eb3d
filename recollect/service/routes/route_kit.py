"""Helpers of route handlers: the service, principal and zone of a request, and body lines."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Callable, Collection
from typing import TypeVar

import msgspec
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.response import ServerSentEventMessage

from recollect.home.access_tokens import Right
from recollect.home.consistency_token import LedgerPosition
from recollect.library.library_zone import Zone
from recollect.operations.ingestion.ingesting import StoredButUndecided
from recollect.schemas.inbound import MAX_RECORD_BYTES
from recollect.service.http.idempotent_calls import HEADER
from recollect.service.http.json_bodies import malformed_parameter
from recollect.service.http.problem_details import (
    NOT_DECIDED,
    Refused,
    to_problem,
    unauthorized,
)
from recollect.service.http.service_middleware import principal_of, request_id_of
from recollect.service.principals import Principal
from recollect.service.query_service import AnyRequest, QueryService

T = TypeVar("T")

_EMPTY_ZONE = "empty-zone"


def service_of(request: ASGIConnection) -> QueryService:  # type: ignore[type-arg]
    """Return the service of a request."""
    service: QueryService = request.app.state.service
    return service


def require_principal(connection: ASGIConnection, _: BaseRouteHandler) -> None:  # type: ignore[type-arg]
    """Reject a request without a valid token before its body is read (a Litestar guard)."""
    if principal_of(connection.scope) is None:
        raise unauthorized()


def check_parameters(request: AnyRequest, known: Collection[str]) -> None:
    """Raise Refused if a request has a query parameter that its route does not know."""
    unknown = sorted(set(request.query_params) - set(known))
    if unknown:
        hint = f"the parameters are {', '.join(known)}" if known else "this route takes none"
        raise malformed_parameter(unknown[0], f"unknown parameter; {hint}")


def right_of(request: AnyRequest) -> Right:
    """Return the right that a request's route requires."""
    right: Right = request.route_handler.opt["right"]
    return right


async def read(
    request: AnyRequest, zone: str, work: Callable[[Zone], T], *, must_exist: bool = False
) -> T:
    """Run a call that reads a zone, with the right that the route requires.

    A zone without events is an error, unless the request has `Prefer: empty-zone` and `must_exist`
    is False.
    """
    principal = principal_of(request.scope)
    preferences = request.headers.get("prefer", "").split(", ")
    allow_empty = not must_exist and _EMPTY_ZONE in preferences
    return await service_of(request).read(
        principal, zone, right_of(request), work, allow_empty=allow_empty
    )


async def ask(request: AnyRequest, zone: str, work: Callable[[Zone], T]) -> T:
    """Run a call that reads a zone, even one without events, with the route's right."""
    principal, right = principal_in(request), right_of(request)
    return await service_of(request).read(principal, zone, right, work, allow_empty=True)


async def write(
    request: AnyRequest,
    zone: str,
    work: Callable[[Zone], T],
    *,
    allow_empty: bool = False,
    receipt_if_undecided: bool = False,
) -> T:
    """Run a call that writes to a zone, with the right that the route requires.

    `allow_empty`: the call may create the zone. With an Idempotency-Key, the call runs only once.
    `receipt_if_undecided`: the result is a RememberReceipt, which is also returned if the call
    times out after publishing something.
    """
    service = service_of(request)
    principal = principal_in(request)
    key = request.headers.get(HEADER)
    right = right_of(request)

    async def run() -> T:
        try:
            return await service.write(principal, zone, right, work, allow_empty=allow_empty)
        except StoredButUndecided as error:
            if not receipt_if_undecided:
                raise
            return error.receipt  # type: ignore[return-value]

    if key is None:
        return await run()
    path = f"{request.method} {request.scope['path']}?{request.url.query}"
    body = await request.body()
    return await service.calls.run_once(principal.name, zone, path, key, body, run)


def drop_cached_answers(request: AnyRequest, zone: str) -> None:
    """Drop the cached answers of a zone, which may contain data that was just erased."""
    service_of(request).calls.drop_answers(zone)


async def existing_zone(request: AnyRequest, zone: str) -> Zone:
    """Return a zone with events, if the principal has the right that the route requires."""
    return await read(request, zone, lambda opened: opened, must_exist=True)


def message(event: str, data: object) -> ServerSentEventMessage:
    """Return a server-sent event with JSON as its data."""
    return ServerSentEventMessage(data=msgspec.json.encode(data).decode(), event=event)


def problem_message(request: AnyRequest, error: Exception) -> ServerSentEventMessage:
    """Return the server-sent event `problem` for an error, the last one of a stream."""
    return message("problem", to_problem(error).problem(request_id_of(request.scope)))


async def decided_in_time(request: AnyRequest, zone: str, token: str) -> bool:
    """Wait until a zone is decided up to a token; return False after `wait_seconds`."""
    try:
        await service_of(request).wait_until_decided(zone, LedgerPosition.parse(token).number)
    except Refused as refused:
        if refused.kind is not NOT_DECIDED:
            raise
        return False
    return True


def principal_in(request: AnyRequest) -> Principal:
    """Return the principal of a request to a route with the guard `require_principal`."""
    principal = principal_of(request.scope)
    if principal is None:
        raise unauthorized()
    return principal


async def lines_of(request: AnyRequest, size: int) -> AsyncIterator[list[bytes]]:
    """Yield the lines of a body while it arrives, in batches of about `size` bytes.

    A line that is too long for a record is truncated to one byte over the limit. Byte order marks
    at the start of lines, as in concatenated files, are removed.
    """
    # The incomplete last line; grown in place, so that no part is copied twice.
    partial_line = bytearray()
    lines: list[bytes] = []
    batch_bytes = 0
    async for chunk in request.stream():
        first, *others = chunk.split(b"\n")
        partial_line += first[: MAX_RECORD_BYTES + 1 - len(partial_line)]
        for part in others:
            lines.append(bytes(partial_line).removeprefix(BOM_UTF8))
            # A blank line takes memory too.
            batch_bytes += len(partial_line) + 1
            partial_line = bytearray(part[: MAX_RECORD_BYTES + 1])
        if batch_bytes >= size:
            yield lines
            lines, batch_bytes = [], 0
    if partial_line.strip():
        lines.append(bytes(partial_line).removeprefix(BOM_UTF8))
    if lines:
        yield lines
