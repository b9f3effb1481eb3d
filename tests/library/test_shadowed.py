"""Foreign packages with the names of ours are named when recollect is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = ("schemas", "projections", "streams")


def imported(directory: Path, first: str = "") -> subprocess.CompletedProcess[str]:
    """Import recollect where `directory` comes before our own packages."""
    return subprocess.run(
        [sys.executable, "-P", "-c", f"{first}\nimport recollect\nprint(recollect.Recollect)"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(directory), str(ROOT)])},
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.mark.parametrize("name", OURS)
def test_a_package_of_the_same_name_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("raise SystemExit('it was run')")
    done = imported(tmp_path)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: recollect needs its own package '{name}'")
    assert str(tmp_path / name) in last
    assert str(ROOT / name) in last
    assert "rename that one" in last


@pytest.mark.parametrize("name", OURS)
def test_so_is_a_module(tmp_path: Path, name: str) -> None:
    (tmp_path / f"{name}.py").write_text("")
    assert str(tmp_path / f"{name}.py") in imported(tmp_path).stderr


def test_one_that_was_imported_before_is_named_too(tmp_path: Path) -> None:
    (tmp_path / "schemas.py").write_text("")
    done = imported(tmp_path, "import schemas")
    assert "ImportError: recollect needs its own package 'schemas'" in done.stderr


def test_one_that_was_made_while_running_is_named_too(tmp_path: Path) -> None:
    first = "import sys, types; sys.modules['streams'] = types.ModuleType('streams')"
    assert (
        "ImportError: recollect needs its own package 'streams'" in imported(tmp_path, first).stderr
    )


def test_a_directory_that_is_no_package_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "schemas").mkdir()
    done = imported(tmp_path)
    assert done.returncode == 0, done.stderr
