"""Docker's command line, pointed at one daemon."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from demo.run import Failed

PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Docker:
    """The commands `docker` and Compose with the environment that they need."""

    environment: Mapping[str, str]
    compose_command: tuple[str, ...] = ()

    def __call__(self, *words: str, stdin: bytes = b"", patience: float = PATIENCE_SECONDS) -> str:
        """Return the standard output of `docker words…`."""
        return run(("docker", *words), self.environment, stdin, patience)

    def compose(self, *words: str, patience: float = PATIENCE_SECONDS) -> str:
        """Return the standard output of `docker-compose words…`."""
        return run((*self.compose_command, *words), self.environment, b"", patience)

    def works(self, *words: str) -> bool:
        """Whether `docker words…` ends well."""
        try:
            self(*words)
        except Failed:
            return False
        return True


def run(
    command: Sequence[str],
    environment: Mapping[str, str],
    stdin: bytes,
    patience: float,
) -> str:
    """Return what a command writes to standard output.

    Raises:
        Failed: it could not be started, was too slow, or ended with another status than 0.
    """
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            input=stdin,
            capture_output=True,
            timeout=patience,
            check=False,
        )
    except OSError as error:
        raise Failed(f"{command[0]} cannot be run: {error.strerror}") from error
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{' '.join(command)} has not ended after {patience:.0f} s") from late
    if done.returncode != 0:
        said = (done.stdout + done.stderr).decode(errors="replace").strip()
        raise Failed(f"{' '.join(command)} ended with status {done.returncode}:\n{said[-4000:]}")
    return done.stdout.decode(errors="replace").strip()
