"""A home that was filled once, and a copy of it for each test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.backup.kit import Homes


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("RECOLLECT_")]:
        monkeypatch.delenv(name)
    # Without the ticks of imports, the records of a home are those that a test sends.
    monkeypatch.setenv("RECOLLECT_TICKS", "off")


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A room with a home, and a backup of it."""
    room = tmp_path_factory.mktemp("backed-up")
    homes = Homes(room)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECOLLECT_TICKS", "off")
        homes.well("init", "--encoder", "none")
        homes.fill()
        homes.well("backup", str(room / "backup"))
    return room


@pytest.fixture
def homes(filled: Path, tmp_path: Path) -> Homes:
    """A copy of the room."""
    return Homes(tmp_path).copied(filled)
