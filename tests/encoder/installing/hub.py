"""A model hub on this machine: real HTTP, and faults on request."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class LocalHub:
    """Serves directories as repositories: `/<repo>/resolve/<revision>/<file>`.

    `requests` lists the files asked for. `absent` answer 404, `broken` 503; `truncated` end after
    half their bytes; `altered` have another last byte; `slow` send their first half, then wait.
    """

    def __init__(self, repositories: dict[str, Path], *, commit: str = "0" * 40) -> None:
        self.repositories = repositories
        self.commit = commit
        self.requests: list[str] = []
        self.absent: set[str] = set()
        self.broken: set[str] = set()
        self.truncated: set[str] = set()
        self.altered: set[str] = set()
        self.slow: set[str] = set()
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                hub.answer(self)

            def log_message(self, format: str, *args: object) -> None:
                """Keep the test output clean."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    def __enter__(self) -> LocalHub:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        repo, _, rest = request.path.lstrip("/").partition("/resolve/")
        _, _, file = rest.partition("/")
        self.requests.append(rest)
        path = self.repositories.get(repo, Path("/nowhere")) / file
        if file in self.broken:
            request.send_error(503)
            return
        if file in self.absent or not path.is_file():
            request.send_error(404)
            return
        content = path.read_bytes()
        if file in self.altered:
            content = content[:-1] + bytes([content[-1] ^ 1])
        request.send_response(200)
        request.send_header("Content-Length", str(len(content)))
        request.send_header("X-Repo-Commit", self.commit)
        request.end_headers()
        half = len(content) // 2
        try:
            request.wfile.write(content[:half])
            if file in self.slow:
                request.wfile.flush()
                time.sleep(30)
            if file not in self.truncated:
                request.wfile.write(content[half:])
        except ConnectionError:
            # The client was killed, which is what a test may want.
            return
