"""Explain (E4): each arm's rank of any memory, recalled or not, and the step that dropped it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from recollect import Query
from recollect.cli.app import run
from recollect.projections.recall import Profile
from recollect.projections.recall.ranking.profiles import RRF_PROFILE
from recollect.schemas.wire import Explanation
from tests.memory import Memory
from tests.recall.arms.test_observations import observe
from tests.recall.conftest import Open
from tests.recall.kit import DAY, MINUTE, START, ask, say, tell
from tests.recall.test_past import forget, token

QUESTION = "Who owns a hound?"
SAID = [
    say("I own a dog.", "dog"),
    say("I own a cat. I own a boat.", "two", by="Bob", at=START + MINUTE, platform="mail"),
    say("I saw a puppy with Grace Hopper.", "puppy", at=START + 2 * DAY),
    say("It rained.", "rain", by="Bob", at=START + 4 * DAY),
    say("I live in Rome.", "rome", at=START + 5 * DAY),
    say("I live in Oslo.", "oslo", at=START + 6 * DAY),
]


@pytest.fixture
def filled(memory: Memory) -> Memory:
    tell(memory, SAID)
    return memory


def became(memory: Memory, id_: str, text: str = QUESTION, **fields: Any) -> Explanation:
    explanation = memory.explain(Query(text, **fields), id_)
    assert explanation is not None
    return explanation


@pytest.mark.parametrize("scope", [("events",), ("facts",), ("events", "facts")])
@pytest.mark.parametrize("budget", ["low", "mid", "high"])
def test_a_result_has_the_rank_score_and_arms_of_the_answer(
    filled: Memory, scope: Any, budget: Any
) -> None:
    results = ask(filled, QUESTION, scope=scope, budget=budget, explain=True)
    assert len(results) > 3
    for rank, result in enumerate(results, 1):
        found = became(filled, result.id, scope=scope, budget=budget)
        assert (found.rank, found.score, found.arms) == (rank, result.score, result.arms)
        assert (found.type, found.dropped_by) == (result.type, None)


def test_what_was_not_recalled_has_the_ranks_that_it_would_have_had(filled: Memory) -> None:
    every = ask(filled, QUESTION, max_results=100, explain=True)
    for result in every[1:]:
        found = became(filled, result.id, max_results=1)
        assert found.arms == result.arms
        assert (found.rank, found.dropped_by) == (None, "max_results")
        assert found.fused_rank is not None
        assert found.fused_rank > 1
        # The final score decides, not the rank of the searches together.
        assert found.reason is not None
        score = re.search(r"scores (\d\.\d\d), too little", found.reason)
        assert score is not None
        assert float(score[1]) <= round(every[0].score, 2)


@pytest.mark.parametrize(
    ("id_", "fields", "step", "word"),
    [
        ("rain", {"scope": ("facts",)}, "scope", "facts"),
        ("dog", {"platform": "mail"}, "filter", "platform"),
        ("dog", {"time_after": START + DAY}, "filter", "time_after"),
        ("two", {"time_before": START}, "filter", "time_before"),
        ("dog", {"entity": "Grace Hopper"}, "filter", "entity"),
        ("rome", {"valid_at": START + 9 * DAY}, "filter", "valid_at"),
        ("rain", {"text": "zeppelin", "budget": "mid"}, "arms", "keyword"),
        ("dog", {}, "stands_for", "fact"),
    ],
)
def test_the_step_that_dropped_it(
    open_memory: Open, id_: str, fields: dict[str, Any], step: str, word: str
) -> None:
    memory = open_memory(encoder=fields.get("text") is None)
    tell(memory, SAID)
    found = became(memory, id_, **fields)
    assert (found.rank, found.score) == (None, None)
    assert found.dropped_by == step
    assert word in found.reason


def test_several_filters_are_all_named(filled: Memory) -> None:
    found = became(filled, "dog", platform="mail", time_after=START + DAY)
    assert "platform, time_after" in found.reason


def test_a_turn_beyond_the_pool(open_memory: Open) -> None:
    memory = open_memory(profile=Profile(pool=3))
    tell(memory, [say(f"dog {place} " + "rain " * place, f"m{place}") for place in range(8)])
    answered = {id_ for item in ask(memory, "dog", max_results=1) for id_ in item.source_event_ids}
    steps = {
        f"m{place}": became(memory, f"m{place}", "dog", max_results=1, scope=("events",))
        for place in range(8)
    }
    assert {id_ for id_, found in steps.items() if found.rank} == answered
    dropped = [found.dropped_by for found in steps.values()]
    assert dropped.count("max_results") == 2
    assert dropped.count("pool") == 5
    assert sorted(found.fused_rank or 0 for found in steps.values()) == list(range(1, 9))


def test_one_that_says_the_same_as_others(open_memory: Open) -> None:
    memory = open_memory(profile=RRF_PROFILE)
    tell(memory, [say("I own a dog", f"d{place}", peer_id=f"p{place}") for place in range(3)])
    tell(memory, [say("It rained on my dog", "other", peer_id="x")])
    fields: dict[str, Any] = {"max_results": 2, "scope": ("events",)}
    assert "other" in {item.source_event_ids[0] for item in ask(memory, "I own a dog", **fields)}
    dropped = [became(memory, f"d{place}", "I own a dog", **fields) for place in range(3)]
    assert [found.dropped_by for found in dropped].count("diversity") == 2


def test_what_is_being_forgotten(filled: Memory) -> None:
    (fact,) = (item for item in ask(filled, QUESTION, scope=("facts",)) if "dog" in item.text)
    filled.node.ledger.publish(filled.zone, [forget(1)])
    assert filled.explain(Query(QUESTION), "dog") is None
    assert became(filled, fact.id).dropped_by == "unreadable"


def test_mental_models_and_entities(filled: Memory) -> None:
    filled.create_mental_model("Pets", "Ada keeps a retriever")
    (model,) = ask(filled, QUESTION, scope=("mental_models",))
    (grace,) = ask(filled, "Grace Hopper", scope=("entities",))
    assert became(filled, model.id).rank
    assert became(filled, model.id, scope=("events",)).dropped_by == "scope"
    assert became(filled, model.id, platform="chat").dropped_by == "filter"
    assert became(filled, grace.id).dropped_by == "scope"
    assert became(filled, grace.id, scope=("entities",)).dropped_by == "arms"
    assert became(filled, grace.id, "Grace Hopper", scope=("entities",)).rank == 1


def test_an_answer_of_the_past_is_explained_as_of_then(filled: Memory) -> None:
    place = token(filled)
    before = filled.explain(Query(QUESTION), "puppy", known_at=place)
    tell(filled, [say("I own a hound. I own a boat.", "later", by="Eve")])
    assert filled.explain(Query(QUESTION), "puppy", known_at=place) == before
    assert filled.explain(Query(QUESTION), "later", known_at=place) is None
    assert became(filled, "later").rank == 1


def test_the_chain_of_every_kind_leads_to_its_events(filled: Memory) -> None:
    filled.create_mental_model("Pets", "Ada keeps a retriever")
    (model,) = ask(filled, QUESTION, scope=("mental_models",))
    filled.update_mental_model(model.id, "Ada keeps a puppy")
    (newer,) = ask(filled, QUESTION, scope=("mental_models",))
    facts = [item for item in ask(filled, "dog puppy", scope=("facts",)) if "o" in item.text][:2]
    observe(filled, "care", "Ada cares.", [item.id for item in facts])
    chain = filled.why("care")
    assert (chain.type, chain.text) == ("observation", "Ada cares.")
    assert set(chain.source_event_ids) == {item.source_event_ids[0] for item in facts}
    assert filled.why(model.id).type == "mental_model"
    steps = [step.description for step in filled.why(newer.id).steps]
    assert f"a new version of mental model {model.id}" in steps


def test_nothing_has_this_id(filled: Memory) -> None:
    assert filled.explain(Query(QUESTION), "no such id") is None


def test_on_the_command_line(filled: Memory, capfd: pytest.CaptureFixture[str]) -> None:
    home = str(filled.home.directory)

    def said(*arguments: str, status: int = 0) -> str:
        capfd.readouterr()
        assert run(["--home", home, "why", *arguments]) == status
        return capfd.readouterr().out

    words = ("rain", "--query", "own", "--scope", "events", "-k", "1")
    assert "dropped by" in said(*words)
    found = json.loads(said(*words, "--json"))["recall"]
    assert found["rank"] is None
    assert found["dropped_by"] in ("arms", "max_results")
    assert "result 1" in said("dog", "--query", "dog", "--scope", "events")
    assert "recall" not in json.loads(said("rain", "--json"))
    said("nobody", "--query", "own", status=2)
