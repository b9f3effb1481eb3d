"""Clients that send a byte now and then for ever: they are let go, and others are served."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.home.access_tokens import AccessTokens
from tests.library.kit import said
from tests.service.kit import Served, served

EACH = 13
# In seconds; as long as the service waits is `request_seconds`.
BETWEEN_BYTES = 0.1


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("slow") / "home", request_seconds=2) as found:
        yield found


def trickle(url: str, beginning: bytes, endless: bytes) -> bytes:
    """Send a beginning, then a byte now and then, until the service hangs up; return its answer."""
    host, port = url.removeprefix("http://").split(":")
    answer = b""
    with socket.create_connection((host, int(port)), timeout=BETWEEN_BYTES) as place:
        place.sendall(beginning)
        while True:
            try:
                if not (part := place.recv(65_536)):
                    return answer
                answer += part
            except TimeoutError:
                try:
                    place.sendall(endless)
                except OSError:
                    return answer
            except ConnectionResetError:
                return answer


@pytest.mark.slow
def test_fifty_that_trickle_are_let_go_and_others_are_served(service: Served) -> None:
    token = AccessTokens(service.home).create(("a",), ("read", "write")).token
    head = (
        f"POST /v1/zones/a/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        "Transfer-Encoding: chunked\r\nContent-Type: "
    ).encode()
    alive = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
    ways = {
        "nothing at all": (b"", b""),
        "a head": (b"GET /version HTTP/1.1\r\nHost: localhost\r\nX-Long: ", b"x"),
        "the head of a second request": (alive + b"GET /version HTTP/1.1\r\nX-Long: ", b"x"),
        "a body": (head + b"application/json\r\n\r\n", b"1\r\n \r\n"),
        "a line": (head + b"application/x-ndjson\r\n\r\n", b"1\r\n \r\n"),
    }
    answers: list[tuple[str, bytes]] = []

    def one(way: str) -> None:
        answers.append((way, trickle(service.url, *ways[way])))

    threads = [
        threading.Thread(target=one, args=(way,), daemon=True) for way in ways for _ in range(EACH)
    ]
    for thread in threads:
        thread.start()
    served_meanwhile = 0
    with service.bare() as client:
        while any(thread.is_alive() for thread in threads):
            assert client.get("/version").status_code == 200
            served_meanwhile += 1
    assert served_meanwhile
    assert len(answers) == EACH * len(ways)
    for way, answer in answers:
        if way in ("a body", "a line"):
            assert b"timed-out" in answer, way
        else:
            assert answer.count(b"HTTP/1.1 ") == (1 if "second" in way else 0), way


def test_whole_lines_that_come_slowly_are_all_taken(service: Served, tmp_path: Path) -> None:
    """For longer than a single one is waited for."""

    def lines() -> Iterator[bytes]:
        for number in range(10):
            threading.Event().wait(0.3)
            yield json.dumps(said(f"s{number}", f"Slowly {number}.")).encode() + b"\n"

    with service.client("slow") as client:
        sent = client.post(
            "/v1/zones/slow/events",
            content=lines(),
            headers={"Content-Type": "application/x-ndjson"},
        )
    assert sent.json()["new"] == 10
