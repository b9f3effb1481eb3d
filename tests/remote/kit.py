"""Test kit for the remote client: connections that are cut, and scripted services."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from recollect import Recollect
from recollect.home.access_tokens import AccessTokens
from tests.service.kit import EVERYTHING, Served

#: Status, headers and body.
Answer = tuple[int, dict[str, str], bytes]


def client(service: Served, *zones: str, url: str | None = None) -> Recollect:
    """Return the library over a service, with every right to some zones; to all by default."""
    token = AccessTokens(service.home).create(zones or ("*",), EVERYTHING).token
    return Recollect(url or service.url, token=token)


@contextmanager
def cut_line(
    url: str, *, after_sent: int | None = None, before_answer: bool = False
) -> Iterator[str]:
    """Yield an address that leads to another; its first connection is cut.

    `after_sent`: once the client has sent so many bytes. `before_answer`: once the service has
    answered, of which the client gets nothing.
    """
    host, port = url.removeprefix("http://").split(":")
    place = socket.create_server(("127.0.0.1", 0))
    cuts = [True]

    def forward(client_side: socket.socket, cut: bool) -> None:
        there = socket.create_connection((host, int(port)))

        def back() -> None:
            with suppress(OSError):
                while said := there.recv(65_536):
                    if cut and before_answer:
                        break
                    client_side.sendall(said)
            _end(client_side, there)

        threading.Thread(target=back, daemon=True).start()
        sent = 0
        with suppress(OSError):
            while said := client_side.recv(65_536):
                there.sendall(said)
                sent += len(said)
                if cut and after_sent is not None and sent >= after_sent:
                    break
        _end(client_side, there)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client_side, _ = place.accept()
                cut = cuts.pop() if cuts else False
                threading.Thread(target=forward, args=(client_side, cut), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{place.getsockname()[1]}"
    finally:
        place.close()


def _end(*sides: socket.socket) -> None:
    for side in sides:
        with suppress(OSError):
            side.shutdown(socket.SHUT_RDWR)
        side.close()


class Scripted:
    """A server with scripted answers, which records its requests."""

    def __init__(self, url: str) -> None:
        self.url = url
        #: Method, path, key and body of each request.
        self.asked: list[tuple[str, str, str | None, bytes]] = []


@contextmanager
def scripted(*answers: Answer) -> Iterator[Scripted]:
    """Serve these answers (status, headers, body) one after the other; the last one for ever."""
    left: list[Answer] = list(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _say(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            found.asked.append((self.command, self.path, self.headers.get("idempotency-key"), body))
            status, headers, said = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        do_GET = do_POST = do_PATCH = do_DELETE = _say

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Scripted(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)


def free_port() -> int:
    """Return a port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as place:
        port: int = place.getsockname()[1]
    return port
