"""Look-ups are cached, and no longer than they are true."""

from __future__ import annotations

from recollect.projections.recall.index.lookup_cache import LookupCache
from tests.memory import Memory
from tests.recall.kit import ask, say, tell


class Numbers:
    """Knows the squares of even numbers, and what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []

    def look_up(self, keys: list[int]) -> dict[int, int]:
        self.asked.append(keys)
        return {key: key * key for key in keys if key % 2 == 0}


def test_each_key_is_looked_up_once_also_where_there_is_nothing() -> None:
    numbers = Numbers()
    kept = LookupCache(numbers.look_up, 10)
    assert kept.of([2, 3, 2, 4]) == {2: 4, 4: 16}
    assert kept.of(iter([4, 3, 6])) == {4: 16, 6: 36}
    assert kept.of([2, 3, 4, 6]) == {2: 4, 4: 16, 6: 36}
    assert numbers.asked == [[2, 3, 4], [6]]


def test_no_more_is_kept_than_may_be_and_all_is_answered() -> None:
    numbers = Numbers()
    kept = LookupCache(numbers.look_up, 3)
    assert kept.of([0, 2]) == {0: 0, 2: 4}
    assert kept.of([2, 4, 6]) == {2: 4, 4: 16, 6: 36}
    assert kept.of(range(0, 20, 2)) == {key: key * key for key in range(0, 20, 2)}
    kept.clear()
    assert kept.of([2]) == {2: 4}
    assert numbers.asked[-1] == [2]


def test_what_entities_stand_for_follows_a_merge(memory: Memory) -> None:
    tell(memory, [say("I met Grace Hopper and Gracie Hopper.", "e1")])
    grace, gracie = (
        ask(memory, name, scope=("entities",))[0].id for name in ("Grace Hopper", "Gracie Hopper")
    )
    assert {grace, gracie} <= set(ask(memory, "Who was met?")[0].entity_ids)
    memory.propose_merge(grace, gracie, 0.99, "the same voice")
    assert len({grace, gracie} & set(ask(memory, "Who was met?")[0].entity_ids)) == 1


def test_what_is_said_again_is_cited_from_then_on(memory: Memory) -> None:
    tell(memory, [say("Grace lives in Paris.", "e1")])
    (before,) = ask(memory, "Where does Grace live?")
    assert before.source_event_ids == ["e1"]
    tell(memory, [say("Grace lives in Paris.", "e2")])
    again = ask(memory, "Where does Grace live?")
    assert {"e1", "e2"} == {id_ for result in again for id_ in result.source_event_ids}


def test_what_is_forgotten_is_answered_no_more(memory: Memory) -> None:
    tell(memory, [say("Grace lives in Paris.", "e1"), say("Ada has a car.", "e2")])
    assert "Grace" in ask(memory, "Where does Grace live?")[0].text
    memory.forget("e1")
    assert all("Paris" not in result.text for result in ask(memory, "Where does Grace live?"))
