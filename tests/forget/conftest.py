"""A home without an encoder, and the command line on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.streams.system import failpoints
from tests.forget.kit import Recollect
from tests.protocol.kit import in_memory


@pytest.fixture
def recollect(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Recollect]:
    """The command line on a new home."""
    for name in ("RECOLLECT_HOME", "RECOLLECT_LEDGER", "RECOLLECT_FAILPOINT"):
        monkeypatch.delenv(name, raising=False)
    with in_memory() as room:
        made = Recollect(room, capfd)
        made.run("init", "--encoder", "none")
        yield made
        failpoints.disarm()


@pytest.fixture
def room(recollect: Recollect) -> Path:
    return recollect.home.parent
