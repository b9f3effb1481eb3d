"""MCP sessions on the service's thread pools: one SDK session manager per set of tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from recollect.library.library_zone import Zone
from recollect.mcp_server.memory_server import CallRunner, create_server
from recollect.mcp_server.memory_tool import Access, MemoryTool
from recollect.service.http.problem_details import FAILED, to_problem
from recollect.service.http.service_log import ServiceLog
from recollect.service.principals import Principal
from recollect.service.query_service import QueryService

T = TypeVar("T")

#: The keys of a request's zone and principal in its scope.
ZONE, PRINCIPAL = "recollect.mcp_zone", "recollect.mcp_principal"


class LaneCallRunner(CallRunner):
    """Runs tool calls on the thread pools of the service's other routes, within their limits."""

    def __init__(self, service: QueryService, log: ServiceLog) -> None:
        self._service = service
        self._log = log

    async def run(self, work: Callable[[], T], *, reads_only: bool) -> T:
        """Run `work` on a thread of its lane.

        Raises:
            Refused: too many calls are waiting, or the call timed out.
            StoredButUndecided: the call timed out after publishing something.
        """
        if not reads_only:
            return await self._service.run_writing(work)
        return await self._service.reading.run(work, self._service.settings.request_seconds)

    def drop_erased(self, zone: Zone) -> None:
        """Drop cached answers that may contain erased data of a zone."""
        self._service.calls.drop_answers(zone.name)

    def error_message(self, error: Exception) -> str:
        """Return the detail of the problem for an error, and log unexpected ones."""
        problem = to_problem(error)
        if problem.kind is FAILED:
            self._log.error("tool failed", error)
        return problem.detail


def session_manager(
    service: QueryService, log: ServiceLog, tools: Sequence[MemoryTool], read_only: bool
) -> StreamableHTTPSessionManager:
    """Return the stateless session manager of one set of tools."""
    server = create_server(
        lambda request: _access(service, request),
        tools=tools,
        read_only=read_only,
        calls=LaneCallRunner(service, log),
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
    return Access(
        service.zone_for(principal, zone), principal.rights(zone), principal.metadata(zone)
    )
