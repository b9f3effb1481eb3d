"""The application: routes, what is mounted beside them, and what stands before all of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version
from typing import Any

import msgspec
from litestar import Litestar, Request, Response, Router
from litestar.datastructures import State
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components, SecurityScheme
from litestar.types import ControllerRouterHandler, Receive, Scope, Send

from recollect.home.service_settings import ServiceSettings
from recollect.library.library_home import Recollect
from recollect.mcp_server import OWN_TOOL_SETS, ToolSets
from recollect.service import (
    dead_letter_routes,
    entity_routes,
    event_routes,
    forget_routes,
    health_routes,
    memory_routes,
    merge_routes,
    model_routes,
    operation_routes,
    upkeep_routes,
    zone_routes,
)
from recollect.service.id_paths import put_back
from recollect.service.json_bodies import JsonBody
from recollect.service.mcp_mount import McpMount
from recollect.service.openapi_document import OpenAPIDocument
from recollect.service.problem_details import FAILED, MEDIA_TYPE, refusal
from recollect.service.query_service import QueryService
from recollect.service.route_kit import must_be_somebody
from recollect.service.service_log import ServiceLog
from recollect.service.service_middleware import ServiceMiddleware, request_id_of

#: What else is entered while the application runs.
Lifespan = Callable[[Litestar], AbstractAsyncContextManager[None]]

#: The routes of one zone; each says which right it asks for.
OF_ZONES = (
    *event_routes.ROUTES,
    *memory_routes.ROUTES,
    *forget_routes.ROUTES,
    *entity_routes.ROUTES,
    *merge_routes.ROUTES,
    *model_routes.ROUTES,
    *dead_letter_routes.ROUTES,
    *operation_routes.ROUTES,
    *upkeep_routes.ROUTES,
)


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
            route_handlers=OF_ZONES,
            guards=[must_be_somebody],
            dto=JsonBody,
            return_dto=None,
            security=[{"token": []}],
        )
        self.litestar = Litestar(
            [
                of_zones,
                *zone_routes.ROUTES,
                *health_routes.ROUTES,
                self._mcp.route(),
                *beside,
            ],
            state=State({"service": self.service}),
            lifespan=[self._lifespan, *lifespans],
            exception_handlers={Exception: self._problem},
            before_request=put_back,
            request_max_body_size=self.service.settings.body_bytes,
            openapi_config=_openapi(),
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


def _openapi() -> OpenAPIConfig:
    return OpenAPIConfig(
        title="recollect",
        version=version("recollect"),
        description="Long-term memory for AI agents. docs/service.md is the guide.",
        path="/openapi.json",
        render_plugins=[OpenAPIDocument()],
        components=Components(
            security_schemes={
                "token": SecurityScheme(
                    type="http", scheme="bearer", description="As recollect token create prints it."
                )
            }
        ),
        use_handler_docstrings=True,
    )
