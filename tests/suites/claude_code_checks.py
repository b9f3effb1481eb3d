"""Claude Code from npm, with our plugin or our MCP server, and a script in place of its model."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import recollect
from tests.suites.installed import NODE_MODULES, ROOT, node
from tests.suites.scripted_claude import ScriptedClaude, scripted_claude, text, tool_use

COMMAND = NODE_MODULES / "@anthropic-ai" / "claude-code" / "cli-wrapper.cjs"
PLUGIN = Path(recollect.__file__).parent / "plugins" / "claude_code"
OF_PLUGIN = "mcp__plugin_recollect_recollect__"
URL, TOKEN = os.environ["RECOLLECT_URL"], os.environ["RECOLLECT_TOKEN"]


@pytest.fixture
def zone(request: pytest.FixtureRequest) -> str:
    """Return a zone of the test's own."""
    return f"claude-{abs(hash(request.node.name)) % 10**9}"


def environment(place: Path, zone: str, model: str = "", url: str = URL) -> dict[str, str]:
    """Return what a new user's Claude Code sees; our Python is its python3."""
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(place),
        "XDG_STATE_HOME": str(place / "state"),
        "ANTHROPIC_BASE_URL": model,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        # Tools are then told to the model at once, not when it looks for them.
        "ENABLE_TOOL_SEARCH": "false",
        "RECOLLECT_URL": url,
        "RECOLLECT_TOKEN": TOKEN,
        "RECOLLECT_ZONE": zone,
    }


def claude(
    *arguments: str | Path, place: Path, own: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run Claude Code in a project."""
    project = place / "boat"
    project.mkdir(exist_ok=True)
    return subprocess.run(
        [node(), COMMAND, *arguments],
        cwd=project,
        env=own,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def say(
    words: str, model: ScriptedClaude, place: Path, zone: str, *more: str | Path, url: str = URL
) -> str:
    """Say something to Claude Code with the plugin, and return its answer."""
    told = ("--plugin-dir", PLUGIN, "--output-format", "json", *more)
    done = claude("-p", words, *told, place=place, own=environment(place, zone, model.url, url))
    assert done.returncode == 0, done.stdout + done.stderr
    answer: str = json.loads(done.stdout)["result"]
    return answer


def asked(path: str, **parameters: Any) -> Any:
    """Return what the service answers."""
    with httpx.Client(base_url=URL, headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        return client.get(path, params=parameters).raise_for_status().json()


def recorded(zone: str, count: int) -> list[tuple[str, str, str]]:
    """Return what was recorded, oldest first; the hook sends the end of it in the background."""
    until = time.monotonic() + 30
    while True:
        found = asked(f"/v1/zones/{zone}/memories", scope="events")["memories"]
        if len(found) >= count or time.monotonic() > until:
            return [(one["platform"], one["sender_id"], one["text"]) for one in reversed(found)]
        time.sleep(0.1)


def words_of(request: dict[str, Any]) -> str:
    """Return all text that a model was given."""
    return json.dumps(request["messages"]) + json.dumps(request.get("system", ""))


def test_the_plugin_is_valid(tmp_path: Path) -> None:
    done = claude("plugin", "validate", PLUGIN, place=tmp_path, own=environment(tmp_path, "z"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Validation passed" in done.stdout


def test_the_hook_records_both_sides(tmp_path: Path, zone: str) -> None:
    with scripted_claude(text("Turin is lovely.")) as model:
        assert say("I live in Turin.", model, tmp_path, zone) == "Turin is lovely."
    assert recorded(zone, 2) == [
        ("claude_code", "user", "I live in Turin."),
        ("claude_code", "assistant", "Turin is lovely."),
    ]


def test_what_was_said_is_injected_into_a_later_session(tmp_path: Path, zone: str) -> None:
    said, question = (
        "My boat Zephyr lies in the harbour of Turin.",
        "Where does my boat Zephyr lie?",
    )
    with scripted_claude(text("Noted."), text("In Turin.")) as model:
        say(said, model, tmp_path, zone)
        recorded(zone, 2)
        say(question, model, tmp_path, zone)
        first, second = map(words_of, model.requests)
    assert "<memory_context>" not in first
    assert re.search(r"<memory_context>.*harbour of Turin\..*</memory_context>", second)
    # What was injected is not recorded as said.
    assert [one for _, _, one in recorded(zone, 4)] == [said, "Noted.", question, "In Turin."]


def test_the_tools_are_listed(tmp_path: Path, zone: str) -> None:
    with scripted_claude() as model:
        say("Hello.", model, tmp_path, zone)
    tools = {one["name"]: one for one in model.requests[0]["tools"]}
    page = (ROOT / "docs" / "mcp.md").read_text()
    named = page[page.index("`--tools recollect`") : page.index("`--tools mem0`")]
    documented = set(re.findall(r"^\| `(\w+)` \|", named, re.MULTILINE)) - {"tool"}
    ours = {name.removeprefix(OF_PLUGIN) for name in tools if name.startswith(OF_PLUGIN)}
    assert "recall" in ours
    assert ours == documented
    assert tools[f"{OF_PLUGIN}recall"]["input_schema"]["required"] == ["query"]


def test_a_tool_is_called(tmp_path: Path, zone: str) -> None:
    retain = tool_use(f"{OF_PLUGIN}retain", content="Ada lives in Turin.")
    recall = tool_use(f"{OF_PLUGIN}recall", query="Where does Ada live?")
    allowed = ("--allowedTools", f"{OF_PLUGIN}retain,{OF_PLUGIN}recall")
    with scripted_claude(retain, recall, text("In Turin.")) as model:
        answer = say("Where does Ada live? Look it up.", model, tmp_path, zone, *allowed)
        (result,) = model.requests[2]["messages"][-1]["content"]
    assert answer == "In Turin."
    assert not result.get("is_error")
    assert "Ada lives in Turin." in json.dumps(result["content"])


def test_the_skills_are_offered(tmp_path: Path, zone: str) -> None:
    with scripted_claude() as model:
        say("Hello.", model, tmp_path, zone)
    told = words_of(model.requests[0])
    assert "recollect:memory-search" in told
    assert "recollect:memory-reflect" in told


def test_an_import_of_its_transcripts_adds_nothing(tmp_path: Path, zone: str) -> None:
    with scripted_claude(text("Turin is lovely.")) as model:
        say("I live in Turin.", model, tmp_path, zone)
    assert len(recorded(zone, 2)) == 2
    home = os.environ["RECOLLECT_HOME"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "recollect", "--home", home, "--zone", zone),
            *("ingest", "--json", tmp_path / ".claude" / "projects"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(done.stdout)
    assert (report["new"], report["duplicate"], report["rejected"]) == (0, 2, 0), done.stderr


def test_it_works_on_while_the_service_is_down(tmp_path: Path, zone: str) -> None:
    with scripted_claude(text("Noted."), text("Yes.")) as model:
        dead = "http://127.0.0.1:9"
        assert say("I live in Turin.", model, tmp_path, zone, url=dead) == "Noted."
        assert say("Are you there?", model, tmp_path, zone) == "Yes."
    assert [said for _, _, said in recorded(zone, 2)] == ["Are you there?", "Yes."]


def test_mcp_install_gives_it_the_server(tmp_path: Path, zone: str) -> None:
    own = environment(tmp_path, zone) | {"RECOLLECT_HOME": str(tmp_path / "memory")}
    ours = (sys.executable, "-m", "recollect", "--home", tmp_path / "memory")
    for command in (("init",), ("mcp", "--install", "claude", "--yes")):
        done = subprocess.run(
            [*ours, *command],
            cwd=ROOT,
            env={**os.environ, "HOME": str(tmp_path)},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    call = tool_use("mcp__recollect__retain", content="Ada lives in Turin.")
    with scripted_claude(call, text("Stored.")) as model:
        own["ANTHROPIC_BASE_URL"] = model.url
        allowed = ("--allowedTools", "mcp__recollect__retain")
        said = claude("-p", "Keep it.", *allowed, place=tmp_path, own=own)
        (result,) = model.requests[1]["messages"][-1]["content"]
    assert said.stdout.strip() == "Stored."
    assert not result.get("is_error"), result
