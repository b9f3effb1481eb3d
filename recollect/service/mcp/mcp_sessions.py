"""MCP on the service's own threads: one session manager of the SDK for each set of tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from recollect.library.library_zone import Zone
from recollect.mcp_server.memory_server import Calls, create_server
from recollect.mcp_server.memory_tool import Access, MemoryTool
from recollect.service.http.problem_details import FAILED, refusal
from recollect.service.http.service_log import ServiceLog
from recollect.service.principals import Principal
from recollect.service.query_service import QueryService

T = TypeVar("T")

#: Where in a request's scope the zone stands that it may use, and as whom.
ZONE, PRINCIPAL = "recollect.mcp_zone", "recollect.mcp_principal"


class LaneCalls(Calls):
    """Carries calls out on the threads that the service's other routes use, within their limits."""

    def __init__(self, service: QueryService, log: ServiceLog) -> None:
        self._service = service
        self._log = log

    async def run(self, work: Callable[[], T], *, reads_only: bool) -> T:
        """Return what `work` returns on a thread of its lane.

        Raises:
            Refused: too many wait already, or it took too long.
        """
        lane = self._service.reading if reads_only else self._service.writing
        return await lane.run(work, self._service.settings.request_seconds)

    def erased(self, zone: Zone) -> None:
        """Let go of answers that may hold what was erased in a zone."""
        self._service.calls.forget(zone.name)

    def told(self, error: Exception) -> str:
        """Return what any route of the service would say of an error."""
        refused = refusal(error)
        if refused.kind is FAILED:
            self._log.error("tool failed", error)
        return refused.detail


def session_manager(
    service: QueryService, log: ServiceLog, tools: Sequence[MemoryTool], read_only: bool
) -> StreamableHTTPSessionManager:
    """Return what answers the requests of one set of tools; it keeps nothing between them."""
    server = create_server(
        lambda request: _access(service, request),
        tools=tools,
        read_only=read_only,
        calls=LaneCalls(service, log),
    )
    return StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        max_request_body_size=service.settings.body_bytes,
    )


def _access(service: QueryService, request: Any) -> Access:
    zone: str = request.scope[ZONE]
    principal: Principal = request.scope[PRINCIPAL]
    return Access(service.recollect.zone(zone), principal.rights(zone), principal.mark(zone))
