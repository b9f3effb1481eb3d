"""No module name stands for two things, and every public name says what it is."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import recollect
from recollect import Recollect, Zone
from recollect.remote.remote_recollect import RemoteRecollect
from recollect.remote.remote_zone import RemoteZone

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("schemas", "projections", "streams", "recollect")


def modules() -> Iterator[ModuleType]:
    yield recollect
    for found in pkgutil.walk_packages(recollect.__path__, "recollect."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def undocumented(module: ModuleType) -> Iterator[str]:
    """Yield the public names that a module defines without a docstring of theirs or a base's."""
    if not module.__doc__:
        yield module.__name__
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if (inspect.isclass(value) or inspect.isfunction(value)) and not inspect.getdoc(value):
            yield f"{module.__name__}.{name}"
        if inspect.isclass(value):
            for key, member in vars(value).items():
                function = member.fget if isinstance(member, property) else member
                function = getattr(function, "__func__", function)
                if key.startswith("_") or not inspect.isfunction(function):
                    continue
                if not inspect.getdoc(getattr(value, key)):
                    yield f"{module.__name__}.{name}.{key}"


def test_every_public_name_is_documented() -> None:
    assert [name for module in modules() for name in undocumented(module)] == []


def test_a_name_without_a_docstring_is_found() -> None:
    module = ModuleType("bare")
    exec("class A:\n    'What it is.'\n    def b(self): ...\ndef c(): ...", vars(module))
    for value in (module.A, module.c):
        value.__module__ = "bare"
    assert list(undocumented(module)) == ["bare", "bare.A.b", "bare.c"]


def test_no_module_name_appears_twice() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if not path.stem.startswith("__"):
                places[path.stem].append(path.relative_to(ROOT).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_what_a_zone_of_a_home_has_a_zone_of_a_service_has_too() -> None:
    """Nothing is left to the home's own, which a service does not have."""
    for own, remote in ((Zone, RemoteZone), (Recollect, RemoteRecollect)):
        public = {name for name in vars(own) if not name.startswith("_")}
        assert public - set(vars(remote)) == set()
    options = [inspect.signature(kind.__init__).parameters for kind in (Recollect, RemoteRecollect)]
    assert list(options[0]) == list(options[1])
