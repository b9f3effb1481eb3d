"""RECOLLECT_FAILPOINT: a process that is asked to stop somewhere stops there, as it was asked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from recollect.schemas.errors import InjectedFailure
from recollect.streams.system.failpoints import arm, disarm, failpoint

PASSES = """
from recollect.schemas.errors import InjectedFailure
from recollect.streams.system.failpoints import failpoint
for time in (1, 2, 3):
    try:
        failpoint("commit.read")
        failpoint("commit.locked")
    except InjectedFailure as error:
        print(time, error)
    else:
        print(time)
"""


def passes(setting: str) -> tuple[int, list[str]]:
    """Pass two places three times; return how the process ended, and what it printed."""
    environment = {**os.environ, "RECOLLECT_FAILPOINT": setting, "PYTHONUNBUFFERED": "1"}
    ended = subprocess.run(
        [sys.executable, "-c", PASSES], env=environment, capture_output=True, text=True
    )
    assert not ended.stderr
    return ended.returncode, ended.stdout.splitlines()


@pytest.mark.parametrize(
    ("setting", "status", "printed"),
    [
        ("", 0, ["1", "2", "3"]),
        ("commit.read", -signal.SIGKILL, []),
        ("commit.locked:3", -signal.SIGKILL, ["1", "2"]),
        ("commit.read:4", 0, ["1", "2", "3"]),
        ("commit.locked:2:raise", 0, ["1", "2 stopped at failpoint commit.locked", "3"]),
        ("commit.read::raise", 0, ["1 stopped at failpoint commit.read", "2", "3"]),
        (
            "commit.read:2:raise,commit.locked:2",
            -signal.SIGKILL,
            ["1", "2 stopped at failpoint commit.read"],
        ),
    ],
)
def test_a_process_stops_where_the_setting_says(setting, status, printed):
    assert passes(setting) == (status, printed)


def test_of_several_threads_at_one_place_one_is_stopped():
    stopped = []

    def work():
        for _ in range(100):
            try:
                failpoint("commit.read")
            except InjectedFailure as error:
                stopped.append(error)

    arm("commit.read", 150)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        disarm()
    assert len(stopped) == 1
