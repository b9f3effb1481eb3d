"""Run the commands of a page in order in one empty home, and compare what they print."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]


class Step(NamedTuple):
    """A command with its here-document, and the output that the page shows."""

    command: str
    shown: str


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of code of a language in a page."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
    return [str(block) for block in found]


def steps(page: Path) -> list[Step]:
    """Return the commands that a page shows at a prompt, in order."""
    return [
        _step(part)
        for block in blocks(page, "console")
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]
    ]


def _step(text: str) -> Step:
    if "<<'END'" in text:
        command, _, shown = text.partition("\nEND\n")
        return Step(f"{command}\nEND", shown.strip("\n"))
    lines = text.splitlines()
    length = next(n for n in range(1, len(lines) + 1) if _is_complete("\n".join(lines[:n])))
    return Step("\n".join(lines[:length]), "\n".join(lines[length:]).strip("\n"))


def _is_complete(command: str) -> bool:
    """Return whether a command is complete: no quote is open, and no line is continued."""
    try:
        shlex.split(command, comments=True)
    except ValueError:
        return False
    return True


class Prompt:
    """A user's directory with an empty home, and `recollect` on the path."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.tool = directory / "bin" / "recollect"
        self.tool.parent.mkdir()
        call = "from recollect.cli import main; main()"
        self.tool.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{call}' \"$@\"\n")
        self.tool.chmod(0o755)
        inherited = {name: text for name, text in os.environ.items() if "RECOLLECT" not in name}
        self.environment = {
            **inherited,
            "HOME": str(directory),
            "PATH": f"{self.tool.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
        }

    def run(self, command: str) -> str:
        """Run a command that must succeed; return its output.

        Homes are created without an encoder, which would have to be downloaded.
        """
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").partition("=")
            self.environment[name] = value
            return ""
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


def run_steps(
    page: Path, prompt: Prompt, not_run: Mapping[str, str], instead: Mapping[str, str] | None = None
) -> None:
    """Run a page's commands, except those with a prefix in `not_run`, and check their output.

    An abbreviated word of the page, such as `01M8…`, is replaced in later commands by the printed
    one, and a key of `instead` by its value.
    """
    words = dict(instead or {})
    for step in steps(page):
        if step.command.startswith(tuple(not_run)):
            continue
        command = step.command
        for abbreviated, word in words.items():
            command = command.replace(abbreviated, word)
        printed = prompt.run(command)
        if step.shown:
            found = words_shown(step.shown, printed)
            assert found is not None, f"$ {command}\n{printed}"
            words |= found


def words_shown(shown: str, printed: str) -> dict[str, str] | None:
    """Return the printed word for each abbreviated word of a page, such as `01M8…`.

    None if the page shows something else than was printed. A `…` by itself matches any text, even
    none. Durations, sizes, counts of vectors and hashes are not compared.
    """
    parts = re.split(r"(\w*…)", _comparable(shown).replace("\n…\n", "\n…"))
    words = [part for part in parts if part.endswith("…") and part != "…"]
    pattern = "".join(_pattern(part) for part in parts)
    found = re.fullmatch(pattern, _comparable(printed), re.DOTALL)
    return dict(zip(words, found.groups(), strict=True)) if found else None


def _pattern(part: str) -> str:
    if not part.endswith("…"):
        return re.escape(part)
    return ".*?" if part == "…" else r"([\w-]+)"


def _comparable(text: str) -> str:
    text = re.sub(r"\b\d+(\.\d+)? (s|MB|vectors?)\b", r"N \2", text)
    text = re.sub(r"\b[0-9a-f]{16,}\b", "HASH", text)
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())
