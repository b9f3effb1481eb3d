"""The programs of the page on integrations run; without an extra, its name is told."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = re.findall(
    r"^```python\n(.*?)^```$", (ROOT / "docs" / "integrations.md").read_text("utf-8"), re.M | re.S
)
#: Module -> the extra that it needs, and the package that the extra brings.
MODULES = {
    "langgraph_store": ("langgraph", "langgraph"),
    "langchain_memory": ("langchain", "langchain_core"),
    "anthropic_memory_tool": ("anthropic", "anthropic"),
    "openai_client": ("openai", "openai"),
    "openai_agents_session": ("openai-agents", "agents"),
}


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_every_integration_has_its_program() -> None:
    modules = {
        path.stem
        for path in (ROOT / "recollect" / "integrations").glob("*.py")
        if "with needed(" in path.read_text("utf-8")
    }
    assert modules == set(MODULES)
    for name in MODULES:
        assert any(f"recollect.integrations.{name} import" in program for program in PROGRAMS)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.split()[-1][:20])
def test_a_program_of_the_page_runs(program: str, tmp_path: Path) -> None:
    assert 'Recollect("~/.recollect")' in program
    done = run(program.replace('"~/.recollect"', f'"{tmp_path / "home"}", encoder="none"'))
    assert done.returncode == 0, done.stderr
    assert "Turin" in done.stdout


def test_without_its_extra_an_integration_says_which_to_install() -> None:
    packages = [package for _, package in MODULES.values()]
    done = run(
        f"import importlib, sys; sys.modules.update(dict.fromkeys({packages}))\n"
        f"for module in {list(MODULES)}:\n"
        "    try:\n"
        "        importlib.import_module(f'recollect.integrations.{module}')\n"
        "    except ImportError as error:\n"
        "        print(error)\n"
    )
    said = done.stdout.splitlines()
    assert len(said) == len(MODULES), done.stderr
    for line, (extra, _) in zip(said, MODULES.values(), strict=True):
        assert f"pip install 'recollect[{extra}]'" in line
