"""The Model Context Protocol: a zone's memory as tools, resources and a prompt for agents.

Other packages define their tools with the names exported here. `create_app` takes sets of tools as
`tool_sets`, and `serve_stdio` takes one as `tools`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from recollect.mcp_server.memory_tool import (
        FORGET,
        LONG_TEXT,
        READ,
        WRITE,
        Access,
        MemoryTool,
    )

__all__ = [
    "FORGET",
    "LONG_TEXT",
    "MEMORY_URI",
    "OWN_TOOL_SETS",
    "READ",
    "WRITE",
    "Access",
    "MemoryTool",
    "ToolSets",
]

#: Tool sets by name, loaded on demand.
ToolSets: TypeAlias = "Mapping[str, Callable[[], Sequence[MemoryTool]]]"

#: The prefix of a memory's resource URI; its id follows.
MEMORY_URI = "memory://memories/"


def _own() -> Sequence[MemoryTool]:
    from recollect.mcp_server.recollect_tools import recollect_tools

    return recollect_tools()


def _learning() -> Sequence[MemoryTool]:
    from recollect.mcp_server.recollect_tools import recollect_tools

    return recollect_tools("learning")


#: The default tool set, and a small one for agents that only learn from their own runs.
OWN_TOOL_SETS: ToolSets = {"recollect": _own, "learning": _learning}


def __getattr__(name: str) -> object:
    # Loaded on first use, since these names load the protocol's SDK.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module("recollect.mcp_server.memory_tool"), name)
    return value
