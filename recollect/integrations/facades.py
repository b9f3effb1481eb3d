"""The HTTP routes and MCP tool sets for clients of other products.

Entry points pass them to `create_app(extra_routes=routers(), tool_sets=TOOL_SETS)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.mcp_server import OWN_TOOL_SETS

if TYPE_CHECKING:
    from litestar import Router

    from recollect.mcp_server import MemoryTool, ToolSets


def routers() -> tuple[Router, ...]:
    """Return the routes that the clients of Mem0, Hindsight and Nexus call."""
    from recollect.integrations.hindsight import hindsight_routes
    from recollect.integrations.mem0 import mem0_routes
    from recollect.integrations.nexus import nexus_routes

    return (*mem0_routes.ROUTERS, *hindsight_routes.ROUTERS, *nexus_routes.ROUTERS)


def _mem0() -> tuple[MemoryTool, ...]:
    from recollect.integrations.mem0.mem0_tools import MEM0_TOOLS

    return MEM0_TOOLS


def _chatgpt() -> tuple[MemoryTool, ...]:
    from recollect.integrations.chatgpt_tools import CHATGPT_TOOLS

    return CHATGPT_TOOLS


#: The MCP tool sets by name: recollect's own, and those with the tools of other products.
TOOL_SETS: ToolSets = {**OWN_TOOL_SETS, "mem0": _mem0, "chatgpt": _chatgpt}
