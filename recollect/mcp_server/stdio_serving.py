"""Serving a zone over standard input and output to the client that started this process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from recollect.library.library_home import Recollect
from recollect.mcp_server.memory_server import create_server, for_zone
from recollect.mcp_server.memory_tool import MemoryTool
from recollect.schemas.text_sanitising import replace_lone_surrogates_json

_CHUNK_BYTES = 1 << 16


def serve_stdio(
    recollect: Recollect, zone: str, *, tools: Sequence[MemoryTool], read_only: bool = False
) -> None:
    """Serve a zone of an open home or service until the client closes standard input.

    Standard output is reserved for the protocol; anything else printed meanwhile goes to standard
    error. SIGINT makes the function return.
    """
    server = create_server(for_zone(recollect.zone(zone)), tools=tools, read_only=read_only)

    async def serve() -> None:
        messages = _Messages(sys.stdin.fileno())
        async with stdio_server(stdin=messages) as (requests, answers):  # type: ignore[arg-type]
            messages.answers = answers
            await server.run(requests, answers, server.create_initialization_options())

    anyio.run(serve)


class _Messages:
    """The messages of a client, one per line. Invalid lines are answered with an error.

    A separate thread reads them, so that an interrupt is not delayed until the next input.
    """

    def __init__(self, descriptor: int) -> None:
        self.answers: Any = None
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._descriptor = os.dup(descriptor)
        # Child processes must not read this process's input.
        devnull = os.open(os.devnull, os.O_RDONLY)
        os.dup2(devnull, descriptor)
        os.close(devnull)
        threading.Thread(target=self._read, name="mcp-stdin", daemon=True).start()

    def __aiter__(self) -> _Messages:
        return self

    async def __anext__(self) -> str:
        while (line := await self._lines.get()) is not None:
            if not line.strip():
                continue
            checked = _check_line(line)
            if isinstance(checked, str):
                return checked
            await self.answers.send(SessionMessage(_error(checked)))
        raise StopAsyncIteration

    def _read(self) -> None:
        for line in _lines(self._descriptor):
            self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
        self._loop.call_soon_threadsafe(self._lines.put_nowait, None)


class _Malformed(NamedTuple):
    """The error in a line, and the id of its request, if it has one."""

    id: types.RequestId | None
    code: int
    message: str


def _lines(descriptor: int) -> Iterator[bytes]:
    """Yield the lines of a file descriptor."""
    rest = bytearray()
    while chunk := os.read(descriptor, _CHUNK_BYTES):
        first, *others = chunk.split(b"\n")
        rest += first
        for part in others:
            yield bytes(rest)
            rest = bytearray(part)
    if rest:
        yield bytes(rest)


def _check_line(line: bytes) -> str | _Malformed:
    """Return the message in a line, with U+FFFD for invalid UTF-8, or the line's error."""
    text = replace_lone_surrogates_json(line).decode(errors="replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _Malformed(None, types.PARSE_ERROR, f"Parse error: {error}")
    try:
        types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError:
        id = value.get("id") if isinstance(value, dict) else None
        known = id if isinstance(id, str | int) and not isinstance(id, bool) else None
        return _Malformed(
            known, types.INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message"
        )
    return text


def _error(found: _Malformed) -> types.JSONRPCError:
    data = types.ErrorData(code=found.code, message=found.message)
    return types.JSONRPCError(jsonrpc="2.0", id=found.id, error=data)
