"""What routes share: the request's service and principal, and lines of a body as they come."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from recollect.home.access_tokens import Right
from recollect.home.consistency_token import LedgerPosition
from recollect.library.library_zone import Zone
from recollect.schemas.inbound import MAX_RECORD_BYTES
from recollect.service.http.idempotent_calls import HEADER
from recollect.service.http.problem_details import NOT_DECIDED, Refused, unauthorized
from recollect.service.http.service_middleware import principal_of
from recollect.service.principals import Principal
from recollect.service.query_service import AnyRequest, QueryService

T = TypeVar("T")

_EMPTY_ZONE = "empty-zone"


def service_of(request: ASGIConnection) -> QueryService:  # type: ignore[type-arg]
    """Return the service that a request is made of."""
    service: QueryService = request.app.state.service
    return service


def must_be_somebody(connection: ASGIConnection, _: BaseRouteHandler) -> None:  # type: ignore[type-arg]
    """Refuse a request without a token that counts, before its body is read."""
    if principal_of(connection.scope) is None:
        raise unauthorized()


def right_of(request: AnyRequest) -> Right:
    """Return the right that a request's route asks for."""
    right: Right = request.route_handler.opt["right"]
    return right


async def read(
    request: AnyRequest, zone: str, work: Callable[[Zone], T], *, holding: bool = False
) -> T:
    """Return what a look into a zone gives, for who has the route's right to it.

    Who says `Prefer: empty-zone` is answered by a zone that holds nothing as by any other, as the
    library is; not with `holding`.
    """
    principal = principal_of(request.scope)
    empty = not holding and _EMPTY_ZONE in request.headers.get("prefer", "").split(", ")
    return await service_of(request).read(principal, zone, right_of(request), work, empty=empty)


async def ask(request: AnyRequest, zone: str, work: Callable[[Zone], T]) -> T:
    """Return what a look into a zone gives, also into one that holds nothing yet, for who has the
    route's right to it.
    """
    principal, right = principal_in(request), right_of(request)
    return await service_of(request).read(principal, zone, right, work, empty=True)


async def write(
    request: AnyRequest, zone: str, work: Callable[[Zone], T], *, makes: bool = False
) -> T:
    """Return what changing a zone gives, for who has the route's right to it.

    Under an Idempotency-Key it is done once.
    """
    service = service_of(request)
    principal = principal_in(request)
    key = request.headers.get(HEADER)
    right = right_of(request)

    async def done() -> T:
        return await service.write(principal, zone, right, work, makes=makes)

    if key is None:
        return await done()
    place = f"{request.method} {request.scope['path']}?{request.url.query}"
    body = await request.body()
    return await service.calls.once(principal.name, zone, place, key, body, done)


def erased_in(request: AnyRequest, zone: str) -> None:
    """Drop cached answers of a zone, which may hold what was just erased."""
    service_of(request).calls.forget(zone)


async def held_zone(request: AnyRequest, zone: str) -> Zone:
    """Return a zone for who has the route's right to it, and that holds something."""
    return await read(request, zone, lambda held: held, holding=True)


async def decided_in_time(request: AnyRequest, zone: str, token: str) -> bool:
    """Wait until a zone is decided up to a token; return whether it was within the time limit."""
    try:
        await service_of(request).until(zone, LedgerPosition.parse(token).number)
    except Refused as refused:
        if refused.kind is not NOT_DECIDED:
            raise
        return False
    return True


def principal_in(request: AnyRequest) -> Principal:
    """Return on whose behalf a request is made, behind `must_be_somebody`."""
    principal = principal_of(request.scope)
    if principal is None:
        raise unauthorized()
    return principal


async def lines_of(request: AnyRequest, size: int) -> AsyncIterator[list[bytes]]:
    """Yield the lines of a body as it comes, some at a time: about `size` bytes.

    Of a line that is too long for a record only as much is kept as shows that it is.
    """
    # Of the line that has not ended yet: grown in place, so that no part of it is copied twice.
    rest = bytearray()
    lines: list[bytes] = []
    held = 0
    async for chunk in request.stream():
        first, *others = chunk.split(b"\n")
        rest += first[: MAX_RECORD_BYTES + 1 - len(rest)]
        for part in others:
            lines.append(bytes(rest))
            # A blank line takes room too.
            held += len(rest) + 1
            rest = bytearray(part[: MAX_RECORD_BYTES + 1])
        if held >= size:
            yield lines
            lines, held = [], 0
    if rest.strip():
        lines.append(bytes(rest))
    if lines:
        yield lines
