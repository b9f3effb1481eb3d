"""What builds before fault 51 recorded as a repeat is an occasion of its fact."""

from __future__ import annotations

from recollect.projections.memory import MemoryModel
from recollect.projections.memory.fact_statements import FactStatement, statements
from recollect.projections.memory.memory_queries import occasions_of_event, repeat_times
from recollect.schemas.changes import AnyRow, DuplicateStatement, Fact, FactOccasion, Section
from recollect.schemas.ids import event_id

#: 2026-01-05T10:00:00Z, and an hour later.
FIRST, AGAIN = 1_767_607_200_000, 1_767_610_800_000
E1, E2 = (event_id("z", "chat", f"m{at}", at) for at in (FIRST, AGAIN))
FACT = Fact("F", "Ada lives in Turin.", None, FIRST, FIRST, E1, "{}", FIRST, "00ff")


def memory(*rows: AnyRow) -> MemoryModel:
    model = MemoryModel(None)
    model.project([Section((), (FACT, DuplicateStatement(E2, 0, "F", "same words"), *rows))])
    return model


def test_a_repeat_of_an_earlier_build_is_said_at_the_time_of_its_event() -> None:
    connection = memory().connection
    expected = [FactStatement(E1, FIRST), FactStatement(E2, AGAIN)]
    assert statements(connection, ["F"]) == {"F": expected}
    assert repeat_times(connection, "F") == [AGAIN]
    assert occasions_of_event(connection, E2) == [("F", "Ada lives in Turin.")]


def test_a_repeat_of_an_earlier_build_counts_once_beside_its_occasion() -> None:
    again = FactOccasion("F", E2, 0, AGAIN, "Ada lives in Turin.", "said again", 1)
    assert repeat_times(memory(again).connection, "F") == [AGAIN]


def test_a_repeat_of_an_earlier_build_can_be_withdrawn() -> None:
    gone = FactOccasion("F", E2, 0, AGAIN, "", "", 0)
    connection = memory(gone).connection
    assert statements(connection, ["F"]) == {"F": [FactStatement(E1, FIRST)]}
    assert occasions_of_event(connection, E2) == []
