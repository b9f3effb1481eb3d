"""A language model from a script: OpenAI's protocol on a real socket, without a model.

A script gets the body of each question, and says what is answered. It sees what a model would see
and nothing else: the messages with the results of the tools, and the tools.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass
class Reply:
    """What goes over the wire: a status, headers, bytes, and how slowly they come."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    #: Seconds before the head is sent, and between the bytes of the body.
    delay: float = 0.0
    drip: float = 0.0
    #: So many bytes less than announced are sent.
    cut: int = 0


Script = Callable[[Body], Reply]


def say(
    text: str = "",
    *calls: tuple[str, Any],
    tokens: tuple[int, int] = (100, 20),
    finish: str | None = None,
) -> Reply:
    """Return a chat completion with words and calls of tools (name, arguments)."""
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{place}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": given if isinstance(given, str) else json.dumps(given),
                },
            }
            for place, (name, given) in enumerate(calls)
        ]
    usual = "tool_calls" if calls else "stop"
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish or usual}],
        "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]},
    }
    return Reply(json.dumps(answer).encode())


class ModelServer:
    """The server; `questions` are the bodies that came, `keys` the keys that they carried."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.questions: list[Body] = []
        self.keys: list[str | None] = []
        #: The most questions that were under way at once.
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer._answer(self, body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def _answer(self, handler: BaseHTTPRequestHandler, body: Body) -> None:
        with self._lock:
            self.questions.append(body)
            self.keys.append(handler.headers.get("Authorization"))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            reply = self.script(body)
            time.sleep(reply.delay)
        finally:
            with self._lock:
                self._at_once -= 1
        try:
            handler.send_response(reply.status)
            for name, value in reply.headers.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(reply.body)))
            handler.end_headers()
            sent = reply.body[: len(reply.body) - reply.cut]
            if reply.drip:
                for place in range(len(sent)):
                    handler.wfile.write(sent[place : place + 1])
                    handler.wfile.flush()
                    time.sleep(reply.drip)
            else:
                handler.wfile.write(sent)
            if reply.cut:
                handler.close_connection = True
        except OSError:
            # Who asked has gone.
            handler.close_connection = True

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextmanager
def model_server(script: Script) -> Iterator[ModelServer]:
    """Run a server for as long as it is needed."""
    server = ModelServer(script)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def in_turn(*replies: Reply) -> Script:
    """Return a script that gives these replies one after the other, and the last for ever."""
    left = list(replies)
    lock = threading.Lock()

    def script(_: Body) -> Reply:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return script
