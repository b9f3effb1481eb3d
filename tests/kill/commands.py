"""Running the command line in processes of its own, and killing it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
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
        script = Path(sys.executable).with_name("recollect")
        start = "from recollect.cli import main; main()"
        self._command = [str(script)] if script.exists() else [sys.executable, "-c", start]

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
        began = time.monotonic()
        with subprocess.Popen(
            [*self._command, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                output, errors = process.communicate(timeout=kill_after or TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                output, errors = process.communicate()
                if not kill_after:
                    raise Wrong(f"recollect {' '.join(arguments)} hangs: {errors}") from None
        return Ended(process.returncode, output, errors, time.monotonic() - began)

    def ask(self, *arguments: str) -> Any:
        """Run a command that must succeed, and return the JSON that it prints."""
        ended = self.run([*arguments, "--json"])
        if ended.status != 0:
            raise Wrong(
                f"recollect {' '.join(arguments)} ended with {ended.status}: "
                f"{ended.errors or ended.output}"
            )
        return ended.json()
