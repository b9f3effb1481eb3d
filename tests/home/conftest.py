"""A home that was filled once, and a copy of it for each test."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.home.kit import SENTENCES, Home


@pytest.fixture(autouse=True)
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("RECOLLECT_")]:
        monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with events, facts, an erasure and an older generation."""
    home = Home(tmp_path_factory.mktemp("filled") / "home").make(*SENTENCES)
    home.well("rebuild")
    home.well("forget", "m-2")
    return home.path


@pytest.fixture
def home(filled: Path, tmp_path: Path) -> Home:
    """A copy of the home that a test may damage."""
    shutil.copytree(filled, tmp_path / "home")
    return Home(tmp_path / "home")
