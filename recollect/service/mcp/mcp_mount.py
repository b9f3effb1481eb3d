"""MCP over HTTP, mounted under /mcp: the zone of a request, and its authorization.

The MCP SDK is loaded on the first request, so that a service without MCP clients starts faster
and uses less memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from recollect.mcp_server import ToolSets
from recollect.schemas.text_sanitising import replace_lone_surrogates_json
from recollect.service.http.problem_details import (
    MALFORMED,
    NOT_FOUND,
    WRONG_METHOD,
    Refused,
    not_found,
    unauthorized,
)
from recollect.service.http.service_log import ServiceLog
from recollect.service.http.service_middleware import principal_of
from recollect.service.principals import Principal
from recollect.service.query_service import QueryService
from recollect.streams.system.extras import needed

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

# The name of a set of tools, and whether only its read-only tools are served.
_Kind = tuple[str, bool]


class McpMount:
    """The application under /mcp; it answers while the context `running` is open.

    The first of `tool_sets` is the default.
    """

    def __init__(self, service: QueryService, log: ServiceLog, tool_sets: ToolSets) -> None:
        self._service = service
        self._log = log
        self._tool_sets = tool_sets
        self._managers: dict[_Kind, StreamableHTTPSessionManager] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._creating = asyncio.Lock()
        self._end = asyncio.Event()

    def route(self) -> ASGIRouteHandler:
        """Return the route to be mounted."""

        @asgi("/mcp", is_mount=True, copy_scope=False)
        async def mcp(scope: Scope, receive: Receive, send: Send) -> None:
            await self._answer(scope, receive, send)

        return mcp

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer until the block ends."""
        try:
            yield
        finally:
            self._end.set()
            await asyncio.gather(*self._tasks)

    async def _answer(self, scope: Any, receive: Receive, send: Send) -> None:
        scope["path_template"] = "/mcp/{zone}"
        if scope["method"] != "POST":
            # There are no sessions to read from or to end.
            raise Refused(WRONG_METHOD, "use POST", headers={"Allow": "POST"})
        principal = principal_of(scope)
        if principal is None:
            raise unauthorized()
        zone = scope["path"].strip("/") or _only_zone(principal)
        await self._check(principal, zone)
        manager = await self._manager(self._kind(scope["query_string"]))
        from recollect.service.mcp.mcp_sessions import PRINCIPAL, ZONE

        inner = {**scope, "path": "/", ZONE: zone, PRINCIPAL: principal}
        body = _CompleteBody(receive, self._service.settings.body_bytes)
        await manager.handle_request(inner, body, send)  # type: ignore[arg-type]

    async def _check(self, principal: Principal, zone: str) -> None:
        """Raise the same error for a missing zone and for a missing right.

        Raises:
            Refused: the zone has no events, or the principal has no right to it.
            InvalidInput: no zone can have this name.
        """
        rights = principal.rights(zone)
        if not rights:
            raise not_found()
        exists = await self._service.reading.run(lambda: self._service.recollect.holds(zone))
        # A zone may be missing, since its first memory creates it.
        if not exists and "write" not in rights:
            raise not_found()

    async def _manager(self, kind: _Kind) -> StreamableHTTPSessionManager:
        async with self._creating:
            if kind not in self._managers:
                manager = await asyncio.to_thread(self._create, kind)
                started = asyncio.Event()
                self._tasks.append(asyncio.create_task(self._run(manager, started)))
                await started.wait()
                self._managers[kind] = manager
        return self._managers[kind]

    def _create(self, kind: _Kind) -> StreamableHTTPSessionManager:
        with needed("mcp"):
            from recollect.service.mcp.mcp_sessions import session_manager

        tools, read_only = kind
        return session_manager(self._service, self._log, self._tool_sets[tools](), read_only)

    def _kind(self, query_string: bytes) -> _Kind:
        """Parse a request's parameters `tools` and `read_only`.

        Raises:
            Refused: there is no set of tools with this name, or a parameter is invalid.
        """
        names = list(self._tool_sets)
        chosen = dict(parse_qsl(query_string.decode("latin-1"), keep_blank_values=True))
        tools = chosen.pop("tools", names[0])
        read_only = chosen.pop("read_only", "false")
        if tools not in names or read_only not in _BOOLEANS or chosen:
            raise Refused(
                MALFORMED, f"the parameters are tools={'|'.join(names)} and read_only=true|false"
            )
        return tools, _BOOLEANS[read_only]

    async def _run(self, manager: StreamableHTTPSessionManager, started: asyncio.Event) -> None:
        async with manager.run():
            started.set()
            await self._end.wait()


class _CompleteBody:
    """Receives the entire body in one message, with lone surrogates replaced by U+FFFD.

    The SDK would reject a body for its lone surrogates. A body of more than `limit` bytes is not
    received to its end: it is passed on in parts, and the SDK rejects it.
    """

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._is_read = False

    async def __call__(self) -> Any:
        message: Any = await self._receive()
        if self._is_read or message["type"] != "http.request":
            return message
        body = bytearray(message.get("body", b""))
        while message.get("more_body") and len(body) <= self._limit:
            message = await self._receive()
            if message["type"] != "http.request":
                return message
            body += message.get("body", b"")
        self._is_read = True
        return {**message, "body": replace_lone_surrogates_json(bytes(body))}


def _only_zone(principal: Principal) -> str:
    """Return the zone of a request that names none.

    Raises:
        Refused: its token is for several zones.
    """
    zone = principal.only_zone
    if zone is None:
        raise Refused(NOT_FOUND, "the access token covers several zones; name one: /mcp/ZONE")
    return zone
