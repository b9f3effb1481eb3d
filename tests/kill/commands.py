"""Running the command line in processes of its own, and killing it."""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

# No command on these small homes takes a tenth of it: it hangs.
TIMEOUT_SECONDS = 120.0


class Wrong(Exception):
    """A command did not do what it should."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    output: str
    errors: str
    seconds: float

    @property
    def killed(self) -> bool:
        return self.status == -signal.SIGKILL

    def json(self) -> Any:
        """Return the JSON document on stdout."""
        return json.loads(self.output)


class Recollect:
    """The command on one home, which no process holds open between two runs."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def run(
        self,
        arguments: Sequence[str],
        *,
        failpoint: str | None = None,
        kill_after: float | None = None,
    ) -> Ended:
        """Run a command to its end, or to its death at a failpoint or after some seconds."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith("RECOLLECT_")}
        if "RECOLLECT_CACHE" in os.environ:
            kept["RECOLLECT_CACHE"] = os.environ["RECOLLECT_CACHE"]
        environment = {**kept, "RECOLLECT_HOME": str(self.home), "RECOLLECT_TICKS": "off"}
        if failpoint:
            environment["RECOLLECT_FAILPOINT"] = failpoint
        ended, hung = _zygote().run(arguments, environment, kill_after)
        if hung and not kill_after:
            raise Wrong(f"recollect {' '.join(arguments)} hangs: {ended.errors}")
        return ended

    def ask(self, *arguments: str) -> Any:
        """Run a command that must succeed, and return the JSON that it prints."""
        ended = self.run([*arguments, "--json"])
        if ended.status != 0:
            raise Wrong(
                f"recollect {' '.join(arguments)} ended with {ended.status}: "
                f"{ended.errors or ended.output}"
            )
        return ended.json()


class Zygote:
    """The process that forks one for each command; see tests/kill/zygote.py."""

    def __init__(self) -> None:
        self._room = tempfile.TemporaryDirectory(prefix="recollect-zygote-")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.kill.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        atexit.register(self.close)

    def run(
        self, arguments: Sequence[str], environment: Mapping[str, str], kill_after: float | None
    ) -> tuple[Ended, bool]:
        """Return how a command ended, and whether it had to be killed for its time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        output, errors = (Path(self._room.name) / name for name in ("output", "errors"))
        asked = {"arguments": list(arguments), "environment": dict(environment)}
        asked |= {"output": str(output), "errors": str(errors)}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        process = os.pidfd_open(int(self._process.stdout.readline()))
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        began = time.monotonic()
        hung = not select.select([self._process.stdout], [], [], kill_after or TIMEOUT_SECONDS)[0]
        if hung:
            # Where it ended just now, it has no number any more, or another has it.
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(process, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(int(self._process.stdout.readline()))
        seconds = time.monotonic() - began
        os.close(process)
        return Ended(status, output.read_text(), errors.read_text(), seconds), hung

    def close(self) -> None:
        """End it."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()
        self._room.cleanup()


@cache
def _zygote() -> Zygote:
    return Zygote()
