"""An agent: the SDK's own client, over a real process or in this one, called from plain tests."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent, Tool

from recollect.integrations import facades

ROOT = Path(__file__).resolve().parents[2]
#: The protocol with a handshake, and the one without.
MODES = ("legacy", "auto")
#: Every set of tools by its name.
TOOL_SETS = {name: tuple(load()) for name, load in facades.TOOL_SETS.items()}


class Agent:
    """A client that is connected."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
        self.client = client

    def do(self, method: str, *arguments: Any) -> Any:
        """Call a method of the SDK's client."""
        return self._portal.call(getattr(self.client, method), *arguments)

    def tools(self) -> dict[str, Tool]:
        """Return the tools by their names."""
        return {tool.name: tool for tool in self.do("list_tools").tools}

    def answer(self, name: str, arguments: dict[str, Any] | None = None) -> CallToolResult:
        """Return the result of a tool; it may be an error."""
        answer: CallToolResult = self.do("call_tool", name, arguments or {})
        return answer

    def call(self, name: str, /, **arguments: Any) -> Any:
        """Return the result of a tool, which must succeed and be the same as text and as data."""
        answer = self.answer(name, arguments)
        content = text_of(answer)
        assert not answer.is_error, content
        assert json.loads(content) == answer.structured_content
        return answer.structured_content

    def refused(self, name: str, /, **arguments: Any) -> str:
        """Return the error of a tool that must fail."""
        answer = self.answer(name, arguments)
        content = text_of(answer)
        assert answer.is_error, content
        assert "Traceback" not in content
        assert ".py" not in content
        return content

    def read(self, uri: str) -> str:
        """Return the text of a resource."""
        (held,) = self.do("read_resource", uri).contents
        return str(held.text)


def text_of(answer: CallToolResult) -> str:
    """Return the one text of an answer."""
    (content,) = answer.content
    assert isinstance(content, TextContent)
    return content.text


def command(home: Path, *options: str) -> StdioServerParameters:
    """Return how a client starts the server."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("RECOLLECT_")}
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "recollect", "--home", str(home), *options],
        env={**kept, "PYTHONPATH": str(ROOT)},
    )


@contextmanager
def agent(server: Any, mode: str = "auto") -> Iterator[Agent]:
    """Connect to a server: one of this process, or how one is started."""
    if isinstance(server, StdioServerParameters):
        server = stdio_client(server)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server, mode=mode)) as client,
    ):
        yield Agent(portal, client)
