"""The ASGI application: routes, mounted applications, and the middleware in front of them."""

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

from recollect.home.settings.service_settings import ServiceSettings
from recollect.library.library_home import Recollect
from recollect.mcp_server import OWN_TOOL_SETS, ToolSets
from recollect.service.http.id_paths import restore_slashes
from recollect.service.http.json_bodies import JsonBody
from recollect.service.http.problem_details import FAILED, MEDIA_TYPE, to_problem
from recollect.service.http.service_log import ServiceLog
from recollect.service.http.service_middleware import ServiceMiddleware, request_id_of
from recollect.service.mcp.mcp_mount import McpMount
from recollect.service.query_service import QueryService
from recollect.service.routes import (
    event_routes,
    health_routes,
    inference_routes,
    long_operation_routes,
    route_descriptions,
    token_routes,
    wait_routes,
    zone_routes,
)
from recollect.service.routes.openapi_document import document
from recollect.service.routes.operation_handlers import operation_handlers
from recollect.service.routes.route_kit import require_principal
from recollect.service.work.long_operations import LongOperation

#: A context that is entered while the application runs.
Lifespan = Callable[[Litestar], AbstractAsyncContextManager[None]]


class Application:
    """The service as an ASGI application."""

    def __init__(
        self,
        recollect: Recollect,
        settings: ServiceSettings | None = None,
        *,
        log: ServiceLog | None = None,
        extra_routes: Sequence[ControllerRouterHandler] = (),
        lifespans: Sequence[Lifespan] = (),
        tool_sets: ToolSets = OWN_TOOL_SETS,
    ) -> None:
        """Build the application.

        `extra_routes`: further routes and mounted applications; a router's `opt` may have
        `descriptions`, their RouteDescriptions. `lifespans`: contexts to enter while the
        application runs. `tool_sets`: the MCP tools by the names of their sets; the first set is
        the default.
        """
        self.log = log or ServiceLog()
        self.service = QueryService(recollect, settings or ServiceSettings(), self.log)
        self._mcp = McpMount(self.service, self.log, tool_sets)
        zone_router = Router(
            "/v1/zones/{zone:str}",
            route_handlers=[
                *operation_handlers(),
                *event_routes.ROUTES,
                *wait_routes.ROUTES,
                *inference_routes.ROUTES,
                *long_operation_routes.ROUTES,
            ],
            guards=[require_principal],
            dto=JsonBody,
            return_dto=None,
        )
        self.litestar = Litestar(
            [
                zone_router,
                *zone_routes.ROUTES,
                *token_routes.ROUTES,
                *health_routes.ROUTES,
                _openapi(extra_routes),
                self._mcp.route(),
                *extra_routes,
            ],
            state=State({"service": self.service}),
            lifespan=[self._lifespan, *lifespans],
            exception_handlers={Exception: self._problem},
            before_request=restore_slashes,
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
        """Return the problem response for an error, and log unexpected ones."""
        problem = to_problem(error)
        request_id = request_id_of(request.scope)
        if problem.kind is FAILED:
            self.log.error("request failed", error, request_id=request_id)
        return Response(
            msgspec.json.encode(problem.problem(request_id)),
            status_code=problem.kind.status,
            media_type=MEDIA_TYPE,
            headers=problem.headers,
        )


def create_app(
    recollect: Recollect,
    settings: ServiceSettings | None = None,
    *,
    log: ServiceLog | None = None,
    extra_routes: Sequence[ControllerRouterHandler] = (),
    lifespans: Sequence[Lifespan] = (),
    tool_sets: ToolSets = OWN_TOOL_SETS,
) -> Application:
    """Return the application for an open home; the caller closes the home after the application.

    While the application runs, it decides published events. `extra_routes`: further routes and
    mounted applications, in which `principal_of(scope)` returns the principal of a request.
    `lifespans`: contexts to enter while the application runs. `tool_sets`: the MCP tools by the
    names of their sets; the first set is the default.
    """
    return Application(
        recollect,
        settings,
        log=log,
        extra_routes=extra_routes,
        lifespans=lifespans,
        tool_sets=tool_sets,
    )


def _openapi(extra_routes: Sequence[ControllerRouterHandler]) -> HTTPRouteHandler:
    """Return the handler of the OpenAPI document, which is rendered on the first request."""
    described = [
        *route_descriptions.ROUTES,
        *(
            description
            for router in extra_routes
            if isinstance(router, Router)
            for description in router.opt.get("descriptions", ())
        ),
    ]

    @cache
    def rendered() -> bytes:
        return msgspec.json.encode(document(described, LongOperation))

    @get("/openapi.json", include_in_schema=False)
    async def openapi() -> Response[bytes]:
        """Return the OpenAPI document."""
        return Response(rendered(), media_type="application/vnd.oai.openapi+json")

    return openapi
