"""Routes for endpoints of other products that have no counterpart here.

They answer 501 with an explanation, because a client would read 404 as a missing memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from litestar import HttpMethod, Router, route
from litestar.handlers import HTTPRouteHandler

from recollect.service import NOT_SERVED, AnyRequest, Refused, require_principal

_METHODS = (
    *(HttpMethod.GET, HttpMethod.POST, HttpMethod.PUT, HttpMethod.PATCH, HttpMethod.DELETE),
)


def unserved(prefix: str, paths: Sequence[str]) -> Router:
    """Return a router that answers every method on these paths with 501."""
    return Router(
        prefix,
        route_handlers=[unserved_handler(paths, _METHODS)],
        guards=[require_principal],
        include_in_schema=False,
    )


def unserved_handler(paths: Sequence[str], methods: Sequence[HttpMethod]) -> HTTPRouteHandler:
    """Return a handler that answers these methods with 501 on paths that support others."""

    @route(list(paths), http_method=list(methods), status_code=200, opt={"right": "read"})
    async def not_served(request: AnyRequest) -> None:
        """Raise a 501 error."""
        raise Refused(
            NOT_SERVED,
            "recollect does not support this endpoint; docs/clients.md lists the supported ones",
        )

    return not_served
