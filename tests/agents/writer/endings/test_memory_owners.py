"""A stored memory ends no claim and no statement of a memory that its owner may not change."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest

from recollect.schemas.events import Draft
from recollect.streams.agents.memories.memory_keeper import MemoryKeeper
from recollect.streams.agents.writer.rule_writer import RuleWriter
from tests.agents.kit import DAY, START, Zone, asks_to_remember, says


def stores(owner: str, words: str, day: int, **fields: str) -> Draft:
    """Return a memory that everyone may read; all have the same sender, as those of the API do."""
    attributes = {"scope": "user", "visibility": "public", "user_id": owner, **fields}
    return asks_to_remember(words, by="user", at=START + day * DAY, **attributes)


def zone_of(drafts: Sequence[Draft]) -> Zone:
    return Zone(RuleWriter(), MemoryKeeper()).given(*drafts)


def current(*drafts: Draft) -> list[str]:
    return zone_of(drafts).current_facts()


OLD, NEW = "Tom lives in Turin.", "Tom lives in Lyon."


def test_a_value_of_one_owner_does_not_end_that_of_another() -> None:
    for drafts in permutations([stores("ada", OLD, 1), stores("bob", NEW, 2)]):
        assert current(*drafts) == [OLD, NEW]
    for drafts in permutations([stores("ada", OLD, 1), stores("ada", NEW, 2)]):
        assert current(*drafts) == [NEW]


def test_the_values_of_each_owner_follow_each_other_in_every_order_of_arrival() -> None:
    told = [
        stores("ada", OLD, 1),
        stores("bob", "Tom lives in Oslo.", 2),
        stores("ada", NEW, 3),
        stores("bob", "Tom lives in Rome.", 4),
    ]
    for drafts in permutations(told):
        assert current(*drafts) == [NEW, "Tom lives in Rome."]


@pytest.mark.parametrize(
    ("said", "correction"),
    [
        ("The rehearsal is in room 12.", "Correction: the rehearsal is in room 15, not room 12."),
        ("I eat fish.", "I no longer eat fish."),
    ],
)
def test_a_correction_ends_only_what_its_owner_may_change(said: str, correction: str) -> None:
    assert current(stores("ada", said, 1), stores("bob", correction, 2)) == [said, correction]
    assert current(stores("ada", said, 1), stores("ada", correction, 2)) == [correction]


def test_the_nearest_one_that_may_end_is_corrected_in_every_order_of_arrival() -> None:
    said, correction = "I eat fish.", "I no longer eat fish."
    told = [stores("ada", said, 1), stores("bob", said, 2), stores("ada", correction, 3)]
    sql = "SELECT as_of, text FROM facts WHERE id NOT IN (SELECT fact_id FROM fact_ends) ORDER BY 1"
    for drafts in permutations(told):
        both = zone_of(drafts).ask("memory", sql)
        assert both == [(START + 2 * DAY, said), (START + 3 * DAY, correction)]


def test_an_agent_changes_what_its_user_owns_and_no_agent_what_another_does() -> None:
    of_user = stores("ada", OLD, 1)
    of_agent = stores("ada", OLD, 1, scope="agent", agent_id="nurse")
    by_nurse = stores("ada", NEW, 2, agent_id="nurse")
    by_cook = stores("ada", NEW, 2, agent_id="cook")
    assert current(of_user, by_cook) == [NEW]
    assert current(of_agent, by_nurse) == [NEW]
    assert current(of_agent, stores("ada", NEW, 2)) == [NEW]
    assert current(of_agent, by_cook) == [OLD, NEW]


def test_everyone_changes_what_the_zone_owns_and_only_its_author_what_is_global() -> None:
    assert current(stores("ada", OLD, 1, scope="zone"), stores("bob", NEW, 2)) == [NEW]
    assert current(stores("ada", OLD, 1, scope="global"), stores("bob", NEW, 2)) == [OLD, NEW]


def test_a_message_ends_what_anyone_stored() -> None:
    moved = says("Tom", "I moved to Lyon.", at=START + 3 * DAY)
    told = [says("Tom", "Hello."), stores("ada", OLD, 1), moved]
    assert OLD not in current(*told)


def test_what_two_owners_store_in_the_same_words_is_two_facts() -> None:
    told = [stores("ada", OLD, 1), stores("bob", OLD, 2), stores("ada", NEW, 3)]
    for drafts in permutations(told):
        assert current(*drafts) == [OLD, NEW]
