"""A home without an encoder, for the tests of promises to users."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.promises.kit import Shell
from tests.protocol.kit import in_memory


@pytest.fixture
def room() -> Iterator[Path]:
    with in_memory() as path:
        yield path


@pytest.fixture
def shell(room: Path, capfd: pytest.CaptureFixture[str]) -> Shell:
    shell = Shell(room, capfd)
    shell("init", "--encoder", "none")
    return shell
