"""Serving a zone over standard input and output, to the one client that started the process."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
from mcp.server.stdio import stdio_server

from recollect.library.library_home import Recollect
from recollect.mcp_server.memory_server import create_server, for_zone
from recollect.mcp_server.memory_tool import MemoryTool


def serve_stdio(
    recollect: Recollect, zone: str, *, tools: Sequence[MemoryTool], read_only: bool = False
) -> None:
    """Serve a zone of an open home or service until the client closes standard input.

    Standard output is the protocol's alone: meanwhile all else that is printed goes to standard
    error.
    """
    server = create_server(for_zone(recollect.zone(zone)), tools=tools, read_only=read_only)

    async def serve() -> None:
        async with stdio_server() as (requests, answers):
            await server.run(requests, answers, server.create_initialization_options())

    anyio.run(serve)
