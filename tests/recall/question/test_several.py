"""Several questions asked at once: each finds its own evidence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from recollect import Query
from tests.memory import Memory
from tests.recall.kit import DAY, START, ask, cited, say, talk, tell

QUESTION = "Where did Ann move, and what does she cook for Bob?"


@pytest.fixture
def filled(memory: Memory, salient_only: Callable[[str], None]) -> Memory:
    salient_only("move")
    streets = ("Elm", "Oak", "Ash", "Fir")
    drafts = [
        *(
            say(f"Ann did move to street {street}.", f"move-{street}", by="Ann", at=START + place)
            for place, street in enumerate(streets)
        ),
        say("I will move to Leeds.", "leeds", by="Ann", peer_id="a", at=START + DAY),
        say("On Sundays I make a pot of cabbage soup.", "soup", by="Ann", peer_id="b"),
        say("There is always cook and pan.", "cook", by="Ann", peer_id="c", at=START + 3 * DAY),
        *talk(*[("Bob", f"Nothing new on day {day}.") for day in range(8)], peer_id="d"),
    ]
    tell(memory, drafts)
    return memory


def test_each_finds_its_evidence_where_together_one_crowds_out_the_other(filled: Memory) -> None:
    as_one = "Where Ann did move, what she does cook for Bob"
    whole = ask(filled, as_one, max_results=4)
    assert {result.sub_question for result in whole} == {None}
    assert "cook" not in cited(whole)
    found = cited(ask(filled, QUESTION, max_results=4))
    assert "cook" in found
    assert any(id_.startswith(("move", "leeds")) for id_ in found)


def test_every_result_says_which_question_it_answers_in_turn(filled: Memory) -> None:
    parts = [result.sub_question for result in ask(filled, QUESTION, max_results=6)]
    assert parts[:4] == ["Where did Ann move", "what does she cook for Bob?"] * 2


def test_nothing_is_answered_twice(filled: Memory) -> None:
    results = ask(filled, "Where did Ann move, and where did Bob move?", max_results=100)
    assert len({result.id for result in results}) == len(results)
    assert {result.sub_question for result in results} == {
        "Where did Ann move",
        "where did Bob move?",
    }


def test_each_result_scores_as_its_question_asked_alone_would(filled: Memory) -> None:
    alone = {
        question: {result.id: result.score for result in ask(filled, question)}
        for question in ("When does Bob fly?", "Where did Ann move?")
    }
    for result in ask(filled, "When does Bob fly? Where did Ann move?"):
        assert result.sub_question is not None
        assert result.score == alone[result.sub_question][result.id]


def test_a_question_that_finds_nothing_leaves_the_other_its_room(filled: Memory) -> None:
    both = ask(filled, "What about xylophones? Where did Ann move?", min_score=0.5, max_results=3)
    assert cited(both) == cited(ask(filled, "Where did Ann move?", min_score=0.5, max_results=3))
    assert both


@pytest.mark.parametrize("budget", ["low", "mid", "high"])
def test_of_very_many_the_last_takes_the_rest(filled: Memory, budget: str) -> None:
    text = " ".join(f"Where is thing number {place}?" for place in "abcdefgh")
    parts = {result.sub_question for result in ask(filled, text, budget=budget, max_results=100)}
    assert len(parts) == {"low": 2, "mid": 3, "high": 4}[budget]
    assert sum((part or "").count("?") for part in parts) == 8


def test_one_question_is_answered_as_ever(filled: Memory) -> None:
    for text in ("When and where did Ann move?", "Where did Ann move", "Ann and Bob?"):
        results = ask(filled, text)
        assert all(result.sub_question is None for result in results)


def test_every_result_is_explained_as_it_stands_in_the_answer(filled: Memory) -> None:
    results = ask(filled, QUESTION, explain=True, max_results=4)
    for rank, result in enumerate(results, 1):
        became = filled.explain(Query(QUESTION, max_results=4), result.id)
        assert became is not None
        assert (became.rank, became.score, became.sub_question) == (
            rank,
            result.score,
            result.sub_question,
        )
        assert became.arms == result.arms
        assert became.query == QUESTION
    every = ask(filled, QUESTION, max_results=100)
    left = next(item for item in every if item.id not in {result.id for result in results})
    became = filled.explain(Query(QUESTION, max_results=4), left.id)
    assert became is not None
    assert became.rank is None
    assert became.dropped_by == "max_results"
    assert became.sub_question in {result.sub_question for result in results}


def test_names_are_kept_with_who_is_meant_by_she(filled: Memory) -> None:
    results = ask(filled, "Where did Ann move? What does she cook?", explain=True, max_results=100)
    of_second = [result for result in results if result.sub_question == "What does she cook?"]
    preferred = [result for result in of_second if (result.arms or {}).get("entity") == 1]
    assert preferred
    assert all(id_.startswith(("move", "leeds", "cook", "soup")) for id_ in cited(preferred))
