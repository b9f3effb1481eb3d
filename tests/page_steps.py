"""The commands of a page, run in their order in one empty home, with what each printed."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
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
    lines = text.splitlines()
    length = next(n for n in range(1, len(lines) + 1) if _is_whole("\n".join(lines[:n])))
    return Step("\n".join(lines[:length]), "\n".join(lines[length:]).strip("\n"))


def _is_whole(command: str) -> bool:
    """Return whether a command ends here, and not within quotes or before a line of its own."""
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
        """Return what a command prints; it must succeed.

        A home is made without an encoder, which would have to be fetched.
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
    """Run what a page shows, but for commands that begin so; it must print what the page shows.

    A word of which the page shows only the beginning, as in `01M8…`, stands in later commands for
    what was printed; so does a key of `instead` for its value.
    """
    words = dict(instead or {})
    for step in steps(page):
        if step.command.startswith(tuple(not_run)):
            continue
        command = step.command
        for word, whole in words.items():
            command = command.replace(word, whole)
        printed = prompt.run(command)
        if step.shown:
            found = words_shown(step.shown, printed)
            assert found is not None, f"$ {command}\n{printed}"
            words |= found


def words_shown(shown: str, printed: str) -> dict[str, str] | None:
    """Return the whole of each word that a page shows only the beginning of, as in `01M8…`.

    None where the page shows what was not printed. A `…` by itself stands for anything, also for
    no line. Times differ from run to run, hashes with the ledger's clock, and without an encoder
    there are no vectors.
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
