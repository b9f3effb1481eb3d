"""A shell with a home that has no encoder."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.home.home_directory import Home
from tests.cli.kit import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    Home.create_or_open(tmp_path / "home", without_encoder=True)
    return Shell(tmp_path)
