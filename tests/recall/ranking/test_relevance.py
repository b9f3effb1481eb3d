"""Scores mean the same in every answer, so that "nothing relevant" is one."""

from __future__ import annotations

import itertools

import pytest

from recollect import Query
from recollect.schemas.errors import InvalidInput
from tests.memory import Memory
from tests.recall.kit import DAY, START, ask, cited, plain, say, tell

SAID = [
    "I bought a hound for my daughter.",
    "The automobile broke down on the bridge.",
    "My physician filled me to eat less salt.",
    "We painted the kitchen green.",
    "The orchestra plays in the old theatre.",
]
ANSWERED = ["Who bought a dog?", "car on the bridge", "What did the doctor tell?", "green kitchen"]
NEVER_SAID = ["glacier volcano", "Which submarine sank?", "quantum chromodynamics lecture"]


@pytest.fixture(params=["memory", "words_only"])
def filled(request: pytest.FixtureRequest) -> Memory:
    memory: Memory = request.getfixturevalue(request.param)
    drafts = [say(text, f"m{place}", at=START + place * DAY) for place, text in enumerate(SAID)]
    tell(memory, drafts)
    return memory


def best(memory: Memory, question: str, **fields: object) -> float:
    return max((result.score for result in ask(memory, question, **fields)), default=0.0)


@pytest.mark.parametrize("budget", ["low", "mid", "high"])
def test_what_was_said_scores_more_than_what_was_not(memory: Memory, budget: str) -> None:
    drafts = [say(text, f"m{place}", at=START + place * DAY) for place, text in enumerate(SAID)]
    tell(memory, drafts)
    answered = [best(memory, question, budget=budget) for question in ANSWERED]
    never = [best(memory, question, budget=budget) for question in NEVER_SAID]
    assert all(more > less for more, less in itertools.product(answered, never))


def test_nothing_relevant_is_an_answer(filled: Memory) -> None:
    for question in NEVER_SAID:
        assert ask(filled, question, min_score=0.4) == []
    assert cited(ask(filled, "green kitchen", min_score=0.4)) == ["m3"]


def test_a_least_score_takes_away_and_changes_nothing_else(filled: Memory) -> None:
    every = plain(filled.recall(Query("green kitchen bridge")))
    for least in (0.1, 0.3, every[0]["score"]):
        some = plain(filled.recall(Query("green kitchen bridge", min_score=least)))
        assert some == [result for result in every if result["score"] >= least]


def test_why_says_that_it_scored_too_little(memory: Memory) -> None:
    tell(memory, [say(text, f"m{place}", at=START + place) for place, text in enumerate(SAID)])
    became = memory.explain(Query("green kitchen", scope=("events",), min_score=0.9), "m1")
    assert became is not None
    assert became.dropped_by in ("min_score", "arms")


@pytest.mark.parametrize("least", [-0.1, 1.1, float("nan")])
def test_a_least_score_is_from_0_to_1(memory: Memory, least: float) -> None:
    with pytest.raises(InvalidInput, match="min_score"):
        ask(memory, "dog", min_score=least)
