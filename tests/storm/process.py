"""Processes of the product: the command line on a home, with the ledger of the storm."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.kill.commands import Ended, Wrong
from tests.storm.damage.clocks import Clock

#: As many copies has each record.
BROKERS = 3
# How long a worker may be silent before its partitions go to others.
SESSION_SECONDS = 3.0


class Recollect:
    """The command on one home, by a clock that may be wrong."""

    def __init__(self, home: Path, url: str, clock: Clock | None = None) -> None:
        self.home = home
        self.clock = clock
        self._url = url
        script = Path(sys.executable).with_name("recollect")
        start = "from recollect.cli import main; main()"
        self._command = [str(script)] if script.exists() else [sys.executable, "-c", start]

    def start(
        self, arguments: Sequence[str], *, failpoint: str | None = None, **options: Any
    ) -> subprocess.Popen[bytes]:
        """Start a command; `options` are those of Popen."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("RECOLLECT_")}
        environment |= {
            "RECOLLECT_HOME": str(self.home),
            "RECOLLECT_LEDGER": self._url,
            "RECOLLECT_KAFKA_SESSION_SECONDS": str(SESSION_SECONDS),
            "RECOLLECT_KAFKA_REPLICATION": str(BROKERS),
        }
        if self.clock is not None:
            environment |= self.clock.environment
        if failpoint:
            environment["RECOLLECT_FAILPOINT"] = failpoint
        return subprocess.Popen(
            [*self._command, *arguments], env=environment, stdin=subprocess.DEVNULL, **options
        )

    def run(self, arguments: Sequence[str], *, kill_after: float = 300.0) -> Ended:
        """Run a command to its end, or kill it after some seconds."""
        began = time.monotonic()
        pipe = subprocess.PIPE
        with self.start(arguments, stdout=pipe, stderr=pipe) as process:
            try:
                output, errors = process.communicate(timeout=kill_after)
            except subprocess.TimeoutExpired:
                process.kill()
                output, errors = process.communicate()
                errors += b"it took too long, and was killed"
        return Ended(
            process.returncode,
            output.decode(errors="replace"),
            errors.decode(errors="replace"),
            time.monotonic() - began,
        )

    def ask(self, *arguments: str) -> Any:
        """Run a command that must succeed, and return the JSON that it prints."""
        ended = self.run([*arguments, "--json"])
        if ended.status != 0:
            raise Wrong(
                f"recollect {' '.join(arguments)} ended with {ended.status}: "
                f"{ended.errors or ended.output}"
            )
        return ended.json()
