"""What the facades share: the zone that a request means, and looks into one that may be new."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from recollect.home.access_tokens import EVERY_ZONE
from recollect.home.token import Token
from recollect.library.library_zone import Zone
from recollect.schemas.zones import DEFAULT_ZONE
from recollect.service.problem_details import INVALID, NOT_DECIDED, Refused
from recollect.service.query_service import AnyRequest
from recollect.service.route_kit import principal_in, right_of, service_of

T = TypeVar("T")

HEADER = "X-Recollect-Zone"


def zone_of(request: AnyRequest) -> str:
    """Return the zone that a request means: one that it names, or the one of its token.

    Raises:
        Refused: the token is for several, and the request names none.
    """
    named = request.query_params.get("zone") or request.headers.get(HEADER)
    if named:
        return str(named)
    token = principal_in(request).token
    if token is None:
        return DEFAULT_ZONE
    if len(token.zones) > 1 or EVERY_ZONE in token.zones:
        raise Refused(
            INVALID, f"the token is for several zones; say which with the header {HEADER}"
        )
    return token.zones[0]


async def ask(request: AnyRequest, zone: str, work: Callable[[Zone], T]) -> T:
    """Return what a look into a zone gives, also into one that holds nothing yet, for who has the
    route's right to it.
    """
    service = service_of(request)
    principal, right = principal_in(request), right_of(request)
    return await service.reading.run(
        lambda: work(service.zone(principal, zone, right, makes=True)),
        service.settings.request_seconds,
    )


async def decided(request: AnyRequest, zone: str, token: str) -> bool:
    """Return whether a zone was decided up to a token in time."""
    try:
        await service_of(request).until(zone, Token.read(token).number)
    except Refused as refused:
        if refused.kind is not NOT_DECIDED:
            raise
        return False
    return True
