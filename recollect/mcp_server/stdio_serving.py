"""Serving a zone over standard input and output to the client that started this process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Self

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
_CANCELLED = "notifications/cancelled"


def serve_stdio(
    recollect: Recollect, zone: str, *, tools: Sequence[MemoryTool], read_only: bool = False
) -> None:
    """Serve a zone of an open home or service until the client closes standard input.

    Requests received before that are still answered. Standard output is reserved for the protocol;
    anything else printed meanwhile goes to standard error. SIGINT makes the function return.
    """
    server = create_server(for_zone(recollect.zone(zone)), tools=tools, read_only=read_only)

    async def serve() -> None:
        messages = _Messages(sys.stdin.fileno())
        async with stdio_server(stdin=messages) as (requests, answers):  # type: ignore[arg-type]
            messages.answers = answers
            await server.run(
                requests, _Answers(answers, messages), server.create_initialization_options()
            )

    anyio.run(serve)


class _Messages:
    """The messages of a client, one per line. Invalid lines are answered with an error.

    A separate thread reads them, so that an interrupt is not delayed until the next input.
    """

    def __init__(self, descriptor: int) -> None:
        self.answers: Any = None
        self._unanswered: Counter[types.RequestId | None] = Counter()
        self._all_answered = asyncio.Event()
        self._all_answered.set()
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
            if isinstance(checked, _Malformed):
                await self.answers.send(SessionMessage(_error(checked)))
                continue
            if checked.request_id is not None:
                self._unanswered[checked.request_id] += 1
                self._all_answered.clear()
            if checked.cancelled_id is not None:
                self.mark_answered(checked.cancelled_id)
            return checked.text
        # At the end of the messages the server would drop its open requests.
        await self._all_answered.wait()
        raise StopAsyncIteration

    def mark_answered(self, request_id: types.RequestId | None) -> None:
        """Note that a request needs no further answer."""
        if self._unanswered[request_id] <= 1:
            del self._unanswered[request_id]
        else:
            self._unanswered[request_id] -= 1
        if not self._unanswered:
            self._all_answered.set()

    def _read(self) -> None:
        # RuntimeError: the server was interrupted, and its loop is closed.
        with suppress(RuntimeError):
            for line in _lines(self._descriptor):
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)


class _Answers:
    """The stream of the server's messages; it tells `_Messages` which requests are answered."""

    def __init__(self, stream: Any, messages: _Messages) -> None:
        self._stream = stream
        self._messages = messages

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message to the client."""
        await self._stream.send(item)
        message = item.message
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._messages.mark_answered(message.id)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.aclose()


class _Checked(NamedTuple):
    """A message: its text, the id of a request, and the id that a cancellation is about."""

    text: str
    request_id: types.RequestId | None
    cancelled_id: types.RequestId | None


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


def _check_line(line: bytes) -> _Checked | _Malformed:
    """Return the message in a line, with U+FFFD for invalid UTF-8, or the line's error."""
    text = replace_lone_surrogates_json(line).decode(errors="replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _Malformed(None, types.PARSE_ERROR, f"Parse error: {error}")
    try:
        message = types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValidationError:
        id = value.get("id") if isinstance(value, dict) else None
        known = id if isinstance(id, str | int) and not isinstance(id, bool) else None
        return _Malformed(
            known, types.INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message"
        )
    if isinstance(message, types.JSONRPCNotification) and "id" in value:
        # The SDK ignores such an id, so that the client would wait for an answer.
        return _Malformed(
            None, types.INVALID_REQUEST, "Invalid request: its id is not a string or an integer"
        )
    request_id = message.id if isinstance(message, types.JSONRPCRequest) else None
    cancelled_id = None
    if isinstance(message, types.JSONRPCNotification) and message.method == _CANCELLED:
        id = (message.params or {}).get("requestId")
        cancelled_id = id if isinstance(id, str | int) else None
    return _Checked(text, request_id, cancelled_id)


def _error(found: _Malformed) -> types.JSONRPCError:
    data = types.ErrorData(code=found.code, message=found.message)
    return types.JSONRPCError(jsonrpc="2.0", id=found.id, error=data)
