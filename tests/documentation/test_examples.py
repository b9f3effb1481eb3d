"""Examples run as they stand, and print what stands in them after `# >`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
#: They start a service, load other systems' clients, or rebuild a memory.
LONG = {"agent_over_mcp", "other_clients", "remote", "walkthrough"}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.slow if path.stem in LONG else ())
        for path in EXAMPLES
    ],
)
def test_an_example_prints_what_stands_in_it(path: Path, tmp_path: Path) -> None:
    expected = re.findall(r"^\s*# > (.*)$", path.read_text("utf-8"), re.MULTILINE)
    assert expected, "an example shows what it prints"
    environment = {name: text for name, text in os.environ.items() if "RECOLLECT" not in name}
    done = subprocess.run(
        [sys.executable, str(path)],
        # No home of the user's is touched, and the repository need not be installed.
        env={**environment, "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == expected
    assert not list(tmp_path.iterdir()), "an example leaves nothing behind"


def test_every_example_is_in_the_list() -> None:
    listed = re.findall(r"^\| \[.+?\]\((.+?)\)", (ROOT / "examples/README.md").read_text(), re.M)
    assert sorted(listed) == [path.name for path in EXAMPLES]
