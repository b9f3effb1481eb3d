"""The locks: every dependency, exactly, with hashes, from wherever the reader's registry is."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from recollect.streams.system.extras import MODULES

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXTRAS: dict[str, list[str]] = PYPROJECT["project"]["optional-dependencies"]

# The locks are resolved on one Python on one machine, and serve all of these.
MACHINES = [
    {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "os_name": "posix",
        "sys_platform": system.lower(),
        "platform_system": system,
        "platform_machine": machine,
    }
    for python in ("3.11", "3.12", "3.13", "3.14")
    for system, machine in (("Linux", "x86_64"), ("Linux", "aarch64"), ("Darwin", "arm64"))
]


@dataclass(frozen=True)
class Pin:
    requirement: Requirement
    hashes: frozenset[str]


def read_lock(text: str) -> dict[str, Pin]:
    """Return the pins of a lock by normalised name."""
    pins: dict[str, Pin] = {}
    joined = re.sub(r"\\\n\s*", "", text)
    for line in joined.splitlines():
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        requirement, *hashes = re.split(r"\s*--hash=", line)
        parsed = Requirement(requirement)
        pins[canonicalize_name(parsed.name)] = Pin(parsed, frozenset(h.strip() for h in hashes))
    return pins


def faults(text: str) -> list[str]:
    """Return what makes a lock loose, or ties it to one registry."""
    found = [f"address: {line}" for line in text.splitlines() if "://" in line]
    found += [
        f"option: {line}"
        for line in text.splitlines()
        if re.match(r"\s*-", line) and not line.lstrip().startswith("--hash=sha256:")
    ]
    pins = {} if found else read_lock(text)
    for name, pin in pins.items():
        if not re.fullmatch(r"==[^*,]+", str(pin.requirement.specifier)):
            found.append(f"not exact: {name}")
        if not pin.hashes or not all(re.fullmatch(r"sha256:[0-9a-f]{64}", h) for h in pin.hashes):
            found.append(f"no sha256: {name}")
    return found


def declared(lock: str) -> list[Requirement]:
    """Return what pyproject.toml asks the lock to hold: the command with `all`, or every extra."""
    named = [*PYPROJECT["build-system"]["requires"], *PYPROJECT["project"]["dependencies"]]
    held = EXTRAS if lock == "requirements-dev.lock" else {"all": EXTRAS["all"]}
    return [Requirement(line) for line in chain(named, *held.values())]


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_is_exact_and_hashed_and_names_no_registry(lock: str) -> None:
    text = (ROOT / lock).read_text("utf-8")
    assert read_lock(text)
    assert faults(text) == []


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_holds_every_declared_dependency(lock: str) -> None:
    pins = read_lock((ROOT / lock).read_text("utf-8"))
    missing = []
    for wanted in declared(lock):
        pin = pins.get(canonicalize_name(wanted.name))
        version = next(iter(pin.requirement.specifier)).version if pin else None
        if version is None or version not in wanted.specifier:
            missing.append(f"{wanted} (locked: {version})")
    assert not missing, "run make lock; it lacks: " + ", ".join(missing)


def test_the_dev_lock_holds_the_other_unchanged() -> None:
    run, dev = (read_lock((ROOT / lock).read_text("utf-8")) for lock in LOCKS)
    assert {name: str(pin.requirement) for name, pin in run.items()} == {
        name: str(dev[name].requirement) for name in run if name in dev
    }
    assert all(pin.hashes == dev[name].hashes for name, pin in run.items())


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_is_closed_on_every_python_and_system_we_serve(lock: str) -> None:
    """Walk the installed packages' own requirements, with the markers of other machines."""
    pins = read_lock((ROOT / lock).read_text("utf-8"))
    missing, walked = set(), set()
    for machine in MACHINES:
        todo = [(canonicalize_name(r.name), frozenset(r.extras)) for r in declared(lock)]
        seen = set()
        while todo:
            name, extras = todo.pop()
            if (name, extras) in seen:
                continue
            seen.add((name, extras))
            try:
                lines = requires(name) or []
            except PackageNotFoundError:
                missing.add(f"{name} (not installed, python {machine['python_version']})")
                continue
            walked.add(name)
            for need in map(Requirement, lines):
                if need.marker and not any(
                    need.marker.evaluate({**machine, "extra": extra}) for extra in {"", *extras}
                ):
                    continue
                wanted = canonicalize_name(need.name)
                if wanted not in pins:
                    missing.add(f"{wanted} (for {name}, python {machine['python_version']})")
                else:
                    todo.append((wanted, frozenset(need.extras)))
    assert not missing
    assert walked == set(pins), "the lock holds what nothing asks for"


def test_all_is_every_extra_of_the_command_line() -> None:
    assert sorted(EXTRAS["all"]) == sorted({line for extra in MODULES for line in EXTRAS[extra]})


@pytest.mark.parametrize("extra", MODULES)
def test_an_extra_brings_the_modules_that_are_looked_for(extra: str) -> None:
    brought = {canonicalize_name(Requirement(line).name) for line in EXTRAS[extra]}
    modules = packages_distributions()
    found = {canonicalize_name(name) for module in MODULES[extra] for name in modules[module]}
    # Without uvloop everything runs, only slower.
    assert brought - {"uvloop"} == found & brought


HASH = "--hash=sha256:" + "0" * 64


@pytest.mark.parametrize(
    "text",
    [
        f"--index-url any://where/simple\na==1 {HASH}",
        f"--find-links /wheels\na==1 {HASH}",
        f"a @ any://where/a.whl {HASH}",
        f"a>=1 {HASH}",
        f"a==1.* {HASH}",
        "a==1",
        "a==1 \\\n    --hash=md5:" + "0" * 32,
    ],
)
def test_a_loose_lock_is_found(text: str) -> None:
    assert faults(text)


def test_the_lock_of_the_suites_is_exact_and_hashed_too() -> None:
    text = (ROOT / "tests" / "suites" / "requirements.lock").read_text("utf-8")
    assert "langmem" in text
    pins = re.findall(r"^[\w.-]+(\S+).*\\\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", text, re.M)
    assert len(pins) == len(re.findall(r"^\w", text, re.M))
    assert all(re.fullmatch(r"==[^*,]+", pin) for pin, _ in pins)
    assert "://" not in text


def test_the_npm_lock_of_the_suites_is_hashed_and_names_no_registry() -> None:
    text = (ROOT / "tests" / "suites" / "npm" / "package-lock.json").read_text("utf-8")
    packages = json.loads(text)["packages"]
    named = json.loads((ROOT / "tests" / "suites" / "npm" / "package.json").read_text("utf-8"))
    assert packages.pop("")["dependencies"] == named["dependencies"]
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    assert not any("resolved" in one for one in packages.values())
