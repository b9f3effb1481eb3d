"""The days that the texts of turns name."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import cast

import pytest

from recollect.projections.recall.index import turn_days
from recollect.projections.recall.index.turn_days import TurnDays
from recollect.projections.recall.index.turn_index import Turns


def test_a_read_that_fails_midway_is_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_days, "_BLOCK", 2)
    fails = [False, True, False, False]

    def read(ids: Sequence[str]) -> list[tuple[int, int, int]]:
        if fails.pop(0):
            raise OSError("the disk is busy")
        return [(position, int(id_), int(id_)) for position, id_ in enumerate(ids)]

    turns = cast(Turns, SimpleNamespace(ids=["10", "11", "12", "13", "14"]))
    days = TurnDays(turns, read)
    with pytest.raises(OSError, match="busy"):
        days.named(5)
    found = days.named(5)
    assert found.places.tolist() == [0, 1, 2, 3, 4]
    assert found.first.tolist() == found.last.tolist() == [10, 11, 12, 13, 14]
