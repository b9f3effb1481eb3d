"""Test kit for homes: a home that is used through the command line only."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from recollect.cli.app import run
from recollect.home.home_directory import _clear_loaded_models

ROOT = Path(__file__).resolve().parents[2]

SENTENCES = [
    "Ada lives in Berlin.",
    "Ben works at Initech.",
    "Ada moved to Paris because of the work.",
    "Cleo likes green tea.",
]


class Ended(NamedTuple):
    """The result of a command: exit status and output."""

    status: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)

    @property
    def said(self) -> str:
        return self.stdout + self.stderr


#: Runs commands of recollect, each as if in a process of its own, and says how they ended.
SEVERAL = """
import json, sys
from pathlib import Path
from tests.home.kit import Home
home = Home(Path(sys.argv[1]))
print(json.dumps([home.run(*command) for command in json.loads(sys.argv[2])]))
"""


class Home:
    """A home directory, and commands on it in processes of their own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.before: list[str] = []
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")
        } | {"PYTHONPATH": str(ROOT)}

    def run(self, *arguments: str, umask: int = -1, **environment: str) -> Ended:
        """Run a command of recollect; where that is all, in this process, which is faster."""
        if umask == -1 and not environment and not self.before:
            # As another process, which has loaded no model yet.
            _clear_loaded_models()
            with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
                status = run(["--home", str(self.path), *arguments])
            return Ended(status, out.getvalue(), err.getvalue())
        done = subprocess.run(
            [
                *self.before,
                sys.executable,
                "-c",
                "from recollect.cli.app import main; main()",
                "--home",
                str(self.path),
                *arguments,
            ],
            env=self.environment | environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            umask=umask,
            timeout=120,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def several(self, commands: Sequence[Sequence[str]]) -> list[Ended]:
        """Run several commands where the home is, in one process, which is faster."""
        done = subprocess.run(
            [*self.before, sys.executable, "-c", SEVERAL, str(self.path), json.dumps(commands)],
            env=self.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        return [Ended(*each) for each in json.loads(done.stdout)]

    def well(self, *arguments: str, umask: int = -1, **environment: str) -> Ended:
        """Run a command that must succeed."""
        ended = self.run(*arguments, umask=umask, **environment)
        assert ended.status == 0, ended.said
        return ended

    def make(self, *sentences: str, umask: int = -1) -> Home:
        """Make the home, without an encoder, and ingest sentences."""
        self.well("init", "--encoder", "none", umask=umask)
        if sentences:
            self.ingest(*sentences, umask=umask)
        return self

    def ingest(self, *sentences: str, umask: int = -1, first: int = 1) -> Ended:
        """Ingest sentences as the messages m-1, m-2 and so on."""
        export = self.path.with_name("export.jsonl")
        export.write_text(
            "".join(
                json.dumps(
                    {
                        "id": f"m-{number}",
                        "platform": "chat",
                        "sender_id": "ada",
                        "sender_name": "Ada",
                        "occurred_at": f"2026-05-{number:02}T10:00:00Z",
                        "content": sentence,
                    }
                )
                + "\n"
                for number, sentence in enumerate(sentences, first)
            )
        )
        return self.well("ingest", str(export), "--json", umask=umask)

    def found(self, query: str, *options: str) -> list[str]:
        """Return the texts of an answer."""
        answer = self.well("recall", query, "--json", *options).json
        return [result["text"] for result in answer["results"]]

    @property
    def generation(self) -> Path:
        """The directory of the generation in use of the default zone."""
        zone = self.path / "zones" / "default"
        return zone / (zone / "CURRENT").read_text().strip()

    def files(self) -> Iterator[Path]:
        """Yield everything below the home, and the home."""
        yield self.path
        yield from sorted(self.path.rglob("*"))
