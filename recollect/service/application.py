"""The application: routes, what is mounted beside them, and what stands before all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from typing import Any

import msgspec
from litestar import Litestar, Request, Response, Router, get
from litestar.datastructures import State
from litestar.handlers import HTTPRouteHandler
from litestar.types import ControllerRouterHandler, Receive, Scope, Send

from recollect.home.service_settings import ServiceSettings
from recollect.library.library_home import Recollect
from recollect.mcp_server import OWN_TOOL_SETS, ToolSets
from recollect.service.http.id_paths import put_back
from recollect.service.http.json_bodies import JsonBody
from recollect.service.http.problem_details import FAILED, MEDIA_TYPE, refusal
from recollect.service.http.service_log import ServiceLog
from recollect.service.http.service_middleware import ServiceMiddleware, request_id_of
from recollect.service.mcp.mcp_mount import McpMount
from recollect.service.query_service import QueryService
from recollect.service.routes import (
    event_routes,
    health_routes,
    long_operation_routes,
    route_descriptions,
    wait_routes,
    zone_routes,
)
from recollect.service.routes.openapi_document import document
from recollect.service.routes.operation_handlers import operation_handlers
from recollect.service.routes.route_kit import must_be_somebody
from recollect.service.work.long_operations import LongOperation

#: What else is entered while the application runs.
Lifespan = Callable[[Litestar], AbstractAsyncContextManager[None]]


class Application:
    """The service as an ASGI application."""

    def __init__(
        self,
        recollect: Recollect,
        settings: ServiceSettings | None = None,
        *,
        log: ServiceLog | None = None,
        beside: Sequence[ControllerRouterHandler] = (),
        lifespans: Sequence[Lifespan] = (),
        tool_sets: ToolSets = OWN_TOOL_SETS,
    ) -> None:
        """`beside`: further routes, and applications that are mounted; `lifespans`: theirs.

        `tool_sets`: the MCP tools, by the names of their sets; the first is the default.
        """
        self.log = log or ServiceLog()
        self.service = QueryService(recollect, settings or ServiceSettings(), self.log)
        self._mcp = McpMount(self.service, self.log, tool_sets)
        of_zones = Router(
            "/v1/zones/{zone:str}",
            route_handlers=[
                *operation_handlers(),
                *event_routes.ROUTES,
                *wait_routes.ROUTES,
                *long_operation_routes.ROUTES,
            ],
            guards=[must_be_somebody],
            dto=JsonBody,
            return_dto=None,
        )
        self.litestar = Litestar(
            [
                of_zones,
                *zone_routes.ROUTES,
                *health_routes.ROUTES,
                _openapi(),
                self._mcp.route(),
                *beside,
            ],
            state=State({"service": self.service}),
            lifespan=[self._lifespan, *lifespans],
            exception_handlers={Exception: self._problem},
            before_request=put_back,
            request_max_body_size=self.service.settings.body_bytes,
            openapi_config=None,
            logging_config=None,
        )
        self._asgi = ServiceMiddleware(self.litestar, self.service)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._asgi(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, _: Litestar) -> AsyncIterator[None]:
        async with self.service.running(), self._mcp.running():
            yield

    def _problem(self, request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
        """Return the answer to a request that could not be done."""
        refused = refusal(error)
        request_id = request_id_of(request.scope)
        if refused.kind is FAILED:
            self.log.error("request failed", error, request_id=request_id)
        return Response(
            msgspec.json.encode(refused.problem(request_id)),
            status_code=refused.kind.status,
            media_type=MEDIA_TYPE,
            headers=refused.headers,
        )


def create_app(
    recollect: Recollect,
    settings: ServiceSettings | None = None,
    *,
    log: ServiceLog | None = None,
    beside: Sequence[ControllerRouterHandler] = (),
    lifespans: Sequence[Lifespan] = (),
    tool_sets: ToolSets = OWN_TOOL_SETS,
) -> Application:
    """Return the application over an open home, which stays open until the caller closes it.

    While it runs, it decides what is published. `beside` are further routes, or applications that
    are mounted, and `lifespans` what they need to be entered; `principal_of(scope)` says there who
    asks. `tool_sets` are the MCP tools, by the names of their sets; the first is the default.
    """
    return Application(
        recollect,
        settings,
        log=log,
        beside=beside,
        lifespans=lifespans,
        tool_sets=tool_sets,
    )


def _openapi() -> HTTPRouteHandler:
    """Return the handler of the OpenAPI document, which is made for the first request."""

    @cache
    def rendered() -> bytes:
        return msgspec.json.encode(document(route_descriptions.ROUTES, LongOperation))

    @get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response[bytes]:
        """Return the OpenAPI document."""
        return Response(rendered(), media_type="application/vnd.oai.openapi+json")

    return openapi
