"""What pages show can be done: commands and options are there, and the first steps run."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

from recollect.cli.app import cli
from tests.documentation.page_steps import ROOT, Prompt, blocks, run_steps
from tests.service.kit import served

PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "lab").rglob("*.md"),
        *(ROOT / "docker").glob("*.md"),
    ]
)


def calls(page: Path) -> list[list[str]]:
    """Return the words of each `recollect` that a page shows, without the command's own name."""
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    shown = [line[2:] for line in lines if line.startswith(("$ recollect ", "# recollect "))]
    return [shlex.split(re.split(r"\s[<|>]", line)[0], comments=True)[1:] for line in shown]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_command_that_a_page_shows_is_there_with_its_options(page: Path) -> None:
    for words in calls(page):
        while words[:1] in (["--home"], ["--zone"]):
            words = words[2:]
        command = cli.commands[words[0]]
        while isinstance(command, click.Group) and words[1:2]:
            words = words[1:]
            command = command.commands[words[0]]
        known = {name for item in command.params for name in (*item.opts, *item.secondary_opts)}
        given = {word.partition("=")[0] for word in words[1:] if re.match(r"--?[a-z]", word)}
        assert given <= known, words
        wanted = [item for item in command.params if isinstance(item, click.Argument)]
        assert wanted or not [word for word in words[1:2] if not word.startswith("-")], words


#: What a page shows and no test of pages runs, by how it begins, and why.
NOT_RUN = {
    "make ": "they set up a clone, and this is one of its tests",
    "pip install ": "tests/packaging/test_wheel.py installs the wheel",
}


def test_the_commands_of_the_readme_print_what_it_shows(tmp_path: Path) -> None:
    run_steps(ROOT / "README.md", Prompt(tmp_path), NOT_RUN)


@pytest.mark.parametrize("page", ["README.md", "docs/guide.md"])
def test_the_programs_of_a_page_run(page: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    for program in blocks(ROOT / page, "python"):
        if "http://" in program:
            with served(home, no_auth=True) as service:
                runs(program.replace("http://127.0.0.1:8420", service.url))
        else:
            assert 'Recollect("~/.recollect")' in program
            runs(program.replace('"~/.recollect"', f'"{home}", encoder="none"'))


def runs(program: str) -> None:
    """See that a program of a page prints where Ada lives."""
    done = subprocess.run(
        [sys.executable, "-c", program.replace("rct_…", "rct_any")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Turin" in done.stdout
