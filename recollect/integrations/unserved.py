"""Paths that a product's client knows and that have no counterpart here.

They answer 501 and say so, where a client would take 404 for a memory that is not there.
"""

from __future__ import annotations

from collections.abc import Sequence

from litestar import HttpMethod, Router, route
from litestar.handlers import HTTPRouteHandler

from recollect.service import NOT_SERVED, AnyRequest, Refused, require_principal

_METHODS = (
    *(HttpMethod.GET, HttpMethod.POST, HttpMethod.PUT, HttpMethod.PATCH, HttpMethod.DELETE),
)


def unserved(below: str, paths: Sequence[str]) -> Router:
    """Return what answers every method of these paths with 501."""
    return Router(
        below,
        route_handlers=[unserved_handler(paths, _METHODS)],
        guards=[require_principal],
        include_in_schema=False,
    )


def unserved_handler(paths: Sequence[str], methods: Sequence[HttpMethod]) -> HTTPRouteHandler:
    """Return what answers these methods of paths with 501, where others are served."""

    @route(list(paths), http_method=list(methods), status_code=200, opt={"right": "read"})
    async def not_served(request: AnyRequest) -> None:
        """Say that there is no such thing."""
        raise Refused(
            NOT_SERVED,
            "recollect has nothing that does this; docs/clients.md lists the paths that it serves",
        )

    return not_served
