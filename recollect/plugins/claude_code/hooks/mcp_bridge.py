"""An MCP server over stdio that forwards each message to the service and returns its answer.

It is needed because a client's list of MCP servers can take a URL from the environment, but not
from recollect's configuration file; `plugin_service.py` reads both. Standard library only.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Optional
from urllib.error import HTTPError

if TYPE_CHECKING:
    from recollect.plugins.claude_code.hooks.plugin_service import Service, configured_service
    from recollect.plugins.claude_code.hooks.transcript_parser import dict_or_empty
else:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from plugin_service import configured_service
    from transcript_parser import dict_or_empty

# Error codes of JSON-RPC.
_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600
_INTERNAL_ERROR = -32603
# In seconds; the service times out earlier.
_TIMEOUT = 300.0
_MAX_CALLS = 8
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
# Method -> the parameter whose value is repeated in the header Mcp-Name.
_NAME_PARAMETERS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Bridge:
    """Forwards JSON-RPC messages to a service, and writes each answer to `output` as a line."""

    def __init__(self, service: Service, output: Any) -> None:
        self._service = service
        self._output = output
        self._writing = threading.Lock()
        # The protocol revision that the handshake agreed on. In later revisions of the protocol
        # there is no handshake, and each message names its revision.
        self._version: Optional[str] = None

    def forward(self, line: bytes) -> None:
        """Forward a message, and write its answer, if there is one."""
        try:
            message = json.loads(line.decode(errors="replace"))
        except (ValueError, RecursionError) as error:
            self._write(_error(None, _PARSE_ERROR, f"Parse error: {error}"))
            return
        if not isinstance(message, dict):
            self._write(_error(None, _INVALID_REQUEST, "a message is a JSON object"))
            return
        answer = self._answer(message)
        # A notification has no answer.
        if answer is not None and "id" in message:
            self._write(answer)

    def _answer(self, message: dict[str, Any]) -> Optional[dict[str, Any]]:
        identifier = message.get("id")
        try:
            body = self._service.post(
                f"/mcp/{self._service.zone_path}",
                json.dumps(message).encode(),
                _TIMEOUT,
                self._headers(message),
            )
            answer = json.loads(body) if body.strip() else None
        except HTTPError as error:
            return _rejection(identifier, error)
        except (OSError, ValueError) as error:
            return _error(
                identifier,
                _INTERNAL_ERROR,
                f"{self._service.url} does not answer ({error}); start it with recollect serve, or "
                "set client.url in recollect.toml",
            )
        if message.get("method") == "initialize":
            agreed = dict_or_empty(dict_or_empty(answer).get("result")).get("protocolVersion")
            self._version = agreed if isinstance(agreed, str) else None
        return answer if isinstance(answer, dict) else None

    def _headers(self, message: dict[str, Any]) -> dict[str, str]:
        headers = {"Accept": "application/json, text/event-stream"}
        parameters = dict_or_empty(message.get("params"))
        version = dict_or_empty(parameters.get("_meta")).get(_VERSION_KEY) or self._version
        method = message.get("method")
        if isinstance(version, str):
            headers["MCP-Protocol-Version"] = _header(version)
        if isinstance(method, str):
            headers["Mcp-Method"] = _header(method)
            name = parameters.get(_NAME_PARAMETERS.get(method, ""))
            if isinstance(name, str):
                headers["Mcp-Name"] = _header(name)
        return headers

    def _write(self, answer: dict[str, Any]) -> None:
        with self._writing:
            self._output.write(json.dumps(answer).encode() + b"\n")
            self._output.flush()


def main() -> None:
    """Serve until standard input is closed, or until an interrupt."""
    bridge = Bridge(configured_service(), sys.stdout.buffer)
    with ThreadPoolExecutor(_MAX_CALLS) as calls:
        try:
            for line in sys.stdin.buffer:
                if not line.strip():
                    continue
                if b'"initialize"' in line:
                    # Not in parallel, since later messages need the agreed protocol revision.
                    bridge.forward(line)
                else:
                    calls.submit(bridge.forward, line)
        except KeyboardInterrupt:
            os._exit(130)


def _rejection(identifier: object, error: HTTPError) -> dict[str, Any]:
    """Return the answer to a message that the service rejected with an HTTP error."""
    try:
        document = json.loads(error.read())
    except (OSError, ValueError):
        document = None
    problem = dict_or_empty(document)
    if "error" in problem:
        return dict(problem)
    detail = problem.get("detail") or error.reason
    return _error(identifier, _INTERNAL_ERROR, f"the service answered {error.code}: {detail}")


def _error(identifier: object, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": message}}


def _header(value: str) -> str:
    """Encode a value for an MCP header: in Base64 if it is not plain ASCII."""
    if value.isascii() and value.isprintable() and value == value.strip():
        return value
    return f"=?base64?{base64.b64encode(value.encode(errors='replace')).decode()}?="


if __name__ == "__main__":
    main()
