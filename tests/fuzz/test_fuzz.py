"""A few cases of every fuzzer, the same ones each time; `make fuzz` tries others, for longer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS
from tests.protocol.kit import in_memory

# Some of them take a command or several for each case.
_EXAMPLES = {"codec": 200, "library": 30}
_OTHER_EXAMPLES = 4


@pytest.fixture
def room() -> Iterator[Path]:
    with in_memory() as path:
        yield path


@pytest.mark.parametrize("target", TARGETS, ids=[target.name for target in TARGETS])
def test_it_holds(target: Target, room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RECOLLECT_HOME", "RECOLLECT_LEDGER", "RECOLLECT_FAILPOINT"):
        monkeypatch.delenv(name, raising=False)
    target.fuzz(room, _EXAMPLES.get(target.name, _OTHER_EXAMPLES), seed=11)
