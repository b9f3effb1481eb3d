"""The plugin's MCP server, started as a client starts it: for the service of the configuration."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client.stdio import StdioServerParameters

import recollect
from recollect.home.home_directory import Home
from tests.mcp_server.kit import MODES, agent
from tests.service.kit import Served, served

PLUGIN = Path(recollect.__file__).parent / "plugins" / "claude_code"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    Home.create_or_open(tmp_path / "home", without_encoder=True)
    with served(tmp_path / "home") as running:
        yield running


def server(**environment: str) -> StdioServerParameters:
    """Return how a client starts the plugin's server; python3 is the Python of the tests."""
    entry = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]["recollect"]
    assert entry["command"] == "python3"
    arguments = [one.replace("${CLAUDE_PLUGIN_ROOT}", str(PLUGIN)) for one in entry["args"]]
    return StdioServerParameters(
        command=sys.executable,
        args=["-I", *arguments],
        env={"PATH": os.environ["PATH"], **environment},
    )


def configured(path: Path, service: Served, zone: str = "a") -> str:
    """Write a configuration file for a service, and return its path."""
    token = service.client(zone).headers["authorization"].removeprefix("Bearer ")
    path.write_text(
        f'log_level = "info"\n\n[client] # of this machine\nurl = "{service.url}/"\n'
        f"token = '{token}'\nzone = \"{zone}\"\n\n[service]\nport = 1\n"
    )
    return str(path)


@pytest.mark.parametrize("mode", MODES)
def test_it_serves_the_zone_of_the_configuration(
    tmp_path: Path, service: Served, mode: str
) -> None:
    """FAULTS 16."""
    file = configured(tmp_path / "recollect.toml", service, "a.b-c")
    with agent(server(RECOLLECT_CONFIG=file), mode) as connected:
        assert "recall" in connected.tools()
        connected.call("retain", content="Ada lives in Turin – with Rex.")
        found = connected.call("recall", query="Where does Ada live?")
        assert "Turin" in found["results"][0]["text"]
        assert "Turin" in connected.read("memory://profile")
        assert "no argument" in connected.refused("recall", silly="x", query="?")


def test_the_configuration_of_a_home_counts(tmp_path: Path, service: Served) -> None:
    """FAULTS 16."""
    configured(tmp_path / "home" / "recollect.toml", service)
    with agent(server(RECOLLECT_HOME=str(tmp_path / "home"))) as connected:
        assert "recall" in connected.tools()


def test_the_environment_goes_before_the_configuration(tmp_path: Path, service: Served) -> None:
    """FAULTS 16."""
    file = configured(tmp_path / "recollect.toml", service)
    token = service.client("b").headers["authorization"].removeprefix("Bearer ")
    with agent(
        server(RECOLLECT_CONFIG=file, RECOLLECT_ZONE="b", RECOLLECT_TOKEN=token)
    ) as connected:
        connected.call("retain", content="Ada lives in Turin.")
    with service.client("b") as client:
        assert client.get("/v1/zones/b/memories").json()["memories"]


def ask(line: bytes, **environment: str) -> Any:
    """Return the one answer to a line, from a server that ends with its input."""
    started = server(**environment)
    done = subprocess.run(
        [started.command, *started.args],
        input=line,
        capture_output=True,
        env=started.env,
        timeout=30,
        check=True,
    )
    (answer,) = done.stdout.splitlines()
    return json.loads(answer)


CALL = b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list"}\n'


def test_a_service_that_is_down_is_named() -> None:
    answer = ask(CALL, RECOLLECT_URL="http://127.0.0.1:9")
    assert (answer["id"], answer["error"]["code"]) == (7, -32603)
    assert "http://127.0.0.1:9" in answer["error"]["message"]
    assert "recollect serve" in answer["error"]["message"]


def test_a_wrong_token_is_named(service: Served) -> None:
    answer = ask(CALL, RECOLLECT_URL=service.url, RECOLLECT_TOKEN="rct_1_wrong")
    assert "401" in answer["error"]["message"]


@pytest.mark.parametrize(("line", "code"), [(b"{oops\n", -32700), (b"[]\n", -32600)])
def test_a_malformed_message_is_answered(service: Served, line: bytes, code: int) -> None:
    """FAULTS 17."""
    answer = ask(line, RECOLLECT_URL=service.url)
    assert (answer["id"], answer["error"]["code"]) == (None, code)


def test_a_notification_has_no_answer(service: Served) -> None:
    notice = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
    token = service.client().headers["authorization"].removeprefix("Bearer ")
    answer = ask(
        notice + CALL, RECOLLECT_URL=service.url, RECOLLECT_TOKEN=token, RECOLLECT_ZONE="a"
    )
    assert answer["id"] == 7
    assert answer["result"]["tools"]


def test_an_interrupt_ends_it() -> None:
    """FAULTS 17."""
    started = server(RECOLLECT_URL="http://127.0.0.1:9")
    running = subprocess.Popen(
        [started.command, *started.args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=started.env,
    )
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdin.write(CALL)
    running.stdin.flush()
    assert running.stdout.readline()
    running.send_signal(signal.SIGINT)
    assert running.wait(30) == 130
    running.stdin.close()
    running.stdout.close()


def test_a_configuration_is_read_without_a_parser_of_toml(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAULTS 16: Python 3.10 has none."""
    import importlib

    monkeypatch.syspath_prepend(str(PLUGIN / "hooks"))
    client = importlib.import_module("plugin_service")
    (tmp_path / "recollect.toml").write_text(
        "zone = 'other'\n[service]\nurl = \"x\"\n[ client ]  # ours\n"
        'url = "http://h:1/"  # here\ntoken=\'a"b\'\nzone = "a \\"b\\" \\u00e9"\nnumber = 5\n'
        "[kafka]\nzone = 'z'\n"
    )
    for name in ("URL", "TOKEN", "ZONE"):
        monkeypatch.delenv(f"RECOLLECT_{name}", raising=False)
    monkeypatch.setenv("RECOLLECT_CONFIG", str(tmp_path / "recollect.toml"))
    expected = ("http://h:1", 'a "b" é', 'a"b')
    assert tuple(client.configured_service()) == expected
    monkeypatch.setitem(sys.modules, "tomllib", None)
    assert tuple(client.configured_service()) == expected
