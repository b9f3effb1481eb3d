"""`trajectories` and `playbooks` list what an agent recorded and learned."""

from __future__ import annotations

import re

import pytest

from recollect import Recollect
from tests.cli.kit import Shell


@pytest.fixture
def held(shell: Shell) -> Shell:
    """A zone in which two releases with tests succeed and two without fail."""
    with Recollect(shell.room / "home", encoder="none") as opened:
        zone = opened.zone()
        for number in range(4):
            run = zone.start_trajectory(
                f"Release 2.{number}", task_type="release", agent_id="builder"
            )
            zone.log_step(run.id, "action", "Read the log.")
            if number % 2:
                zone.log_step(run.id, "tool_call", "Run tests.", tool="pytest")
            error = None if number % 2 else "It broke."
            status = "success" if number % 2 else "failure"
            zone.complete_trajectory(run.id, status, error_message=error, learn=True)  # type: ignore[arg-type]
        zone.give_feedback(run.id, 0.9, source="monitoring", comment="quick")
        zone.record_usage(zone.playbooks()[0].id, True)
    return shell


def shown(text: str) -> list[str]:
    """Return the lines of an output, without ids and times."""
    text = re.sub(r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "ID", text)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text).splitlines()


def newest(held: Shell, command: str) -> str:
    return str(held(command, "--json").json()[0]["id"])


def test_runs_are_listed_newest_first(held: Shell) -> None:
    assert shown(held("trajectories", "--limit", "2").out) == [
        "Release 2.3",
        "    success 1, feedback 0.9, ID, release, 2 steps, TIME",
        "Release 2.2",
        "    failure 0, ID, release, 1 step, TIME",
    ]
    found = held("trajectories", "--json", "--status", "failure").json()
    assert [run["task"] for run in found] == ["Release 2.2", "Release 2.0"]
    assert held("trajectories", "--json", "--agent", "nobody").json() == []


def test_a_run_is_shown_with_what_was_learned(held: Shell) -> None:
    assert shown(held("trajectories", "show", newest(held, "trajectories")).out) == [
        "Release 2.3",
        "    success 1, feedback 0.9, ID, release, 2 steps, TIME",
        "    action: Read the log.",
        "    tool_call pytest: Run tests.",
        "    feedback 0.9 (monitoring): quick",
        "learned comparing outcomes, from 2 successful and 2 failed runs",
        "    + Use the tool pytest.  confidence 0.83, in 2 successful and 0 failed",
        "    + Run tests.  confidence 0.83, in 2 successful and 0 failed",
        "      2 of 2 failed runs ended with: It broke.  "
        "confidence 1.00, in 0 successful and 2 failed",
    ]


def test_a_playbook_is_shown_with_its_history(held: Shell) -> None:
    book = newest(held, "playbooks")
    head = ["release", "    ID, version 2, 2 strategies, 1 use, success rate 1.00"]
    assert shown(held("playbooks").out) == head
    # Strategies of equal confidence come in the order of their ids.
    lines = shown(held("playbooks", "show", book).out)
    assert [*lines[:2], *sorted(lines[2:])] == [
        *head,
        "    + Run tests.  confidence 0.83, 2 steps",
        "    + Use the tool pytest.  confidence 0.83, 2 steps",
    ]
    lines = shown(held("playbooks", "history", book).out)
    assert [*lines[:2], *sorted(lines[2:])] == [
        "version 1  TIME, by hand",
        "version 2  TIME, from ID",
        "    + Run tests.",
        "    + Use the tool pytest.",
    ]
    assert held("playbooks", "show", book, "--json").json()[0]["usage_count"] == 1


def test_an_empty_zone_says_where_to_read(shell: Shell) -> None:
    shell.ingest(
        {"platform": "x", "sender_id": "a", "occurred_at": "2026-05-08T13:56:00Z", "content": "Hi"}
    )
    assert "docs/learning.md" in shell("trajectories").out
    assert "docs/learning.md" in shell("playbooks").out


@pytest.mark.parametrize(
    "arguments",
    [("trajectories", "show"), ("playbooks", "history"), ("playbooks", "list", "x")],
)
def test_wrong_use_says_what_is_missing(shell: Shell, arguments: tuple[str, ...]) -> None:
    done = shell(*arguments)
    assert done.status == 2
    assert "ID" in done.err


def test_an_unknown_id_is_an_error(held: Shell) -> None:
    done = held("trajectories", "show", "nobody")
    assert done.status != 0
    assert "recollect trajectories lists them" in done.err
