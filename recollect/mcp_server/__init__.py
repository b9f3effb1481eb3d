"""The Model Context Protocol: a zone's memory as tools, resources and a prompt for agents.

Tools of other packages are made of the names that are imported from here. `create_app` takes sets
of them as `tool_sets`, and `serve_stdio` one as `tools`.
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

#: Sets of tools by their names; each is loaded when somebody asks for it.
ToolSets: TypeAlias = "Mapping[str, Callable[[], Sequence[MemoryTool]]]"

#: Where a memory can be read as a resource, by its id.
MEMORY_URI = "memory://memories/"


def _own() -> Sequence[MemoryTool]:
    from recollect.mcp_server.recollect_tools import recollect_tools

    return recollect_tools()


#: recollect's own set alone.
OWN_TOOL_SETS: ToolSets = {"recollect": _own}


def __getattr__(name: str) -> object:
    # The protocol's SDK is loaded with what needs it.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module("recollect.mcp_server.memory_tool"), name)
    return value
