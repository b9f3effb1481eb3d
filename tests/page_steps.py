"""The commands of a page, run in their order in one empty home, with what each printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Step(NamedTuple):
    """A command, with its here-document, and the lines that the page shows below it."""

    command: str
    shown: str


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of code of a language in a page."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    return [str(block) for block in found]


def steps(page: Path) -> list[Step]:
    """Return what a page shows at a prompt, in order."""
    return [
        _step(part)
        for block in blocks(page, "console")
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]
    ]


def _step(text: str) -> Step:
    if "<<'END'" in text:
        command, _, shown = text.partition("\nEND\n")
        return Step(f"{command}\nEND", shown.strip("\n"))
    (command,) = re.findall(r"\A(?:.*\\\n)*.*", text)
    return Step(command, text.removeprefix(command).strip("\n"))


class Prompt:
    """A user's directory with an empty home, and `recollect` on the path."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        tool = directory / "bin" / "recollect"
        tool.parent.mkdir()
        call = "from recollect.cli import main; main()"
        tool.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{call}' \"$@\"\n")
        tool.chmod(0o755)
        inherited = {name: text for name, text in os.environ.items() if "RECOLLECT" not in name}
        self.environment = {
            **inherited,
            "HOME": str(directory),
            "PATH": f"{tool.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
        }

    def run(self, command: str) -> str:
        """Return what a command prints; it must succeed.

        A home is made without an encoder, which would have to be fetched.
        """
        command = re.sub(r"recollect init(?! --encoder)", "recollect init --encoder none", command)
        done = subprocess.run(
            ["bash", "-euc", command],
            env=self.environment,
            cwd=self.directory,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, f"$ {command}\n{done.stdout}{done.stderr}"
        return done.stdout


def same(shown: str, printed: str) -> bool:
    """Return whether a page shows what was printed; `…` in a page stands for anything.

    Times differ from run to run, and vectors are not there without an encoder.
    """
    pattern = ".*?".join(re.escape(part) for part in _without_measures(shown).split("…"))
    return bool(re.fullmatch(pattern, _without_measures(printed.strip("\n")), re.DOTALL))


def _without_measures(text: str) -> str:
    text = re.sub(r"\b\d+(\.\d+)? (s|MB|vectors?)\b", r"N \2", text)
    return "\n".join(line.rstrip() for line in text.splitlines())
