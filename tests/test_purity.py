"""No clock, no randomness, no network and no environment in deciding and projecting.

`extract`, `resolve` and `project`, and all of ours that they import, are read as syntax trees:
what a module merely names counts as used, so an unused import is a fault as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("schemas", "projections", "streams", "recollect")

# Where extract and resolve live; project is found by its name.
AGENTS, LANGUAGE = "streams/agents/", ("streams/language", "recollect/text/")

# The gateways of rule 7 (docs/commit.md) record what they answer. The search ends at them.
GATEWAYS = ("streams/encoder/", "streams/encoder.py")

# Passed over when something pure merely leads there, and never imported by a pure module itself.
ALLOWED = {
    "recollect.schemas.ledger.seal": (
        "draws keys and nonces where the ledger is written, not in the agents"
    )
}

# A module whose every use is a fault, or one name of a module.
FORBIDDEN = {
    "clock": "time sched datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today"
    " datetime.date.today",
    "randomness": "random secrets os.urandom os.getrandom uuid.uuid1 uuid.uuid4 uuid.uuid6"
    " uuid.uuid7 uuid.getnode numpy.random hash",
    "network": "socket socketserver ssl select selectors http urllib.request urllib3 requests"
    " httpx aiohttp aiokafka ftplib smtplib imaplib poplib xmlrpc huggingface_hub"
    " asyncio.open_connection asyncio.start_server asyncio.open_unix_connection"
    " asyncio.start_unix_server asyncio.streams",
    "environment": "subprocess multiprocessing locale os.environ os.environb os.getenv os.getpid"
    " os.system os.popen platform getpass asyncio.create_subprocess_exec"
    " asyncio.create_subprocess_shell",
}
REASONS = {name: reason for reason, names in FORBIDDEN.items() for name in names.split()}
# Modules of which only some names are forbidden: `import *` from them would hide those.
PARTLY = {name.rpartition(".")[0] for name in REASONS if "." in name}
# Methods of an event loop, whatever the loop is called.
LOOP_METHODS = {"create_connection", "create_server", "create_datagram_endpoint", "getaddrinfo"}

SQL = re.compile(r"\s*(select|insert|update|delete|replace|with|create|pragma)\b", re.IGNORECASE)
SQL_FAULTS = {
    "clock": re.compile(
        r"\bcurrent_(?:timestamp|date|time)\b|'now'"
        r"|\b(?:datetime|date|time|julianday|unixepoch)\s*\(\s*\)",
        re.IGNORECASE,
    ),
    "randomness": re.compile(r"\brandom(?:blob)?\s*\(", re.IGNORECASE),
}


def sql_faults(sql: str) -> Iterator[tuple[int, str]]:
    """Yield (line, fault) for SQLite's own clock and generator."""
    for number, line in enumerate(sql.splitlines(), 1):
        code = line.partition("--")[0]
        for reason, pattern in SQL_FAULTS.items():
            if found := pattern.search(code):
                yield number, f"{found.group()} in SQL ({reason})"


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree, except for what only a type checker sees."""
    yield tree
    for child in ast.iter_child_nodes(tree):
        if isinstance(tree, ast.If) and child in tree.body:
            test = tree.test
            name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", None)
            if name == "TYPE_CHECKING":
                continue
        yield from running(child)


def absolute(node: ast.ImportFrom, package: str) -> str:
    """Return the module that a from-import names, seen from within `package`."""
    if not node.level:
        return node.module or ""
    base = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


IMPORTERS = ("import_module", "__import__")


class Import(NamedTuple):
    line: int
    name: str  # in full, "?" where it is computed
    here: str = ""  # the name it is bound to
    meaning: str = ""  # what that name then stands for


def imports(tree: ast.AST, package: str) -> Iterator[Import]:
    """Yield every import, those by `import_module` included."""
    for node in running(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                here, meaning = (alias.asname, alias.name) if alias.asname else (top, top)
                yield Import(node.lineno, alias.name, here, meaning)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = f"{absolute(node, package)}.{alias.name}"
                yield Import(node.lineno, name, alias.asname or alias.name, name)
        elif isinstance(node, ast.Call) and node.args and last_name(node) in IMPORTERS:
            yield Import(node.lineno, text_of(node.args[0]) or "?")


def last_name(call: ast.Call) -> str:
    """Return the called name, without what it is an attribute of."""
    return ast.unparse(call.func).rpartition(".")[2]


def text_of(node: ast.AST) -> str | None:
    """Return the string that a literal holds."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def reason_for(name: str) -> str | None:
    """Return why a qualified name, or something it belongs to, is forbidden."""
    parts = name.split(".")
    return next(
        (r for n in range(len(parts), 0, -1) if (r := REASONS.get(".".join(parts[:n])))), None
    )


def faults(source: str, package: str = "recollect.streams.agents") -> list[tuple[int, str]]:
    """Return (line, fault) for what `source`, a module of `package`, must not name."""
    tree = ast.parse(source)
    found: list[tuple[int, str]] = []
    bound: dict[str, str] = {}
    for line, name, here, meaning in imports(tree, package):
        module, _, last = name.rpartition(".")
        if name == "?":
            found.append((line, "an import of a name that is computed"))
        elif last == "*" and module in PARTLY:
            found.append((line, f"{name} hides what it brings"))
        elif reason := reason_for(name):
            found.append((line, f"{name} ({reason})"))
        bound[here] = meaning

    def qualified(node: ast.AST) -> str | None:
        if isinstance(node, ast.Name):
            return bound.get(node.id)
        if isinstance(node, ast.Attribute):
            base = qualified(node.value)
            return f"{base}.{node.attr}" if base else None
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr":
            base, name = qualified(node.args[0]), text_of(node.args[1])
            return f"{base}.{name}" if base and name else None
        return None

    # `d = datetime` passes a name on; twice is enough for a name of a name.
    for _ in range(2):
        for node in running(tree):
            if isinstance(node, ast.Assign) and (source_name := qualified(node.value)):
                bound |= {t.id: source_name for t in node.targets if isinstance(t, ast.Name)}

    own = {n.name for n in running(tree) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    for node in running(tree):
        if isinstance(node, ast.Attribute | ast.Call):
            used = qualified(node)
            if used and (reason := reason_for(used)):
                found.append((node.lineno, f"{used} ({reason})"))
        if isinstance(node, ast.Call):
            called = qualified(node.func)
            found += [(node.lineno, fault) for fault in call_faults(node, own, called)]
        if isinstance(node, ast.Constant) and SQL.match(text_of(node) or ""):
            found += [(node.lineno + n - 1, fault) for n, fault in sql_faults(str(node.value))]
    return sorted(set(found))


def call_faults(node: ast.Call, own: set[str], name: str | None) -> Iterator[str]:
    """Yield what is wrong with a call by its form: the machine's hash seed, zone or network."""
    if isinstance(node.func, ast.Name) and node.func.id == "hash" and "hash" not in own:
        yield "hash() differs from process to process (randomness)"
    if isinstance(node.func, ast.Attribute):
        nothing = not node.args and not node.keywords
        if node.func.attr == "astimezone" and nothing:
            yield "astimezone() reads the machine's zone (environment)"
        if node.func.attr in LOOP_METHODS:
            yield f"{node.func.attr} (network)"
    if name == "datetime.datetime.fromtimestamp" and len(node.args) + len(node.keywords) < 2:
        yield "fromtimestamp() without a zone reads the machine's (environment)"


def our_modules(root: Path = ROOT) -> dict[str, Path]:
    """Return every module of the rooms by its dotted name."""
    modules = {}
    for room in ROOMS:
        for path in (root / room).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            dotted = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            modules[dotted if room == "recollect" else f"recollect.{dotted}"] = path
    return modules


def package_of(module: str, path: Path) -> str:
    return module if path.name == "__init__.py" else module.rpartition(".")[0]


def our_imports(module: str, modules: Mapping[str, Path]) -> set[str]:
    """Return our modules that a module names, packages by their `__init__`."""
    path = modules[module]
    tree = ast.parse(path.read_text("utf-8"))
    named = set()
    for imported in imports(tree, package_of(module, path)):
        whole = imported.name.removesuffix(".*")
        # `from a.b import c` means the module a.b.c where there is one, else a.b.
        for candidate in (whole, whole.rpartition(".")[0]):
            if candidate in modules:
                named.add(candidate)
                break
    return named


def is_door(path: Path, root: Path = ROOT) -> bool:
    return path.relative_to(root).as_posix().startswith(GATEWAYS)


def applies_changes(path: Path) -> bool:
    """Whether a module of the projections applies changes: it says so, or defines `project`."""
    return path.name.startswith(("project", "model")) or any(
        isinstance(node, ast.FunctionDef) and node.name == "project"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
    )


def pure_roots(root: Path = ROOT) -> dict[str, set[str]]:
    """Return the modules that must be pure, by what they do."""
    found: dict[str, set[str]] = {"agents": set(), "language": set(), "project": set()}
    for name, path in our_modules(root).items():
        place = path.relative_to(root).as_posix()
        if place.startswith(AGENTS):
            found["agents"].add(name)
        elif place.startswith(LANGUAGE):
            found["language"].add(name)
        elif place.startswith("projections/") and applies_changes(path):
            found["project"].add(name)
    return found


def impurities(root: Path = ROOT) -> list[str]:
    """Return every fault in the pure modules and in all they lead to, with the way there."""
    modules = our_modules(root)
    roots = sorted(set().union(*pure_roots(root).values()))
    found = []
    way = {name: name for name in roots}
    todo = list(roots)
    while todo:
        module = todo.pop()
        path = modules[module]
        if is_door(path, root) or module in ALLOWED:
            continue
        source = path.read_text("utf-8")
        for line, fault in faults(source, package_of(module, path)):
            found.append(f"{path.relative_to(root)}:{line}: {fault}, by way of {way[module]}")
        for name in sorted(our_imports(module, modules)):
            if module in roots and name in ALLOWED:
                found.append(f"{path.relative_to(root)}: imports {name}, which {ALLOWED[name]}")
            if name not in way:
                way[name] = f"{way[module]} > {name}"
                todo.append(name)
    return sorted(found)


def test_deciding_and_evolving_are_pure() -> None:
    assert impurities() == []


@pytest.mark.parametrize("kind", ["agents", "language", "project"])
def test_there_is_something_to_look_at(kind: str) -> None:
    assert pure_roots()[kind]


def test_the_schemas_of_the_files_read_no_clock() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {fault}"
        for path in sorted((ROOT / "projections").rglob("*.sql"))
        for line, fault in sql_faults(path.read_text("utf-8"))
    ]
    assert wrong == []


def test_what_is_allowed_exists_and_needs_to_be() -> None:
    for module in ALLOWED:
        assert faults(our_modules()[module].read_text("utf-8")), f"{module} needs no allowance"


IMPURE = {
    "time": "import time\ntime.time()",
    "a clock as a default": "import time\ndef f(clock=time.monotonic): ...",
    "another name for datetime": "from datetime import datetime as d\nd.now()",
    "a module's other name": "import datetime as dt\ndt.datetime.now(dt.UTC)",
    "utcnow": "import datetime\ndatetime.datetime.utcnow()",
    "today": "from datetime import date\ndate.today()",
    "a name passed on": "from datetime import datetime\nd = datetime\nnow = d.now",
    "getattr": "import os\ngetattr(os, 'urandom')(8)",
    "inside a function": "def f():\n    from random import choice\n    return choice([1])",
    "secrets": "import secrets",
    "urandom": "from os import urandom",
    "uuid4": "import uuid\nuuid.uuid4()",
    "numpy's generator": "import numpy as np\nnp.random.default_rng()",
    "hash": "def f(text): return hash(text)",
    "socket": "import socket",
    "http": "from http.client import HTTPConnection",
    "urllib": "import urllib.request",
    "urllib's other form": "from urllib import request",
    "asyncio": "import asyncio\nasync def f(): await asyncio.open_connection('h', 1)",
    "a loop": "async def f(loop): await loop.create_connection(None)",
    "subprocess": "import subprocess as sp",
    "locale": "import locale",
    "environ": "import os\nos.environ['HOME']",
    "getenv": "from os import getenv as g\ng('HOME')",
    "the machine's zone": "from datetime import datetime\ndatetime.fromtimestamp(0)",
    "the machine's zone again": "def f(moment): return moment.astimezone()",
    "a star": "from os import *",
    "an import by name": "import importlib\nimportlib.import_module('time')",
    "an import by computed name": "def f(name): return __import__(name)",
    "SQL's clock": "Q = 'INSERT INTO t VALUES (CURRENT_TIMESTAMP)'",
    "SQL's now": "Q = \"SELECT datetime('now')\"",
    "SQL's generator": "Q = 'SELECT id FROM t ORDER BY random()'",
}


@pytest.mark.parametrize("source", IMPURE.values(), ids=IMPURE)
def test_an_impurity_is_found(source: str) -> None:
    assert faults(source)


PURE_SOURCES = {
    "a given moment": "from datetime import UTC, datetime\ndatetime.fromtimestamp(0, UTC)",
    "parsing": "from datetime import datetime\ndatetime.fromisoformat('2026-05-08')",
    "time of day": "from datetime import time, timedelta\ntime(12)",
    "derived uuid": "import uuid\nuuid.uuid5(uuid.NAMESPACE_URL, 'x')",
    "paths": "import os.path\nos.path.join('a', 'b')",
    "parsing addresses": "from urllib.parse import urlsplit",
    "own methods": "class C:\n    def now(self): ...\nC().now()",
    "words": "x = 'it is random (really), and now'",
    "types only": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import socket",
    "digests": "import hashlib\nhashlib.sha256(b'')",
    "SQL": "Q = 'SELECT now, occurred_at FROM events WHERE valid_from <= ?'",
}


@pytest.mark.parametrize("source", PURE_SOURCES.values(), ids=PURE_SOURCES)
def test_what_is_pure_passes(source: str) -> None:
    assert faults(source) == []


def grow(root: Path, files: Mapping[str, str]) -> None:
    for name, source in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(source, "utf-8")


AGENT = "streams/agents/a.py"


@pytest.mark.parametrize(
    "files",
    [
        {AGENT: "from recollect.streams.b import f", "streams/b.py": "import recollect.schemas.c",
         "schemas/c.py": "import time"},
        {AGENT: "from ..b import f", "streams/b.py": "import random"},
        {AGENT: "from recollect.streams import b", "streams/b.py": "import random"},
        {AGENT: "from .deep import f", "streams/agents/deep/__init__.py": "import secrets"},
        {AGENT: "from recollect.streams.b import *", "streams/b.py": "import socket"},
        {AGENT: "from recollect.schemas.ledger.seal import seal", "schemas/ledger/seal.py": ""},
        {"projections/memory/project_facts.py": "import time"},
        {"projections/rows.py": "import time\nclass M:\n    def project(self): ..."},
        {"recollect/text/lexicon.py": "import locale"},
    ],
)  # fmt: skip
def test_an_impurity_further_down_is_found(files: dict[str, str], tmp_path: Path) -> None:
    grow(tmp_path, files)
    assert impurities(tmp_path)


@pytest.mark.parametrize(
    "files",
    [
        {AGENT: "from recollect.streams.encoder.pool import f",
         "streams/encoder/pool.py": "import time"},
        {AGENT: "import recollect.streams.encoder.gateway",
         "streams/encoder/gateway.py": "import socket"},
        {AGENT: "import recollect.schemas.ledger.records",
         "schemas/ledger/records.py": "import recollect.schemas.ledger.seal",
         "schemas/ledger/seal.py": "import os\nos.urandom(8)"},
        {"streams/workers.py": "import time", AGENT: "import json"},
        {"projections/memory/memory_queries.py": "import time", AGENT: "import json"},
    ],
)  # fmt: skip
def test_gateways_and_what_no_agent_imports_are_left_alone(
    files: dict[str, str], tmp_path: Path
) -> None:
    grow(tmp_path, files)
    assert impurities(tmp_path) == []
