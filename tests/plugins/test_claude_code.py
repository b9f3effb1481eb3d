"""The plugin for Claude Code: its hooks with payloads of the documentation, and its files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.plugins.kit import PLUGIN, hook_command

BLOCK = "<memory_context>\nRemembered.\n[8 May 2026 Ada] I live in Turin.\n</memory_context>"


class Service:
    """A service that notes what it is asked, and answers what it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None, dict[str, Any]]] = []
        self.answer: bytes = json.dumps({"block": BLOCK, "items": [], "tokens": 9}).encode()
        self.status = 200
        self.go_on = threading.Event()
        self.go_on.set()
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                service.asked.append((self.path, self.headers.get("Authorization"), body))
                service.go_on.wait(60)
                self.send_response(service.status)
                self.end_headers()
                self.wfile.write(service.answer)

            def log_message(self, *given: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def service() -> Iterator[Service]:
    made = Service()
    yield made
    made.go_on.set()
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where the hook keeps its positions."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "recollect" / "claude_code"


def environment(url: str) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", ""),
        "XDG_STATE_HOME": os.environ["XDG_STATE_HOME"],
        "RECOLLECT_URL": url,
        "RECOLLECT_TOKEN": "rct_1_s",
        "RECOLLECT_ZONE": "ada",
        "http_proxy": "http://127.0.0.1:9",
    }


def hook(payload: object, url: str, *, patient: bool = True) -> str:
    """Return what the hook prints on a payload; it must end well, and say nothing else."""
    text = payload if isinstance(payload, str) else json.dumps(payload)
    done = subprocess.run(
        hook_command(patient=patient),
        input=text,
        capture_output=True,
        text=True,
        env=environment(url),
        timeout=50,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def prompt(text: str) -> dict[str, Any]:
    """Return the payload of UserPromptSubmit, as the documentation has it."""
    return {
        "session_id": "abc123",
        "transcript_path": "/nowhere/transcript.jsonl",
        "cwd": "/work/boat",
        "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit",
        "prompt": text,
    }


def test_what_is_remembered_comes_before_a_prompt(service: Service) -> None:
    printed = json.loads(hook(prompt("Where do I live?"), service.url))
    assert printed == {
        "hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": BLOCK}
    }
    assert service.asked == [
        (
            "/v1/zones/ada/context",
            "Bearer rct_1_s",
            {"task": "Where do I live?", "max_tokens": 500},
        )
    ]


def test_a_session_begins_with_what_is_remembered_of_the_project(service: Service) -> None:
    payload = {**prompt(""), "hook_event_name": "SessionStart", "source": "startup"}
    printed = json.loads(hook(payload, service.url))
    assert printed["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    ((_, _, body),) = service.asked
    assert "boat" in body["task"]


def test_nothing_is_printed_where_nothing_is_relevant(service: Service) -> None:
    service.answer = json.dumps({"block": "", "items": [], "tokens": 0}).encode()
    assert hook(prompt("Tell a joke."), service.url) == ""


@pytest.mark.parametrize("wrong", ["", "no json", "[]", '{"hook_event_name": "Else"}', "null"])
def test_a_payload_that_is_none_is_passed_over(service: Service, wrong: str) -> None:
    assert hook(wrong, service.url) == ""
    assert service.asked == []


def test_a_service_that_fails_is_passed_over(service: Service) -> None:
    service.status = 500
    assert hook(prompt("Where do I live?"), service.url) == ""
    service.status, service.answer = 200, b"<html>"
    assert hook(prompt("Where do I live?"), service.url) == ""
    assert hook(prompt("Where do I live?"), "http://127.0.0.1:9") == ""
    assert hook(prompt("Where do I live?"), "file:///etc/passwd") == ""


def test_a_service_that_does_not_answer_is_not_waited_for(service: Service) -> None:
    service.go_on.clear()
    assert hook(prompt("Where do I live?"), service.url, patient=False) == ""


def line(role: str, uuid: str, content: object, **fields: Any) -> str:
    entry = {
        "type": role,
        "uuid": uuid,
        "sessionId": "abc123",
        "timestamp": "2026-05-08T13:56:00.000Z",
        "message": {"role": role, "content": content},
        **fields,
    }
    return json.dumps(entry)


def test_what_was_said_is_sent_when_the_agent_stops_without_what_was_injected(
    service: Service, tmp_path: Path
) -> None:
    service.answer = b"{}"
    transcript = tmp_path / "transcript.jsonl"
    lines = [
        line("user", "u0", "An earlier prompt."),
        line("assistant", "a0", [{"type": "text", "text": "An earlier answer."}]),
        line("user", "u1", f"{BLOCK}\nI moved to Oslo.<system-reminder>x</system-reminder>"),
        line("user", "m1", "Caveat: not said.", isMeta=True),
        line("assistant", "s1", [{"type": "text", "text": "Of a helper."}], isSidechain=True),
        line("assistant", "a1", [{"type": "tool_use", "id": "t", "name": "Read", "input": {}}]),
        line("user", "r1", [{"type": "tool_result", "tool_use_id": "t", "content": "secret"}]),
        line("assistant", "a2", [{"type": "text", "text": f"Noted.\n{BLOCK}"}]),
        '{"cut off',
    ]
    transcript.write_text("\n".join(lines))
    payload = {
        "session_id": "abc123",
        "transcript_path": str(transcript),
        "hook_event_name": "Stop",
        "stop_hook_active": False,
    }
    assert hook(payload, service.url) == ""
    ((path, _, body),) = service.asked
    assert path == "/v1/zones/ada/events"
    said = [(event["id"], event["direction"], event["content"]) for event in body["events"]]
    assert said == [
        ("u0", "in", "An earlier prompt."),
        ("a0", "out", "An earlier answer."),
        ("u1", "in", "I moved to Oslo."),
        ("a2", "out", "Noted."),
    ]


def test_its_files_are_those_that_the_client_reads() -> None:
    about = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    assert about["name"] == "recollect"
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "Stop"}
    for (group,) in hooks.values():
        (command,) = group["hooks"]
        assert "${CLAUDE_PLUGIN_ROOT}/hooks/memory_hook.py" in command["command"]
        assert command["timeout"] == 2
    server = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]["recollect"]
    (script,) = server["args"]
    assert Path(script.replace("${CLAUDE_PLUGIN_ROOT}", str(PLUGIN))).is_file()


@pytest.mark.parametrize("skill", ["memory-search", "memory-reflect"])
def test_a_skill_names_tools_that_there_are(skill: str) -> None:
    from recollect.mcp_server.recollect_tools import recollect_tools

    text = (PLUGIN / "skills" / skill / "SKILL.md").read_text()
    assert re.match(rf"---\nname: {skill}\ndescription: .+\n---\n", text)
    names = {tool.name for tool in recollect_tools()}
    used = set(re.findall(r"`(recall|why|reflect|\w+_mental_model)\b", text))
    assert used
    assert used <= names


def test_searching_goes_from_reports_to_facts() -> None:
    text = (PLUGIN / "skills" / "memory-search" / "SKILL.md").read_text()
    order = [text.index(f'"{scope}"') for scope in ("mental_models", "observations", "facts")]
    assert order == sorted(order)
