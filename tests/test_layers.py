"""Imports run downwards only: recollect, streams, projections, schemas."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# From the bottom up; a room may import itself and the rooms before it.
ROOMS = ("schemas", "projections", "streams", "recollect")
# What stands around the rooms may import any of them, and is imported by none.
AROUND = ("bench", "demo", "tests")
OURS = frozenset(ROOMS + AROUND)

# Inside a room, from the bottom up: a package may import itself and the packages before it.
PACKAGES = {
    "streams": (
        "system",
        "models",
        "ledger",
        "reading",
        "publishing",
        "language",
        "encoder",
        "reader",
        "agents",
        "projecting",
        "writing",
        "deciding",
        "engine",
        "lifecycle",
        "workers",
        "adapters",
    ),
    "streams.language": (
        "grammar",
        "names",
        "attributes",
        "references",
        "relations",
        "worth",
        "statements",
    ),
    "projections.recall": ("index", "question", "arms", "ranking", "answer", "context"),
}


def imported(source: str) -> dict[str, int]:
    """Return our top-level packages that `source` imports, each with the first line that does.

    Relative imports cannot leave their room, so they are left out.
    """
    found: dict[str, int] = {}
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.Call):
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        elif isinstance(node, ast.Call) and node.args:
            called = node.func.attr if isinstance(node.func, ast.Attribute) else None
            called = node.func.id if isinstance(node.func, ast.Name) else called
            first = node.args[0]
            if (
                called in ("import_module", "__import__")
                and isinstance(first, ast.Constant)
                and isinstance(first.value, str)
            ):
                names = [first.value]
        for name in names:
            top = name.partition(".")[0]
            if top in OURS:
                found.setdefault(top, node.lineno)
    return found


def upward(room: str, source: str) -> list[str]:
    """Return what `source`, standing in `room`, must not import."""
    below = ROOMS[: ROOMS.index(room) + 1]
    return [f"{line}: {name}" for name, line in imported(source).items() if name not in below]


def has_code(path: Path) -> bool:
    """Whether a module holds more than its docstring."""
    return any(not isinstance(node, ast.Expr) for node in ast.parse(path.read_text("utf-8")).body)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_itself_and_what_is_below(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{what}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for what in upward(room, path.read_text("utf-8"))
    ]
    assert not wrong, "imports must run downwards:\n" + "\n".join(wrong)


def folder_of(room: str) -> Path:
    """Return the folder of a room, or of a room within one, such as `projections.recall`."""
    return ROOT.joinpath(*room.split("."))


def packages_imported(room: str, source: str) -> dict[str, int]:
    """Return the packages of `room` that `source` imports, each with the first line that does."""
    found: dict[str, int] = {}
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith(f"{room}."):
                found.setdefault(name.removeprefix(f"{room}.").partition(".")[0], node.lineno)
    return found


@pytest.mark.parametrize("room", PACKAGES)
def test_a_package_imports_only_itself_and_the_packages_below(room: str) -> None:
    order = PACKAGES[room]
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for package in order
        for path in sorted((folder_of(room) / package).rglob("*.py"))
        for name, line in packages_imported(room, path.read_text("utf-8")).items()
        if name not in order[: order.index(package) + 1]
    ]
    assert not wrong, "packages must not depend on those above them:\n" + "\n".join(wrong)


@pytest.mark.parametrize("room", PACKAGES)
def test_every_module_of_a_room_stands_in_one_of_its_packages(room: str) -> None:
    inside = {path.stem for path in folder_of(room).glob("*.py")} - {"__init__"}
    folders = {path.parent.name for path in folder_of(room).glob("*/__init__.py")}
    assert not inside, f"loose modules: {sorted(inside)}"
    assert folders == set(PACKAGES[room])


def test_an_import_of_a_package_above_is_found() -> None:
    source = (
        "from streams.engine.node import Node\nfrom streams import ledger\nimport streams.system"
    )
    assert packages_imported("streams", source) == {"engine": 1, "ledger": 2, "system": 3}
    source = "from projections.recall.answer.assembly import together\nimport projections.files"
    assert packages_imported("projections.recall", source) == {"answer": 1}


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_is_empty(room: str) -> None:
    """So that the test above always has something to look at."""
    assert any(has_code(path) for path in (ROOT / room).rglob("*.py"))


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("schemas", "import projections.memory"),
        ("schemas", "def f():\n    from recollect.cli import main"),
        ("projections", "from streams.agents import facts as f"),
        ("projections", "import importlib\nimportlib.import_module('streams.agents')"),
        ("streams", "import json, recollect"),
        ("recollect", "from tests.helpers import home"),
        ("streams", "try:\n    import bench.run\nexcept ImportError:\n    pass"),
    ],
)
def test_an_upward_import_is_found(room: str, source: str) -> None:
    assert upward(room, source)


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("schemas", "from schemas.errors import InvalidInput"),
        ("streams", "from . import ledger\nfrom ..streams import agents"),
        ("recollect", "import schemas.ids, projections, streams.ledger"),
        ("projections", "import recollections, streams_of_others"),
    ],
)
def test_a_downward_import_is_not(room: str, source: str) -> None:
    assert not upward(room, source)
