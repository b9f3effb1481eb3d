"""`recollect mcp` over standard input and output, message by message, without the SDK's client."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home import open_zone
from recollect.home.home_directory import Home
from recollect.mcp_server import memory_server
from tests.mcp_server.kit import TOOL_SETS, agent, command


class Server:
    """A running server, and its standard streams."""

    def __init__(self, home: Path) -> None:
        started = command(home, "mcp")
        self.process = subprocess.Popen(
            [started.command, *started.args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=started.env,
        )
        self.send(
            b'{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": '
            b'"2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}'
        )
        assert self.read()["id"] == 0
        self.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')

    def send(self, *lines: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def call(self, name: str, arguments: str) -> dict[str, Any]:
        """Return what a tool answers; the arguments are written as given."""
        self.send(
            b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "%b", '
            b'"arguments": %b}}' % (name.encode(), arguments.encode())
        )
        result: dict[str, Any] = self.read()["result"]
        return result


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    Home.create_or_open(tmp_path / "home", without_encoder=True)
    running = Server(tmp_path / "home")
    yield running
    running.process.kill()
    running.process.communicate()


def test_an_interrupt_ends_an_idle_server(server: Server) -> None:
    """FAULTS 17."""
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(30) == 130
    assert server.process.stderr is not None
    assert b"Traceback" not in server.process.stderr.read()


def test_a_client_that_goes_ends_it(server: Server) -> None:
    assert server.process.stdin is not None
    server.process.stdin.close()
    server.process.stdin = None
    assert server.process.wait(30) == 0


def test_what_was_asked_before_the_end_is_answered(server: Server) -> None:
    """As when a script pipes its requests in."""
    call = b'{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "%s", %s}}'
    server.send(
        call % (1, b"retain", b'"arguments": {"content": "I live in Turin."}'),
        call % (2, b"retain", b'"arguments": {"content": "%s"}' % (b"I live in Turin. " * 500)),
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": []}}',
        b'{"jsonrpc": "2.0", "id": "a", "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": "a", "method": "tools/list"}',
        b'{"jsonrpc": "2.0", "id": 4, "method": "no/such"}',
    )
    out, _ = server.process.communicate(timeout=60)
    answers = [json.loads(line) for line in out.splitlines()]
    assert sorted(str(answer["id"]) for answer in answers) == ["1", "4", "a", "a"]
    (retained,) = (answer for answer in answers if answer["id"] == 1)
    assert retained["result"]["structuredContent"]["status"] == "new"
    assert server.process.returncode == 0


MALFORMED = [
    (b"{oops", None, -32700),
    (b"{", None, -32700),
    (b"no", None, -32700),
    (b'{"a": "\xff', None, -32700),
    (b"[" * 100_000, None, -32700),
    (b"[]", None, -32600),
    (b"7", None, -32600),
    (b"{}", None, -32600),
    (b'{"id": 5}', 5, -32600),
    (b'{"jsonrpc": "1.0", "id": "a", "method": "ping"}', "a", -32600),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', None, -32600),
    (b'{"jsonrpc": "2.0", "id": [], "method": "ping"}', None, -32600),
]


def test_what_is_no_message_is_answered(server: Server) -> None:
    """FAULTS 17."""
    for line, id, code in MALFORMED:
        server.send(b"", line)
        answer = server.read()
        assert (answer["id"], answer["error"]["code"]) == (id, code), line
    server.send(b'{"jsonrpc": "2.0", "id": 9, "method": "ping"}')
    assert server.read() == {"jsonrpc": "2.0", "id": 9, "result": {}}


def test_half_a_character_becomes_a_replacement_character(server: Server) -> None:
    """FAULTS 17."""
    made = server.call("retain", r'{"content": "Ada waves \ud83d and smiles \ud83d\ude00."}')
    assert made["structuredContent"]["status"] == "new"
    (memory,) = server.call("list_memories", '{"scope": "events"}')["structuredContent"]["memories"]
    assert memory["text"] == "Ada waves \ufffd and smiles \U0001f600."
    found = server.call("recall", r'{"query": "Who waves \ud83d?"}')["structuredContent"]
    assert found["query"] == "Who waves \ufffd?"
    assert found["results"]


def test_a_retained_text_is_kept_though_deciding_it_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAULTS 17."""
    decide = open_zone.OpenZone.decide
    may_decide = threading.Event()

    def slow(zone: Any, *given: Any) -> Any:
        may_decide.wait(30)
        return decide(zone, *given)

    with Recollect(tmp_path / "home", encoder="none") as memory:
        zone = memory.zone("a")
        own = memory_server.create_server(
            memory_server.for_zone(zone), tools=TOOL_SETS["recollect"]
        )
        with agent(own) as connected:
            first = connected.call("retain", content="I live in Turin.")
            assert first["decided"]
            monkeypatch.setattr(memory_server, "WRITE_SECONDS", 0.05)
            monkeypatch.setattr(open_zone.OpenZone, "decide", slow)
            second = connected.call("retain", content="My dog is called Rex.")
            assert (second["status"], second["decided"]) == ("new", False)
            assert "do not send it again" in connected.refused(
                "create_mental_model", name="Dogs", description="Rex."
            )
            may_decide.set()
        zone.wait_for(second["token"], 30)
        assert any("Rex" in fact.text for fact in zone.facts())
