"""Every command of the guide and of the page on the service runs, and prints what they show."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.documentation.page_exports import write_exports
from tests.documentation.page_steps import ROOT, Prompt, run_steps, steps

#: What the pages show and is not run, by how it begins, and why.
NOT_RUN = {
    "export RECOLLECT_LEDGER=": "there is no broker; tests/kafka has one",
    "recollect worker": "it follows the line above, and would never end",
    "openapi-python-client ": "tests/suites generates this client",
    "npx openapi-typescript ": "it is a package of npm",
    "claude ": "Claude Code is another program; tests/plugins runs the hooks",
}
URL = "http://127.0.0.1:8420"


@contextmanager
def serving(prompt: Prompt) -> Iterator[str]:
    """Run `recollect serve` on a free port; yield what it prints."""
    with subprocess.Popen(
        ["recollect", "serve", "--port", "0"],
        executable=str(prompt.tool),
        env=prompt.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline()
        finally:
            process.terminate()


@pytest.mark.slow
def test_every_command_of_the_guide_prints_what_it_shows(tmp_path: Path) -> None:
    prompt = Prompt(tmp_path)
    write_exports(tmp_path)
    run_steps(ROOT / "docs" / "guide.md", prompt, NOT_RUN)


def test_every_command_of_the_service_page_prints_what_it_shows(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not here")
    prompt = Prompt(tmp_path)
    prompt.run("recollect init")
    page = ROOT / "docs" / "service.md"
    (shown,) = [step.shown for step in steps(page) if step.command == "recollect serve"]
    with serving(prompt) as printed:
        url = printed.split()[0]
        assert printed.strip() == shown.replace(URL, url)
        run_steps(page, prompt, {**NOT_RUN, "recollect serve": "it runs already"}, {URL: url})


def test_what_is_not_run_is_in_a_page() -> None:
    shown = [
        step.command for page in ("guide.md", "service.md") for step in steps(ROOT / "docs" / page)
    ]
    for begin in NOT_RUN:
        assert any(command.startswith(begin) for command in shown), begin
