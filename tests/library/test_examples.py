"""Every public name has an example, and every example says what happens."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import inspect
import json
import pkgutil
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import AsyncZone, Recollect, RecollectError, Zone, paginate
from recollect.operations.table.zone_operations import all_operations
from recollect.schemas import wire
from recollect.streams.system.extras import MODULES

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "library.md"
DOCUMENTED = (
    "recollect.library.library_home",
    "recollect.library.library_zone",
    "recollect.library.library_async",
    "recollect.library.pagination",
    "recollect.schemas.wire.answering",
)
HELD = [
    {"id": "m1", "sender_id": "u1", "sender_name": "Ada", "content": "I live in Turin."},
    {"id": "m2", "sender_id": "u2", "sender_name": "Bob", "content": "I moved to Oslo."},
]
NEW = {"id": "m9", "sender_id": "u1", "sender_name": "Ada", "content": "I sing in a choir."}


def _event(said: dict[str, str], minute: int) -> dict[str, str]:
    return {"platform": "chat", "occurred_at": f"2026-05-08T13:{minute}:00Z", **said}


def _examples() -> Iterator[doctest.DocTest]:
    for name in DOCUMENTED:
        module = importlib.import_module(name)
        for test in doctest.DocTestFinder().find(module):
            # Its methods have the docstrings of Zone's.
            if test.examples and not test.name.startswith(f"{name}.AsyncZone."):
                yield test
    for operation in all_operations():
        text = inspect.getdoc(operation.function) or ""
        name, place = f"Zone.{operation.name}", operation.function.__globals__
        yield doctest.DocTestParser().get_doctest(text, dict(place), name, None, None)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that holds what the examples ask about."""
    home = tmp_path_factory.mktemp("held") / "home"
    with Recollect(home, encoder="none") as r:
        r.zone("ada").ingest([_event(said, 56 + place) for place, said in enumerate(HELD)])
    return home


@pytest.mark.parametrize("test", list(_examples()), ids=lambda test: test.name)
def test_an_example_is_true(
    test: doctest.DocTest, held: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(held, tmp_path / "held")
    (tmp_path / "chats.jsonl").write_text(json.dumps(_event(NEW, 58)) + "\n")
    monkeypatch.chdir(tmp_path)
    with Recollect(tmp_path / "held") as r:
        test.globs |= {
            "r": r,
            "zone": r.zone("ada"),
            "home": tmp_path / "new",
            "asyncio": asyncio,
            "paginate": paginate,
            "Zone": Zone,
        }
        told: list[str] = []
        doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    assert not told, "".join(told)


def _public() -> Iterator[tuple[str, Any]]:
    for name in ("AsyncRecollect", "AsyncZone", "Query", "Recollect", "Zone", "paginate"):
        value = getattr(recollect, name)
        yield name, value
        for attribute, member in vars(value).items():
            shown = callable(member) or isinstance(member, property)
            if shown and not attribute.startswith("_") and name != "Query":
                yield f"{name}.{attribute}", member


PUBLIC = dict(_public()) | {f"Zone.{found.name}": found.function for found in all_operations()}


def _errors(base: type[RecollectError]) -> set[str]:
    """Return the names of the product's errors, in whatever module they are defined."""
    for found in pkgutil.walk_packages(recollect.__path__, "recollect."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    pending, names = [base], set()
    while pending:
        error = pending.pop()
        pending += error.__subclasses__()
        if error.__module__.startswith("recollect.") and not error.__name__.startswith("_"):
            names.add(error.__name__)
    return names


def test_the_package_exports_every_error_and_every_result_type() -> None:
    assert {*_errors(RecollectError), *wire.__all__} <= set(recollect.__all__)
    for name in recollect.__all__:
        assert getattr(recollect, name) is not None


def test_every_export_can_be_imported_without_an_extra() -> None:
    packages = [module for modules in MODULES.values() for module in modules]
    blocked = f"import sys; sys.modules.update(dict.fromkeys({packages}));"
    subprocess.run([sys.executable, "-c", f"{blocked} from recollect import *"], check=True)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(PUBLIC[name]) or ""), name


def test_every_method_of_a_zone_is_in_the_reference() -> None:
    page = REFERENCE.read_text("utf-8")
    for name in vars(Zone):
        if not name.startswith("_") and name not in ("name", "call"):
            assert f"`{name}(" in page, name


def test_what_a_zone_can_do_can_be_awaited() -> None:
    shown = {name for name in vars(Zone) if not name.startswith("_")} - {"call"}
    own = {name for name in vars(AsyncZone) if not name.startswith("_")} - {"call_async"}
    assert own == shown
    for name in shown - {"name"}:
        assert inspect.iscoroutinefunction(getattr(AsyncZone, name)), name
        own_signature = inspect.signature(getattr(AsyncZone, name))
        signature = inspect.signature(getattr(Zone, name))
        if name == "acting_as":
            # It returns a zone of its own kind.
            signature = signature.replace(return_annotation=own_signature.return_annotation)
        assert own_signature == signature
