"""What was forgotten stands on no disk; `python -m tests.residue --kafka` forgets more of more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.residue.__main__ import table
from tests.residue.kafka import run
from tests.residue.world import make_world

pytestmark = pytest.mark.kafka


def test_nothing_of_what_was_forgotten_is_left_on_the_broker_or_in_a_home(room: Path) -> None:
    said: list[str] = []
    residue = run(room, make_world(60, 5), said.append)
    told = "\n".join([*said, table(residue), *map(str, residue.left[:5]), *residue.wrong])
    assert residue.clean, told
