"""A package index on this machine: real HTTP, pages as PEP 503 or PEP 691 has them."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class LocalIndex:
    """Serves wheels under /simple/NAME/; `requests`: paths that were asked for, in order."""

    def __init__(self, wheels: dict[str, bytes], *, as_json: bool, login: str | None) -> None:
        self.requests: list[str] = []
        #: The start of paths that answer 403.
        self.forbidden = "/nothing"
        #: What stands where its pages should; None: its pages.
        self.page: bytes | None = None
        index = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                index.requests.append(self.path)
                wanted = login and f"Basic {base64.b64encode(login.encode()).decode()}"
                if wanted and self.headers.get("Authorization") != wanted:
                    return self.give(401, "text/plain", b"who are you")
                if self.path.startswith(index.forbidden):
                    return self.give(403, "text/plain", b"not for you")
                name = self.path.rpartition("/")[2]
                if self.path == "/simple/some-model/":
                    kind, page = _json(wheels) if as_json else _html(wheels)
                    return self.give(200, kind, page if index.page is None else index.page)
                if self.path.startswith("/files/") and name in wheels:
                    return self.give(200, "application/octet-stream", wheels[name])
                return self.give(404, "text/plain", b"no such project")

            def give(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Keep the test output clean."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        who = f"{login}@" if login else ""
        self.url = f"http://{who}127.0.0.1:{self.server.server_port}/simple"


def _json(wheels: dict[str, bytes]) -> tuple[str, bytes]:
    files = [{"filename": name, "url": f"../../files/{name}", "hashes": {}} for name in wheels]
    page = {"meta": {"api-version": "1.0"}, "name": "some-model", "files": files}
    return "application/vnd.pypi.simple.v1+json", json.dumps(page).encode()


def _html(wheels: dict[str, bytes]) -> tuple[str, bytes]:
    links = "".join(f'<a href="../../files/{name}#sha256=0">{name}</a><br>' for name in wheels)
    return "text/html", f"<!DOCTYPE html><html><body>{links}</body></html>".encode()


@contextmanager
def local_index(
    wheels: dict[str, bytes], *, as_json: bool = True, login: str | None = None
) -> Iterator[LocalIndex]:
    """Give an index that serves until the block ends; `login`: user:password that it wants."""
    index = LocalIndex(wheels, as_json=as_json, login=login)
    thread = threading.Thread(target=index.server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield index
    finally:
        index.server.shutdown()
        index.server.server_close()
        thread.join()
