"""The newest of a slot is answered first, also of raw turns; the old stays below it (F7)."""

from __future__ import annotations

import pytest

from recollect import Query
from recollect.schemas.wire import Result
from tests.memory import Memory
from tests.recall.conftest import Open
from tests.recall.kit import DAY, START, ask, say, tell
from tests.recall.test_past import forget

OLD = "The conductor of the Bell Choir is Ana Prado."
NEW = "The conductor of the Bell Choir is Rui Leal."
NEWEST = "The conductor of the Bell Choir is Joe Hill."
#: Said in the words of the question, so that words alone would bring it first.
QUESTION = "Is Ana Prado the conductor of the Bell Choir?"


@pytest.fixture(params=[True, False], ids=["encoder", "words"])
def choir(request: pytest.FixtureRequest, open_memory: Open) -> Memory:
    memory = open_memory(encoder=request.param)
    tell(
        memory,
        [
            say(OLD, "old"),
            say("The Bell Choir sings on Tuesday.", "other", at=START + DAY),
            say(NEWEST, "newest", at=START + 9 * DAY),
            # Told late: it belongs between the two.
            say(NEW, "new", at=START + 5 * DAY),
        ],
    )
    return memory


def order(results: list[Result]) -> list[str]:
    return [item.source_event_ids[0] for item in results]


@pytest.mark.parametrize("scope", [("facts",), ("events",), ("events", "facts")])
def test_the_newest_comes_first_and_the_others_keep_their_order(
    choir: Memory, scope: tuple[str, ...]
) -> None:
    found = ask(choir, QUESTION, scope=scope)
    assert order(found)[0] == "newest"
    assert not found[0].is_stale
    assert sorted(order(found)[1:]) == sorted({*order(found)} - {"newest"})
    assert order(found)[1] == "old"
    assert found[1].is_stale
    assert [change.text for change in found[1].superseded_by] == [f"Ada: {NEW}"]


def test_as_the_only_result_it_is_the_newest(choir: Memory) -> None:
    assert order(ask(choir, QUESTION, max_results=1)) == ["newest"]


def test_who_asks_for_what_was_before_gets_it(choir: Memory) -> None:
    assert order(ask(choir, "Was Ana Prado the conductor of the Bell Choir before?"))[0] == "old"


def test_who_names_a_time_gets_what_held_then(choir: Memory) -> None:
    # START is 5 January 2026.
    asked = "Was Ana Prado the conductor of the Bell Choir on 6 January 2026?"
    assert order(ask(choir, asked))[0] == "old"
    asked = "Is Ana Prado the conductor of the Bell Choir of 1984?"
    assert order(ask(choir, asked))[0] == "newest"


def test_then_it_was_another(choir: Memory) -> None:
    found = ask(choir, QUESTION, valid_at=START + 6 * DAY)
    assert order(found)[0] == "new"


def test_what_the_filters_leave_out_comes_not_first(choir: Memory) -> None:
    found = ask(choir, QUESTION, time_before=START + 2 * DAY)
    assert set(order(found)) == {"old", "other"}


def test_once_the_newest_is_forgotten_the_one_before_is_current_again(choir: Memory) -> None:
    choir.node.ledger.publish(choir.zone, [forget(3)])
    choir.drive()
    found = ask(choir, QUESTION)
    assert order(found)[0] == "new"
    assert not found[0].is_stale
    assert not any("Joe" in item.text for item in found)


def test_the_value_before_is_told(choir: Memory) -> None:
    (newest,) = choir.recall(Query(QUESTION, max_results=1)).results
    assert [change.text for change in newest.supersedes] == [f"Ada: {NEW}"]


def test_a_correction_in_passing_comes_before_what_it_corrects(open_memory: Open) -> None:
    memory = open_memory()
    tell(
        memory,
        [
            say("The long talk about maps on trains is in Room 101.", "talk"),
            say("The dog ate my map.", "dog", at=START + 1),
            say("Correction!! Room 102, not Room 101.", "right", at=START + 2),
        ],
    )
    question = "Is the long talk about maps on trains in Room 101?"
    found = ask(memory, question)
    assert order(found)[:2] == ["right", "talk"]
    assert found[1].is_stale
    assert "Room 102" in found[1].superseded_by[0].text
    assert "Room 101" in found[0].supersedes[0].text
    memory.node.ledger.publish(memory.zone, [forget(3)])
    memory.drive()
    found = ask(memory, question)
    assert order(found)[0] == "talk"
    assert not found[0].is_stale
    assert not found[0].superseded_by
