"""Imports run downwards only: recollect, streams, projections, text, schemas; none in a circle."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path, PurePath

import pytest

ROOT = Path(__file__).resolve().parent.parent

# From the bottom up; a room may import itself and the rooms before it.
ROOMS = ("schemas", "text", "projections", "streams", "recollect")
# What stands around the rooms may import any of them, and is imported by none.
AROUND = ("bench", "demo", "tests", "training")
# Folders at the top level that are imported as `recollect.NAME`, never by their bare name.
LINKED = ("schemas", "projections", "streams")

# Inside a room, from the bottom up: a package may import itself and the packages before it.
PACKAGES = {
    "recollect": (
        "schemas",
        "text",
        "projections",
        "streams",
        "home",
        "operations",
        "library",
        "remote",
        "mcp_server",
        "service",
        "page",
        "integrations",
        "compat",
        "cli",
    ),
    "recollect.streams": (
        "system",
        "models",
        "ledger",
        "records",
        "publishing",
        "language",
        "consolidation",
        "mental_models",
        "learning",
        "relationships",
        "encoder",
        "reader",
        "analyses",
        "agents",
        "projecting",
        "writing",
        "deciding",
        "engine",
        "lifecycle",
        "workers",
        "adapters",
    ),
    "recollect.streams.language": (
        "grammar",
        "names",
        "attributes",
        "references",
        "relations",
        "statements",
    ),
    "recollect.projections.recall": ("index", "question", "arms", "ranking", "answer", "context"),
}

# `Recollect("http://...")` makes its own subclass, which is loaded for that.
MAKES_ITS_SUBCLASS = ("recollect.library.library_home", "recollect.remote.remote_recollect")
# What starts a program stands in no package.
LOOSE = ("__init__", "__main__")
# A folder holds at most this many modules beside its packages.
MAX_MODULES = 15


def imported(source: str, room: str) -> dict[str, int]:
    """Return our rooms that `source` imports, each with the first line that does.

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
            names = [f"{node.module}.{alias.name}" for alias in node.names]
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
            other = room_of(name)
            # A bare name of a linked folder is a room's second identity: no room may use it.
            bare = name.partition(".")[0] in LINKED
            if other and (bare or other != room):
                found.setdefault(f"{other} by its bare name" if bare else other, node.lineno)
    return found


def room_of(name: str) -> str | None:
    """Return the room of ours that a dotted name stands in, None where it is another's."""
    top, *rest = name.split(".")
    if top == "recollect":
        return rest[0] if rest and rest[0] in ROOMS else "recollect"
    return top if top in (*AROUND, *LINKED) else None


def sources(room: str) -> list[Path]:
    """Return the modules of a room. The links to other rooms in `recollect/` are not followed."""
    folder = ROOT / "recollect" / "text" if room == "text" else ROOT / room
    found = sorted(folder.rglob("*.py"))
    return [path for path in found if room != "recollect" or "text" not in path.parts]


def upward(room: str, source: str) -> list[str]:
    """Return what `source`, standing in `room`, must not import."""
    below = ROOMS[: ROOMS.index(room) + 1]
    return [f"{line}: {name}" for name, line in imported(source, room).items() if name not in below]


def has_code(path: Path) -> bool:
    """Whether a module holds more than its docstring."""
    return any(not isinstance(node, ast.Expr) for node in ast.parse(path.read_text("utf-8")).body)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_itself_and_what_is_below(room: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{what}"
        for path in sources(room)
        for what in upward(room, path.read_text("utf-8"))
    ]
    assert not wrong, "imports must run downwards:\n" + "\n".join(wrong)


def folder_of(room: str) -> Path:
    """Return the folder of a room, or of a room within one, as `recollect.projections.recall`."""
    return ROOT.joinpath(*room.removeprefix("recollect.").split("."))


def dotted(path: Path) -> str:
    """Return the name by which a module of `recollect/` is imported."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


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
        if name in order
        and order.index(name) > order.index(package)
        and (dotted(path), name) != (MAKES_ITS_SUBCLASS[0], "remote")
    ]
    assert not wrong, "packages must not depend on those above them:\n" + "\n".join(wrong)


@pytest.mark.parametrize("room", PACKAGES)
def test_every_module_of_a_room_stands_in_one_of_its_packages(room: str) -> None:
    inside = {path.stem for path in folder_of(room).glob("*.py")}.difference(LOOSE)
    folders = {path.parent.name for path in folder_of(room).glob("*/__init__.py")}
    assert not inside, f"loose modules: {sorted(inside)}"
    assert folders == set(PACKAGES[room])


# What `recollect/integrations` may import: packages whose public names are listed in `__all__`.
FOR_INTEGRATIONS = ("recollect", "recollect.service", "recollect.mcp_server")


def not_public(source: str) -> list[str]:
    """Return the imports of inner modules, and what reaches into a zone or a home."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in ("_zone", "_open_home"):
            found.append(f"{node.lineno}: .{node.attr}")
        elif isinstance(node, ast.Import):
            found += [
                f"{node.lineno}: {alias.name}"
                for alias in node.names
                if not is_public(alias.name, set())
            ]
        elif isinstance(node, ast.ImportFrom):
            module = f"{'.' * node.level}{node.module}"
            if not is_public(module, {alias.name for alias in node.names}):
                found.append(f"{node.lineno}: {module}")
    return found


def is_public(module: str, names: set[str]) -> bool:
    """Whether integrations may import these names of a module."""
    top, _, rest = module.partition(".")
    if top not in ("recollect", "") or rest.partition(".")[0] == "integrations":
        return True
    public = set(import_module(module).__all__) if module in FOR_INTEGRATIONS else set()
    return bool(names) and names - {"integrations"} <= public


def test_integrations_use_the_public_library_alone() -> None:
    """Other packages could hold them: nothing of recollect's own is reached into."""
    folder = ROOT / "recollect" / "integrations"
    wrong = [
        f"{path.relative_to(ROOT)}:{what}"
        for path in sorted(folder.rglob("*.py"))
        for what in not_public(path.read_text("utf-8"))
    ]
    assert not wrong, "integrations import public names only:\n" + "\n".join(wrong)


def test_only_entry_points_know_the_integrations() -> None:
    """The service and the MCP server know no product."""
    knowing = {
        path.relative_to(ROOT).as_posix()
        for path in sources("recollect")
        if "integrations" not in path.parts
        and any(
            "recollect.integrations" in ast.unparse(node)
            or "import integrations" in ast.unparse(node)
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
        )
    }
    assert knowing == {
        "recollect/cli/commands/servers/mcp_command.py",
        "recollect/cli/commands/servers/service_commands.py",
        "recollect/compat/mem0.py",
    }


@pytest.mark.parametrize(
    "source",
    [
        "from recollect.library.library_zone import Zone",
        "import recollect.schemas.errors",
        "from recollect.service.application import create_app",
        "from recollect import schemas",
        "from ..library import library_zone",
        "def f(zone):\n    return zone._zone.node",
        "r._open_home.home",
    ],
)
def test_an_integration_that_reaches_inside_is_found(source: str) -> None:
    assert not_public(source)


@pytest.mark.parametrize(
    "source",
    [
        "from recollect import Recollect, InvalidInput",
        "from recollect.service import create_app",
        "from recollect.integrations.kept_items import KeptItems",
        "import json, recollecting",
    ],
)
def test_an_integration_on_public_names_is_not(source: str) -> None:
    assert not not_public(source)


def test_an_import_of_a_package_above_is_found() -> None:
    source = (
        "from recollect.streams.engine.node import Node\n"
        "from recollect.streams import ledger\n"
        "import recollect.streams.system"
    )
    assert packages_imported("recollect.streams", source) == {"engine": 1, "ledger": 2, "system": 3}
    source = (
        "from recollect.projections.recall.answer.assembly import merge_answers\n"
        "import recollect.projections.files"
    )
    assert packages_imported("recollect.projections.recall", source) == {"answer": 1}


@pytest.mark.parametrize("room", ROOMS)
def test_no_room_is_empty(room: str) -> None:
    """So that the test above always has something to look at."""
    assert any(has_code(path) for path in sources(room))


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("schemas", "import recollect.projections.memory"),
        ("schemas", "def f():\n    from recollect.cli import main"),
        ("projections", "from recollect.streams.agents import facts as f"),
        ("projections", "import importlib\nimportlib.import_module('recollect.streams.agents')"),
        ("streams", "import json, recollect"),
        ("text", "from recollect import projections"),
        ("streams", "from schemas.errors import InvalidInput"),
        ("recollect", "from tests.helpers import home"),
        ("streams", "try:\n    import bench.run\nexcept ImportError:\n    pass"),
    ],
)
def test_an_upward_import_is_found(room: str, source: str) -> None:
    assert upward(room, source)


@pytest.mark.parametrize(
    ("room", "source"),
    [
        ("schemas", "from recollect.schemas.errors import InvalidInput"),
        ("streams", "from . import ledger\nfrom ..streams import agents"),
        ("projections", "from recollect.text import words\nfrom recollect import text"),
        ("recollect", "import recollect.schemas.ids, recollect.streams.ledger"),
        ("projections", "import recollections, streams_of_others"),
    ],
)
def test_a_downward_import_is_not(room: str, source: str) -> None:
    assert not upward(room, source)


def modules() -> dict[str, Path]:
    """Return every module of the rooms and around them by the name that it is imported by."""
    found = {}
    for room in (*ROOMS, *AROUND):
        for path in (ROOT / room).rglob("*.py") if room in AROUND else sources(room):
            *folders, name = path.relative_to(ROOT).with_suffix("").parts
            parts = folders if name == "__init__" else [*folders, name]
            found[".".join(["recollect", *parts] if parts[0] in LINKED else parts)] = path
    return found


def running(tree: ast.AST, *, deferred: bool) -> Iterator[ast.AST]:
    """Walk what runs when a module is loaded; with `deferred` functions and types as well."""
    for node in ast.iter_child_nodes(tree):
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        if deferred or not (function or types):
            yield node
            yield from running(node, deferred=deferred)


def modules_imported(
    module: str, source: str, known: Collection[str], *, deferred: bool
) -> set[str]:
    """Return the modules of ours that are loaded by what `source`, the text of `module`, imports.

    With a module the packages are loaded that it stands in, but for those that `module` is in.
    """
    found: set[str] = set()
    for node in running(ast.parse(source), deferred=deferred):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in known else str(node.module) for name in whole]
        for name in names:
            around = name.rpartition(".")[0]
            found.add(name)
            while around and not f"{module}.".startswith(f"{around}."):
                found.add(around)
                around = around.rpartition(".")[0]
    return found.intersection(known) - {module}


def circle(graph: Mapping[str, Collection[str]]) -> list[str]:
    """Return modules of which each imports the next and the last is the first, or none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found[::-1]
    return []


def import_graph(*, deferred: bool) -> dict[str, set[str]]:
    """Return what each module of ours imports."""
    known = modules()
    return {
        module: modules_imported(module, path.read_text("utf-8"), known, deferred=deferred)
        for module, path in known.items()
    }


def test_no_module_is_loaded_by_what_it_loads() -> None:
    assert not circle(import_graph(deferred=False))


def test_no_import_in_a_function_or_for_types_closes_a_circle() -> None:
    graph = import_graph(deferred=True)
    home, remote = MAKES_ITS_SUBCLASS
    graph[home].remove(remote)
    assert not circle(graph)


def test_a_circle_of_imports_is_found() -> None:
    texts = {
        "a.one": "from a.two import f",
        "a.two": "import a.three",
        "a.three": "def f():\n    from a import one",
        "b": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import b.deep",
        "b.deep": "from b import name",
    }
    at_once, deferred = (
        {
            module: modules_imported(module, source, texts, deferred=deferred)
            for module, source in texts.items()
        }
        for deferred in (False, True)
    )
    assert circle(at_once) == []
    assert set(circle(deferred)) in ({"a.one", "a.two", "a.three"}, {"b", "b.deep"})
    assert deferred["b"] == {"b.deep"}
    assert deferred["b.deep"] == {"b"}
    assert modules_imported("c", "import b.deep", texts, deferred=False) == {"b", "b.deep"}


def crowded(modules: Iterable[PurePath]) -> dict[str, int]:
    """Return the folders that hold more than MAX_MODULES modules themselves, with their number."""
    folders = Counter(path.parent.as_posix() for path in modules if path.stem != "__init__")
    return {folder: count for folder, count in folders.items() if count > MAX_MODULES}


def test_no_folder_is_a_drawer_of_loose_modules() -> None:
    rooms = ("recollect", *LINKED, *AROUND, "examples")
    modules = {
        path.resolve().relative_to(ROOT) for room in rooms for path in (ROOT / room).rglob("*.py")
    }
    assert len(modules) > 500
    assert not crowded(modules)


def test_a_drawer_of_loose_modules_is_found() -> None:
    held = [PurePath(f"room/{place}.py") for place in range(MAX_MODULES)]
    inside = [PurePath("room/__init__.py"), PurePath("room/corner/one.py")]
    assert crowded([*held, *inside]) == {}
    assert crowded([*held, PurePath("room/more.py")]) == {"room": MAX_MODULES + 1}
