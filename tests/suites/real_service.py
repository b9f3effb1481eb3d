"""`recollect serve` as a process of its own, over a home with the encoder of a new installation."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.suites.installed import ROOT

_OURS = (sys.executable, "-m", "recollect")


class RealService(NamedTuple):
    """A running service and its home."""

    url: str
    home: Path

    def token(self, zone: str) -> str:
        """Return a new token with every right to a zone, or to all: `*`."""
        rights = ("--rights", "read,write,forget,admin")
        made = json.loads(_recollect(self.home, "token", "create", "--zone", zone, *rights))
        return str(made["token"])


@contextmanager
def real_service(home: Path, *options: str) -> Iterator[RealService]:
    """Serve a home on a free port until the block ends; make it where it is not there yet."""
    if not home.exists():
        _recollect(home, "init")
    serving = subprocess.Popen(
        [*_OURS, "--home", home, "serve", "--port", "0", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert serving.stdout is not None
    try:
        # Its first line begins with its address.
        yield RealService(serving.stdout.readline().split()[0], home)
    finally:
        serving.terminate()
        serving.wait(60)
        serving.stdout.close()


def _recollect(home: Path, *arguments: str) -> str:
    done = subprocess.run(
        [*_OURS, "--home", home, *arguments, "--json"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return done.stdout
