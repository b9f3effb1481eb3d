"""A clock of the storm jumps under a process that runs, and only for those who were given it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.storm.damage.clocks import Clock

ASKED = """
import sys, time
for _ in sys.stdin:
    print(time.time(), time.time_ns() / 1e9, time.monotonic(), flush=True)
"""


def test_a_clock_jumps_under_a_process_that_runs(tmp_path: Path) -> None:
    clock = Clock(tmp_path / "clock")
    environment = {**os.environ, **clock.environment}
    with subprocess.Popen(
        [sys.executable, "-c", ASKED],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for off in (0.0, 315_360_000.0, -86_400.0):
            clock.jump(off)
            process.stdin.write("now\n")
            process.stdin.flush()
            seconds, nanoseconds, interval = map(float, process.stdout.readline().split())
            # An hour is more than any machine takes for a line.
            assert abs(seconds - time.time() - off) < 3_600
            assert abs(nanoseconds - seconds) < 3_600
            assert abs(interval - time.monotonic()) < 3_600
        process.stdin.close()
