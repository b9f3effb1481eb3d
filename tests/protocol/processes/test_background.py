"""Projecting in the background: a process of its own does it, and nothing depends on that."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from recollect.projections.files import ZoneFiles
from recollect.streams.engine import node
from recollect.streams.lifecycle import rebuilding
from recollect.streams.lifecycle.rebuilding import rebuild
from recollect.streams.lifecycle.verifying import verify
from recollect.streams.projecting import background
from recollect.streams.projecting.background import BackgroundProjection
from tests.processes import children_of, ended
from tests.protocol.kit import ZONE, Home, forget, hashes_of, live, say

SAID = [say(f"The train number {number} leaves at noon.", str(number)) for number in range(30)]


@pytest.fixture
def home(room: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setattr(background, "MIN_BACKLOG", 20)
    monkeypatch.setattr(background, "usable_cores", lambda: 2)
    home = Home(room / "home")
    yield home
    home.close()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How far the other process had projected, whenever somebody went on because of it."""
    numbers: list[int] = []
    run = BackgroundProjection.run

    def noted(*arguments: Any) -> Iterator[int]:
        for number in run(*arguments):
            numbers.append(number)
            yield number

    monkeypatch.setattr(BackgroundProjection, "run", noted)
    return numbers


def projected_in_background(home: Home, files: ZoneFiles) -> list[int]:
    with BackgroundProjection(home.ledger, ZONE) as beside:
        return list(beside.run(files, home.node.current(ZONE)))


def test_many_events_are_projected_by_another_process(home: Home) -> None:
    home.publish(*SAID)
    with home.files() as files:
        numbers = projected_in_background(home, files)
        # Nobody here has projected anything.
        assert files.events.watermark().number == len(SAID)
        assert numbers == sorted(numbers)
        assert set(numbers) <= set(range(1, len(SAID) + 1))
        projected = hashes_of(files)["events"]
        assert projected_in_background(home, files) == []
    home.drive()
    assert live(home)["events"] == projected


def test_few_events_are_not_worth_it(home: Home) -> None:
    home.publish(*SAID[:19])
    with home.files() as files:
        assert projected_in_background(home, files) == []
        assert files.events.watermark().number == 0


@pytest.mark.parametrize("python", ["/bin/false", "/no/such/python", ""])
def test_what_is_made_is_the_same_where_there_is_no_such_process(
    home: Home, monkeypatch: pytest.MonkeyPatch, told: list[int], python: str
) -> None:
    home.tell(*SAID)
    before = live(home)
    monkeypatch.setattr(sys, "executable", python)
    assert rebuild(home.node, ZONE, "project").records == len(SAID)
    assert told == []
    assert live(home) == before
    found = verify(home.node, ZONE)
    assert found.ok, found.problems


@pytest.mark.parametrize("late", [False, True])
def test_files_are_made_with_its_help_and_none_is_ahead_of_the_events(
    home: Home, room: Path, monkeypatch: pytest.MonkeyPatch, told: list[int], late: bool
) -> None:
    """Who reads the files meanwhile knows the turns of every fact that it meets."""
    monkeypatch.setattr(background, "_POLL_INTERVAL_SECONDS", 0.001)
    home.tell(*SAID, forget(3), say("The door code is nine.", "door"))
    before = live(home)
    ahead: list[int] = []

    def watched(*arguments: Any, **more: Any) -> int:
        files = arguments[3]
        moved: int = project(*arguments, **more)
        ahead.append(files.memory.watermark().number - files.events.watermark().number)
        return moved

    module = node if late else rebuilding
    project = module.project_changes
    monkeypatch.setattr(module, "project_changes", watched)
    if late:
        other = Home(room / "late", ledger=home.path)
        with closing(other):
            assert other.node.follow(ZONE) == len(SAID) + 2
            assert live(other) == before
    else:
        rebuild(home.node, ZONE, "project")
        assert live(home) == before
    assert ahead
    assert max(ahead) <= 0


ALONE = """
import sys, time
from pathlib import Path
from recollect.streams.projecting import background
from tests.protocol.kit import ZONE, Home
background.MIN_BACKLOG = 20
background.usable_cores = lambda: 2
background._POLL_INTERVAL_SECONDS = 60
home = Home(Path(sys.argv[1]))
with home.files() as files:
    print(files.directory, flush=True)
    with background.BackgroundProjection(home.ledger, ZONE) as helper:
        list(helper.run(files, home.node.current(ZONE)))
"""


def wait_until(true: Any) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.001)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_it_ends_with_who_started_it_and_brings_nothing_back(room: Path) -> None:
    home = Home(room / "home")
    with closing(home):
        home.publish(*SAID)
        home.node.current(ZONE)
    starter = subprocess.Popen(
        [sys.executable, "-c", ALONE, str(room / "home")], stdout=subprocess.PIPE, text=True
    )
    assert starter.stdout is not None
    directory = Path(starter.stdout.readline().strip())
    wait_until(lambda: children_of(starter.pid))
    (child,) = children_of(starter.pid)
    os.kill(child, signal.SIGSTOP)
    shutil.rmtree(directory)
    starter.kill()
    starter.wait()
    os.kill(child, signal.SIGCONT)
    wait_until(lambda: ended(child))
    assert not directory.exists()
