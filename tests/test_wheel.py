"""The wheel holds one top-level package, and works beside any `schemas.py`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: What a checkout may hold beside its sources.
NOT_SOURCE = (".*", "build", "*.egg-info", "__pycache__", "tests")
FOREIGN = "raise SystemExit('a module of the user was imported')\n"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    place = tmp_path_factory.mktemp("wheel")
    build = "import sys; from setuptools import build_meta as b; print(b.build_wheel(sys.argv[1]))"
    source = place / "source"
    shutil.copytree(ROOT, source, symlinks=True, ignore=shutil.ignore_patterns(*NOT_SOURCE))
    done = subprocess.run(
        [sys.executable, "-c", build, str(place)],
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return next(place.glob("recollect-*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment that has this wheel, and what it needs, from here."""
    place = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    (site,) = place.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # The dependencies, from the environment of the tests; not the checkout, which the
    # editable installation's finder would bring.
    own = Path(sys.prefix).glob("lib/python*/site-packages/*")
    for path in own:
        if (
            "recollect" not in path.name
            and path.suffix != ".pth"
            and not (site / path.name).exists()
        ):
            (site / path.name).symlink_to(path)
    return place / "bin" / "python"


def test_the_wheel_holds_one_top_level_package(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {re.split(r"[/-]", name)[0] for name in names} == {"recollect"}
    for needed in ("schemas/ledger/records.py", "streams/ledger/__init__.py", "text/tokenizer.py"):
        assert f"recollect/{needed}" in names
    assert any(name.endswith(".sql") for name in names)
    assert "recollect/py.typed" in names


def test_the_readmes_example_runs_beside_foreign_modules(python: Path, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    project = tmp_path / "project"
    project.mkdir()
    for name in ("schemas.py", "streams.py"):
        (project / name).write_text(FOREIGN)
    (project / "projections").mkdir()
    (project / "projections" / "__init__.py").write_text(FOREIGN)
    (project / "example.py").write_text(example)
    subprocess.run(
        [python, "-m", "recollect", "init", "--encoder", "none"],
        cwd=project,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
    )
    done = subprocess.run(
        [python, "example.py"],
        cwd=project,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Turin" in done.stdout


def test_the_test_of_the_wheel_sees_the_wheel(python: Path, tmp_path: Path) -> None:
    where = "import recollect.schemas.ledger.records as module; print(module.__file__)"
    done = subprocess.run(
        [python, "-c", where], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(str(python.parents[1]))
