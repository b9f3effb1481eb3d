"""Anthropic's messages API on loopback, with a script in place of a model."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Block = dict[str, Any]


def text(words: str) -> Block:
    """Return a block of an answer that says something."""
    return {"type": "text", "text": words}


def tool_use(name: str, **arguments: Any) -> Block:
    """Return a block of an answer that calls a tool."""
    return {"type": "tool_use", "id": f"toolu_{name}", "name": name, "input": arguments}


class ScriptedClaude:
    """A model that gives one answer after the other, and keeps what it was asked."""

    def __init__(self, url: str, answers: Sequence[Block]) -> None:
        self.url = url
        self.requests: list[dict[str, Any]] = []
        self._answers = list(answers)
        self._numbers = itertools.count()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the next answer; one without tools is the client's own, and not of the script."""
        block = text("Fine.")
        if request.get("tools"):
            self.requests.append(request)
            if self._answers:
                block = self._answers.pop(0)
        return {
            "id": f"msg_{id(self):x}_{next(self._numbers)}",
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }


def events(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Return an answer as the events of a stream."""
    (block,) = answer["content"]
    yield {"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}}
    if block["type"] == "text":
        start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    else:
        start = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "content_block_start", "index": 0, "content_block": start}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ended = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": answer["usage"]}
    yield {"type": "message_stop"}


@contextmanager
def scripted_claude(*answers: Block) -> Iterator[ScriptedClaude]:
    """Serve a script on a free port until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if "count_tokens" in self.path:
                self._send("application/json", json.dumps({"input_tokens": 1}))
                return
            answer = model.answer(request)
            if request.get("stream"):
                lines = (
                    f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events(answer)
                )
                self._send("text/event-stream", "".join(lines))
            else:
                self._send("application/json", json.dumps(answer))

        def _send(self, media_type: str, body: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *given: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model = ScriptedClaude(f"http://127.0.0.1:{server.server_address[1]}", answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
