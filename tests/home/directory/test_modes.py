"""A home is its owner's alone, whatever the umask says."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.home.home_directory import Home as MadeHome
from tests.home.kit import SENTENCES, Home
from tests.memory import Memory

UMASKS = [0o000, 0o022, 0o077]


def modes(directory: Path) -> dict[str, str]:
    """Return what of a home has other modes than 0600 and 0700."""
    found = {}
    for path in (directory, *directory.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if mode != (0o700 if path.is_dir() else 0o600):
            found[str(path.relative_to(directory))] = oct(mode)
    return found


@pytest.fixture
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.parametrize("umask", UMASKS, indirect=True)
def test_everything_of_a_home_is_its_owners_alone_after_every_command(
    umask: int, tmp_path: Path
) -> None:
    home = Home(tmp_path / "deep" / "er" / "home").make(*SENTENCES)
    home.well("recall", "Where does Ada live?", "--known-at", "2100-01-01T00:00:00Z")
    home.well("recall", "Where does Ada live?", "--known-at", "2026-05-02T00:00:00Z")
    home.well("rebuild")
    home.well("forget", "m-2")
    home.well("rebuild", "--level", "derive")
    home.well("verify")
    home.well("worker", "--once")
    home.well("doctor")
    names = {path.name for path in home.files()}
    assert {"ledger.db", "keys.db", "driver.db", "home.json", "CURRENT", "driver.lock"} <= names
    assert modes(home.path) == {}
    # So are the directories above it that had to be made.
    assert stat.S_IMODE(home.path.parents[1].stat().st_mode) == 0o700


@pytest.mark.parametrize("umask", UMASKS, indirect=True)
def test_what_lies_beside_open_files_is_its_owners_alone_too(umask: int, tmp_path: Path) -> None:
    made = MadeHome.create_or_open(tmp_path / "home", without_encoder=True)
    with Memory(made) as memory:
        memory.remember("Ada lives in Berlin.")
        names = {path.name for path in made.directory.rglob("*")}
        assert {"ledger.db-wal", "ledger.db-shm", "memory.db-wal", "memory.db-shm"} <= names
        assert modes(made.directory) == {}


def test_a_home_in_an_empty_directory_that_others_may_read_is_private(tmp_path: Path) -> None:
    directory = tmp_path / "home"
    directory.mkdir()
    directory.chmod(0o755)
    Home(directory).make()
    assert modes(directory) == {}


def test_a_home_of_an_older_recollect_works_and_init_makes_it_private(tmp_path: Path) -> None:
    home = Home(tmp_path / "home").make(*SENTENCES)
    for path in home.files():
        path.chmod(0o755 if path.is_dir() else 0o644)
    assert home.found("Where does Ada live?")
    (private,) = [
        check
        for check in home.well("doctor", "--json").json["checks"]
        if check["check"] == "private"
    ]
    assert private["ok"]
    assert "users other than the owner" in private["detail"]
    assert "init" in private["detail"]
    home.well("init")
    assert modes(home.path) == {}
    assert home.found("Where does Ada live?")
