"""The graph arm follows relationships, only where a query asks for it."""

from __future__ import annotations

import pytest

from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import GraphMode
from tests.memory import Memory
from tests.recall.arms.test_arms import by_arm
from tests.recall.arms.test_observations import CARE, SAID, TEXT, facts_of, observe
from tests.recall.conftest import Open
from tests.recall.kit import ask, say, tell

#: Oslo is two relationships away from Bob Moss; the lighthouse is none of theirs. Each is said in a
#: conversation of its own, so that no turn is found for being beside another.
TALK = [
    say(text, f"m{number}", by=by, peer_id=f"p{number}")
    for number, (by, text) in enumerate(
        (
            ("Ada", "I work with Bob Moss at the moment."),
            ("Carl", "Eve Hart lives in Oslo."),
            ("Carl", "Bob Moss married Eve Hart."),
            ("Carl", "The lighthouse was painted again."),
        ),
        start=1,
    )
]
QUESTION = "Bob Moss"


def found(memory: Memory, mode: GraphMode, **fields: object) -> set[str]:
    return set(by_arm(memory, "graph", QUESTION, graph_mode=mode, **fields))


def test_without_a_mode_no_relationship_is_followed(words_only: Memory) -> None:
    tell(words_only, TALK)
    assert found(words_only, "none") == set()
    plain = ask(words_only, QUESTION, explain=True)
    assert ask(words_only, QUESTION, explain=True, graph_mode="none") == plain


@pytest.mark.parametrize("budget", ["low", "mid", "high"])
def test_relationships_are_followed_over_two_hops(words_only: Memory, budget: str) -> None:
    tell(words_only, TALK)
    assert {"m1", "m2", "m3"} <= found(words_only, "low", budget=budget)
    assert "m4" not in found(words_only, "dual", budget=budget)


def test_what_is_nearer_counts_more(words_only: Memory) -> None:
    tell(words_only, TALK)
    order = by_arm(words_only, "graph", QUESTION, graph_mode="low")
    assert order.index("m3") < order.index("m2")


def test_a_filter_holds_for_what_relationships_lead_to(words_only: Memory) -> None:
    tell(words_only, TALK)
    assert found(words_only, "low", source_event_ids=("m2",)) == {"m2"}


def test_an_answer_that_shares_no_word_is_found_by_the_graph(words_only: Memory) -> None:
    tell(words_only, TALK)
    results = ask(
        words_only,
        QUESTION,
        graph_mode="dual",
        profile="graph",
        explain=True,
        scope=("events",),
    )
    arms = {one.source_event_ids[0]: set(one.arms or {}) for one in results}
    assert arms["m2"] & {"keyword", "semantic", "graph"} == {"graph"}
    assert "graph" not in arms.get("m4", set())


def test_without_a_name_the_most_similar_facts_lead_on(words_only: Memory) -> None:
    tell(words_only, TALK)
    order = by_arm(words_only, "graph", "Who is married?", graph_mode="low")
    assert {"m2", "m3"} <= set(order)


def test_themes_find_nothing_without_observations(open_memory: Open) -> None:
    memory = open_memory(encoder=True)
    tell(memory, TALK)
    assert found(memory, "high") == set()


def test_themes_lead_to_what_their_abstracts_rest_on(memory: Memory) -> None:
    tell(memory, SAID)
    observe(memory, "care", TEXT, facts_of(memory, *CARE))
    question = "Does Ada care for a dog?"
    assert set(by_arm(memory, "graph", question, graph_mode="high")) >= {*CARE}
    assert "boat" not in by_arm(memory, "graph", question, graph_mode="dual")


def test_an_unknown_mode_is_refused(words_only: Memory) -> None:
    tell(words_only, TALK)
    with pytest.raises(InvalidInput, match="graph_mode"):
        ask(words_only, QUESTION, graph_mode="up")
