"""The packages of other projects, installed into `build/suites` from their locks."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACE = ROOT / "build" / "suites"
NPM = PLACE / "npm"
NODE_MODULES = NPM / "node_modules"
PYTHON = PLACE / "venv" / "bin" / "python"
_HERE = Path(__file__).resolve().parent
_PYTHON_LOCK = _HERE / "requirements.lock"
_NPM_LOCK = _HERE / "npm" / "package-lock.json"


def node() -> str:
    """Return the Node of the lock; where it has none for this machine, that of the PATH."""
    found = sorted(NODE_MODULES.glob("node-*/bin/node"))
    return str(found[0]) if found else "node"


def run(
    command: Sequence[str | Path],
    environment: Mapping[str, str] | None = None,
    directory: Path = ROOT,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, with our own commands first on its path."""
    own = str(Path(sys.executable).parent)
    return subprocess.run(
        [str(part) for part in command],
        cwd=directory,
        env={
            **os.environ,
            "PATH": f"{own}{os.pathsep}{os.environ['PATH']}",
            **(environment or {}),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def install() -> None:
    """Install what the locks name, unless it is there.

    Raises:
        RuntimeError: a registry does not have it, or has something else.
    """
    PLACE.mkdir(parents=True, exist_ok=True)
    _once(PLACE / "venv" / ".stamp", _PYTHON_LOCK, _install_python)
    shutil.copytree(_HERE / "npm", NPM, dirs_exist_ok=True)
    _once(NODE_MODULES / ".stamp", _NPM_LOCK, _install_npm)


def _once(stamp: Path, lock: Path, work: Callable[[], None]) -> None:
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    work()
    stamp.write_text(digest)


def _install_python() -> None:
    venv.create(PLACE / "venv", with_pip=True, clear=True)
    pip = (PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    _must([*pip, "--only-binary", ":all:", "--require-hashes", "-r", _PYTHON_LOCK])
    # langmem is given our store for LangGraph.
    _must([*pip, "--no-deps", "--no-build-isolation", "--editable", ROOT])


def _install_npm() -> None:
    _must(["npm", "ci", "--silent"], NPM)


def _must(command: Sequence[str | Path], directory: Path = ROOT) -> None:
    done = run(command, directory=directory)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stdout}{done.stderr}")
