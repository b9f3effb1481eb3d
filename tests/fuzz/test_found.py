"""What the fuzzers found, each in its smallest form."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Query
from recollect.schemas.errors import IntegrityError, InvalidInput
from recollect.schemas.zones import DEFAULT_ZONE
from recollect.streams.ledger import CHANGES
from tests.fuzz.readers import Written, forged, made
from tests.memory import Memory
from tests.protocol.kit import in_memory


@pytest.fixture
def room() -> Iterator[Path]:
    with in_memory() as path:
        yield path


def with_fact(written: Written, **fields: Any) -> Any:
    """Return what a part said that holds a fact, with other values in some of its columns."""
    columns = ("row", "id", "text", "context", "as_of")
    for text in written.texts:
        if any(row[0] == "fact" for row in text.get("memory", [[], []])[1]):
            changed = copy.deepcopy(text)
            for row in changed["memory"][1]:
                if row[0] == "fact":
                    for name, value in fields.items():
                        row[columns.index(name)] = value
            return changed
    raise AssertionError("no part holds a fact")


UNREADABLE = {
    "a delete without a key": {"memory": [[["facts", []]], []]},
    "a delete in another file": {"memory": [[["entities", ["a"]]], []]},
    "a delete of no integer": {"memory": [[["facts", [2**64 - 1]]], []]},
}


@pytest.mark.parametrize("text", [*UNREADABLE.values(), None], ids=[*UNREADABLE, "a late fact"])
def test_a_change_that_no_file_can_hold_stops_the_zone_by_name(room: Path, text: Any) -> None:
    written = made(room / "home")
    if text is None:
        text = with_fact(written, as_of=2**63)
    with Memory(room / "home") as memory:
        memory.node.ledger.append(CHANGES, DEFAULT_ZONE, [forged(written, text)])
        with pytest.raises(IntegrityError):
            memory.drive()
        found = memory.recall(Query("Zugmilan", scope=("events",))).results
        assert found[0].source_event_ids == ["one"]
        assert not memory.verify().ok


def test_a_time_that_no_door_let_in_is_damage(room: Path) -> None:
    written = made(room / "home")
    with Memory(room / "home") as memory:
        text = with_fact(written, id="forged", as_of=9 * 10**15)
        memory.node.ledger.append(CHANGES, DEFAULT_ZONE, [forged(written, text)])
        memory.drive()
        with pytest.raises(IntegrityError, match="out of range"):
            memory.why("forged")


def test_a_choice_that_is_no_text_is_refused_by_name(room: Path) -> None:
    made(room / "home")
    with Memory(room / "home") as memory, pytest.raises(InvalidInput, match="budget"):
        memory.recall(Query("", budget="\ud800"))  # type: ignore[arg-type]
