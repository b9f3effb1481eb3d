"""Reranking (B5): a cross-encoder judges the best candidates again where one is configured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest

from recollect import Query
from recollect.cli.app import run
from recollect.home.home_directory import Home
from recollect.projections.recall import DEFAULT_PROFILE, Profile
from recollect.projections.recall.ranking.profiles import RRF_PROFILE
from tests.encoder import random_model
from tests.memory import Memory
from tests.recall import kit
from tests.recall.conftest import Open
from tests.recall.kit import START, ConceptEncoder, plain, say, tell

SAID = [
    say("I own a dog.", "dog"),
    say("I own a hound and a dog.", "both", by="Bob", at=START + 1),
    say("The puppy slept.", "puppy", at=START + 2),
    say("It rained.", "rain", by="Bob", at=START + 3),
    say("I sold a car.", "car", at=START + 4),
]
ASKED = Query("Who owns a dog?", scope=("events",))


class Judge:
    """Prefers texts with a word, and remembers what it was shown."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.shown: list[tuple[str, list[str]]] = []

    def __call__(self, question: str, texts: Sequence[str]) -> np.ndarray:
        self.shown.append((question, list(texts)))
        return np.array([0.9 if self.word in text else 0.2 for text in texts], np.float32)


@pytest.fixture
def filled(memory: Memory) -> Memory:
    tell(memory, SAID)
    memory.create_mental_model("Pets", "A dog sleeps")
    return memory


def recalled(
    memory: Memory, query: Query, judge: Judge | None, profile: Profile = DEFAULT_PROFILE
) -> list[tuple[str, float]]:
    return [
        (item.source_event_ids[0] if item.source_event_ids else item.type, item.score)
        for item in kit.recalled(memory, query, profile, judge, ConceptEncoder()).results
    ]


def test_the_judge_decides_the_order_and_the_scores(filled: Memory) -> None:
    without = recalled(filled, ASKED, None)
    assert without[0][0] in ("dog", "both")
    judge = Judge("slept")
    (best, score), *rest = recalled(filled, ASKED, judge)
    assert best == "puppy"
    assert score == pytest.approx(0.9)
    # Equal to it, the others keep the order that the arms gave them.
    assert [id_ for id_, _ in rest] == [id_ for id_, _ in without if id_ != "puppy"]
    assert [score for _, score in rest] == pytest.approx([0.2] * len(rest))


def test_the_judge_reads_the_question_and_who_said_what(filled: Memory) -> None:
    judge = Judge("")
    recalled(filled, ASKED, judge)
    ((question, texts),) = judge.shown
    assert question == "Who owns a dog?"
    assert set(texts) >= {"Ada: I own a dog.", "Bob: I own a hound and a dog."}


def test_what_is_no_turn_is_judged_too(filled: Memory) -> None:
    query = msgspec.structs.replace(ASKED, scope=("events", "mental_models"))
    (best, score), *_ = recalled(filled, query, Judge("Pets"))
    assert best == "mental_model"
    assert score == pytest.approx(0.9)


def test_so_many_are_judged_and_the_others_come_after(filled: Memory) -> None:
    profile = msgspec.structs.replace(DEFAULT_PROFILE, rerank_limit=2)
    without = [id_ for id_, _ in recalled(filled, ASKED, None)]
    judge = Judge("nothing that was said")
    found = recalled(filled, ASKED, judge, profile)
    assert [len(texts) for _, texts in judge.shown] == [2]
    assert [id_ for id_, _ in found] == without
    assert all(score <= 0.2 + 1e-6 for _, score in found)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_the_low_budget_asks_no_judge(filled: Memory) -> None:
    judge = Judge("slept")
    low = msgspec.structs.replace(ASKED, budget="low")
    assert recalled(filled, low, judge) == recalled(filled, low, None)
    assert judge.shown == []


def test_diversity_comes_after_the_judge(filled: Memory) -> None:
    query = msgspec.structs.replace(ASKED, max_results=1)
    assert recalled(filled, query, Judge("rained"), RRF_PROFILE)[0][0] == "rain"


def test_a_question_that_finds_nothing_needs_no_judge(open_memory: Open) -> None:
    memory = open_memory(encoder=False)
    tell(memory, SAID)
    judge = Judge("")
    assert kit.recalled(memory, Query("zeppelin"), DEFAULT_PROFILE, judge).results == []


def test_a_home_is_given_one_and_another_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RECOLLECT_CACHE", str(tmp_path / "cache"))
    model = random_model.write_cross_encoder(tmp_path / "judge", seed=5, shape=random_model.TINY)
    home = str(tmp_path / "home")

    def init(*options: str) -> str | None:
        capfd.readouterr()
        assert run(["--home", home, "init", "--encoder", "none", *options, "--json"]) == 0
        name: str | None = json.loads(capfd.readouterr().out)["reranker"]
        return name

    def scores(known_at: int | None = None) -> list[float]:
        with Memory(home) as memory:
            answer = memory.recall(Query("own a dog", scope=("events",)), known_at=known_at)
            return [item.score for item in answer.results]

    assert init() is None
    with Memory(home) as memory:
        tell(memory, SAID)
        tell(memory, [say("I walked.", "later", ingested_at=9_000_000_000_000 // 2)])
    by_arms = scores()
    name = init("--reranker", str(model))
    assert name is not None
    assert name.startswith("judge@")
    judged = scores()
    assert judged != by_arms
    assert len(judged) == len(by_arms)
    assert init() == name
    assert init("--reranker", "none") is None
    assert scores() == by_arms
    with Memory(home) as memory:
        plain(memory.recall(ASKED))
    assert Home(Path(home)).settings.reranker is None
