"""Mem0's command for Node, as its users type it, against a service."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.suites.installed import NODE_MODULES, node

COMMAND = NODE_MODULES / "@mem0" / "cli" / "dist" / "index.js"
# It leaves a timer of five seconds running, and each call would last as long.
UNREF = "data:text/javascript," + quote(
    "const set = setTimeout; globalThis.setTimeout = (...given) => {"
    "const timer = set(...given); if (given[1] === 5000) timer.unref(); return timer; };"
)
ADA = ("--user-id", "ada")


@pytest.fixture(autouse=True)
def nothing_stored() -> None:
    """Begin with an empty zone."""
    mem0("delete", "--all", "--project", "--force")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in an environment of its own, without telemetry."""
    own = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "MEM0_TELEMETRY": "false",
        "MEM0_API_KEY": os.environ["RECOLLECT_TOKEN"],
        "MEM0_BASE_URL": os.environ["RECOLLECT_URL"],
    }
    return subprocess.run(
        [node(), "--import", UNREF, COMMAND, *arguments],
        env=own,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def mem0(*arguments: str) -> Any:
    """Return the data that the command prints for agents."""
    done = run("--json", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    # Progress comes before it.
    answer = json.loads(done.stdout[done.stdout.index("{") :])
    assert answer["status"] == "success"
    return answer["data"]


def texts(*arguments: str) -> list[str]:
    """Return the texts of a list of memories."""
    return sorted(one["memory"] for one in mem0(*arguments))


def test_status() -> None:
    assert mem0("status")["connected"] is True


def test_add_and_search() -> None:
    (added,) = mem0("add", "I live in Turin.", *ADA, "--metadata", '{"topic": "home"}')
    assert added["event"] == "ADD"
    (found,) = mem0("search", "Where does Ada live?", *ADA)
    assert (found["id"], found["memory"]) == (added["id"], added["memory"])
    assert "Turin" in found["memory"]


def test_add_messages_of_a_file(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "I keep bees."}, {"role": "assistant", "content": "Fine."}]
    (tmp_path / "said.json").write_text(json.dumps(said))
    mem0("add", "--file", str(tmp_path / "said.json"), *ADA, "--no-infer")
    assert texts("list", *ADA) == ["Fine.", "I keep bees."]


def test_search_with_every_option() -> None:
    mem0("add", "I live in Turin.", *ADA, "--no-infer")
    options = ("--top-k", "3", "--threshold", "0", "--rerank", "--keyword", "--latest-only")
    wanted = ("--filter", json.dumps({"AND": [{"user_id": "ada"}]}), "--fields", "memory")
    assert texts("search", "Turin", *options, *wanted) == ["I live in Turin."]


def test_list_a_page_at_a_time() -> None:
    for place in ("Turin", "Oslo", "Lagos"):
        mem0("add", f"I have been to {place}.", *ADA, "--no-infer")
    pages = [texts("list", *ADA, "--page", page, "--page-size", "2") for page in ("1", "2")]
    assert [len(page) for page in pages] == [2, 1]
    assert sorted(pages[0] + pages[1]) == [
        f"I have been to {place}." for place in ("Lagos", "Oslo", "Turin")
    ]


def test_list_by_time() -> None:
    mem0("add", "I live in Turin.", *ADA, "--no-infer", "--timestamp", "1770000000")
    assert texts("list", *ADA, "--after", "2026-02-01", "--before", "2026-02-03") != []
    assert texts("list", *ADA, "--after", "2026-02-03") == []


def test_get_update_and_delete() -> None:
    (added,) = mem0("add", "I live in Turin.", *ADA, "--no-infer")
    assert mem0("get", added["id"])["memory"] == "I live in Turin."
    mem0("update", added["id"], "I live in Oslo.")
    mem0("update", added["id"], "--metadata", '{"sure": true}')
    changed = mem0("get", added["id"])
    assert (changed["memory"], changed["metadata"]) == ("I live in Oslo.", {"sure": True})
    mem0("delete", added["id"], "--force")
    gone = run("--json", "get", added["id"])
    assert gone.returncode == 1
    assert "not found" in gone.stdout


def test_delete_all_of_a_user() -> None:
    for user in ("ada", "bob"):
        mem0("add", f"I am {user}.", "--user-id", user, "--no-infer")
    assert run("delete", "--all", *ADA, "--dry-run").returncode == 0
    assert len(texts("list", *ADA)) == 1
    mem0("delete", "--all", *ADA, "--force")
    assert texts("list", *ADA) == []
    assert texts("list", "--user-id", "bob") == ["I am bob."]


def test_entities() -> None:
    mem0("add", "I am Ada.", *ADA, "--agent-id", "helper", "--no-infer")
    assert [one["name"] for one in mem0("entity", "list", "users")] == ["ada"]
    assert [one["name"] for one in mem0("entity", "list", "agents")] == ["helper"]
    mem0("entity", "delete", *ADA, "--force")
    assert mem0("entity", "list", "users") == []


def test_import(tmp_path: Path) -> None:
    rows = [{"memory": "I keep bees.", "user_id": "eve"}, {"text": "I row.", "user_id": "eve"}]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    assert mem0("import", str(tmp_path / "rows.json")) == {"added": 2, "failed": 0}
    found = " ".join(texts("list", "--user-id", "eve"))
    assert "bees" in found
    assert "row" in found


def test_tables_for_people() -> None:
    mem0("add", "I live in Turin.", *ADA, "--no-infer")
    for command in (("search", "Turin"), ("list",)):
        done = run(*command, *ADA, "--output", "table")
        assert done.returncode == 0
        assert "I live in Turin." in done.stdout


def test_a_wrong_key_is_named() -> None:
    done = run("--json", "list", *ADA, "--api-key", "rct_1_wrong")
    assert done.returncode == 1
    assert "Invalid or expired API key" in done.stdout


def test_event_list() -> None:
    done = run("--json", "event", "list")
    assert "HTTP 501" in done.stdout
    pytest.skip("the service answers 501: it does not support this endpoint")


def test_list_by_category() -> None:
    mem0("add", "I live in Turin.", *ADA, "--no-infer")
    done = run("--json", "list", *ADA, "--category", "hobby")
    assert "HTTP 422: filters: " in done.stdout
    pytest.skip("no categories are generated, and the service says so")


@pytest.mark.parametrize("command", ["init", "identify", "whoami", "agent-rush"])
def test_accounts_of_the_platform(command: str) -> None:
    pytest.skip("the command manages an account of Mem0's platform")
