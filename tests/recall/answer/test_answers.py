"""Answers: turns and facts, whether they are current, their sources, and how many there are."""

from __future__ import annotations

import itertools

import pytest

from recollect import Query
from recollect.projections.recall import BUDGETS
from recollect.projections.recall.ranking.profiles import RRF_PROFILE
from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import DEFAULT_SCOPE, SCOPES
from tests.memory import Memory
from tests.recall.conftest import Open
from tests.recall.kit import DAY, HOUR, START, ask, cited, say, talk, tell


def test_with_raw_turns_in_scope_a_turn_is_answered_once(memory: Memory) -> None:
    tell(
        memory,
        talk(
            ("Ada", "I own a dog."),
            ("Ada", "I own a cat. I own a boat."),
            ("Bob", "Do you own a car?"),
        ),
    )
    found = {item.source_event_ids[0]: item for item in ask(memory, "own")}
    assert {id_: item.type for id_, item in found.items()} == {
        "m1": "fact",
        "m2": "event",
        "m3": "event",
    }
    assert found["m1"].text == "Ada owns a dog."
    assert found["m2"].text == "I own a cat. I own a boat."


def test_with_facts_alone_in_scope_each_stands_for_itself(memory: Memory) -> None:
    tell(memory, talk(("Ada", "I own a cat. I own a boat."), ("Bob", "Do you own a car?")))
    found = ask(memory, "own a boat", scope=("facts",))
    assert [item.text for item in found] == ["Ada owns a boat.", "Ada owns a cat."]
    assert {item.type for item in found} == {"fact"}
    assert cited(found) == ["m1"]


def test_source_ids_leave_only_what_comes_from_them(words_only: Memory) -> None:
    tell(
        words_only,
        talk(("Ada", "I own a dog."), ("Bob", "I own a cat."), ("Cy", "I own a boat.")),
    )
    found = ask(words_only, "dog cat boat", source_event_ids=("m2", "m3", "nothing"))
    assert sorted(cited(found)) == ["m2", "m3"]
    assert ask(words_only, "dog cat boat", source_event_ids=()) == []
    explanation = words_only.explain(Query("dog", source_event_ids=("m2",)), "m1")
    assert explanation is not None
    assert "source_event_ids" in str(explanation.reason)


def test_without_vectors_the_nearest_fact_of_a_turn_is_so_by_words(words_only: Memory) -> None:
    for place in range(6):
        tell(
            words_only,
            [
                say(
                    "I own a cat. I own a boat. I own a kite.",
                    f"x{place}",
                    at=START + place * 2 * DAY,
                )
            ],
        )
        found = ask(words_only, "boat", scope=("facts",), time_after=START + (2 * place - 1) * DAY)
        assert found[0].text == "Ada owns a boat."


def test_turns_without_facts_take_no_place_from_facts(words_only: Memory) -> None:
    crowd = [
        say("Heron?", f"q{place}", at=START + place, peer_id=f"p{place}") for place in range(450)
    ]
    tell(words_only, [*crowd, say("I wrote about that heron in the old book.", "told")])
    assert cited(ask(words_only, "heron", scope=("facts",))) == ["told"]


def test_a_superseded_fact_is_stale_and_so_is_the_turn_that_holds_it(memory: Memory) -> None:
    tell(
        memory,
        [
            say("I live in Rome.", "rome"),
            say("It is hot. I live in Rome.", "again", at=START + HOUR),
            say("I live in Oslo.", "oslo", at=START + 3 * DAY),
        ],
    )
    for scope in (("facts",), ("events",), ("events", "facts")):
        stale = {
            id_: item.is_stale
            for item in ask(memory, "Where does Ada live in Rome or Oslo?", scope=scope)
            for id_ in item.source_event_ids
            if "live" in item.text
        }
        assert stale == {"rome": True, "again": True, "oslo": False}, scope


def test_what_was_said_again_after_its_end_is_not_stale(memory: Memory) -> None:
    tell(
        memory,
        [
            say("I live in Rome.", "rome"),
            say("I live in Oslo.", "oslo", at=START + HOUR),
            say("I live in Rome.", "back", at=START + 2 * HOUR),
        ],
    )
    found = ask(memory, "live in Rome", scope=("events",))
    stale = {item.source_event_ids[0]: item.is_stale for item in found}
    assert (stale["rome"], stale["back"]) == (True, False)


def test_a_turn_is_stale_by_its_fact_that_is_near_the_question(memory: Memory) -> None:
    tell(
        memory,
        [
            say("I live in Rome. I own a retriever.", "both"),
            say("I live in Oslo.", "oslo", at=START + 3 * DAY),
        ],
    )
    stale = {
        question: next(
            item.is_stale for item in ask(memory, question) if item.source_event_ids == ["both"]
        )
        for question in ("live in Rome", "own a dog")
    }
    assert stale == {"live in Rome": True, "own a dog": False}


def test_without_vectors_a_superseded_fact_still_makes_its_turn_stale(words_only: Memory) -> None:
    tell(
        words_only,
        [
            say("I live in Rome. I own a retriever.", "both"),
            say("I live in Oslo.", "oslo", at=START + 3 * DAY),
        ],
    )
    for budget in BUDGETS:
        (turn,) = [
            item
            for item in ask(words_only, "live in Rome", budget=budget)
            if item.source_event_ids == ["both"]
        ]
        assert turn.is_stale


def test_a_fact_that_was_said_again_cites_every_time_in_order(memory: Memory) -> None:
    tell(
        memory,
        [
            say("I own a dog.", "first"),
            say("I own a dog.", "third", at=START + 2 * HOUR),
            say("I own a dog.", "second", at=START + HOUR),
            say("I own a dog.", "fourth", at=START + 3 * HOUR),
        ],
    )
    (fact,) = ask(memory, "own a dog", scope=("facts",))
    assert fact.source_event_ids == ["first", "second", "third", "fourth"]


class TestTheSameRememberTwice:
    """Trace: it is answered twice, as fact and as raw event (F2)."""

    TEXT = "The deploy key is in the blue safe."

    @pytest.fixture(params=[True, False], ids=["encoder", "words"])
    def twice(self, request: pytest.FixtureRequest) -> Memory:
        memory: Memory = request.getfixturevalue("memory" if request.param else "words_only")
        memory.remember(self.TEXT, at=START)
        memory.remember(self.TEXT, at=START + HOUR)
        return memory

    @pytest.mark.parametrize("budget", BUDGETS)
    def test_it_is_answered_once_and_cites_both(self, twice: Memory, budget: str) -> None:
        (fact,) = ask(twice, "Where is the deploy key?", budget=budget)
        assert (fact.type, fact.text) == ("fact", self.TEXT)
        events = ask(twice, "Where is the deploy key?", scope=("events",))
        assert len(fact.source_event_ids) == 2
        assert set(fact.source_event_ids) == set(cited(events))
        assert fact.as_of == "2026-01-05T10:00:00.000Z"

    def test_a_sentence_that_is_said_again_is_answered_once(self, memory: Memory) -> None:
        tell(
            memory,
            [
                say("I own a dog.", "first"),
                say("I own a dog.", "again", at=START + HOUR),
                say("I own a dog. It is old.", "more", at=START + 2 * HOUR),
                say("I own a dog. I walk it daily. It barks.", "most", at=START + 3 * HOUR),
            ],
        )
        found = ask(memory, "Who owns a dog?")
        fact = next(result for result in found if result.text == "Ada owns a dog.")
        assert fact.source_event_ids == ["first", "again", "more", "most"]
        assert len({result.id for result in found}) == len(found)
        assert not any(result.type == "event" and result.text == "I own a dog." for result in found)

    def test_others_take_the_place(self, twice: Memory) -> None:
        for place in range(5):
            twice.remember(f"The deploy key of host {place} is lost.", at=START + DAY + place)
        for count in range(1, 7):
            found = ask(twice, "deploy key", max_results=count)
            assert len({result.id for result in found}) == len(found) == count
            scores = [result.score for result in found]
            assert scores == sorted(scores, reverse=True)

    def test_where_only_the_repeat_is_asked_for_it_is_answered_itself(self, twice: Memory) -> None:
        (again,) = ask(twice, "deploy key", time_after=START)
        assert again.as_of == "2026-01-05T11:00:00.000Z"
        assert again.text == self.TEXT

    def test_why_says_what_stands_for_it(self, twice: Memory) -> None:
        (fact,) = ask(twice, "deploy key")
        for id_ in fact.source_event_ids:
            became = twice.explain(Query("deploy key"), id_)
            assert became is not None
            assert became.dropped_by == "stands_for"
            assert fact.id in became.reason

    def test_what_was_said_again_after_a_late_end_is_so_again(self, memory: Memory) -> None:
        tell(
            memory,
            [
                say("I live in Rome.", "rome"),
                say("I live in Rome.", "soon", at=START + HOUR),
                say("I live in Rome.", "back", at=START + 3 * HOUR),
                say("I live in Oslo.", "oslo", at=START + 2 * HOUR),
            ],
        )
        found = {tuple(item.source_event_ids): item.is_stale for item in ask(memory, "live in")}
        assert found == {("rome", "soon", "back"): False, ("oslo",): True}


def test_results_cite_the_sources_own_ids(memory: Memory) -> None:
    tell(memory, talk(("Ada", "I own a dog."), ("Bob", "Nice dog. Big dog.")))
    for item in ask(memory, "dog", scope=("events", "facts", "entities")):
        assert item.source_event_ids
        assert set(item.source_event_ids) <= {"m1", "m2"}
        assert item.platform == (None if item.type == "entity" else "chat")
        assert item.as_of.startswith("2026-01-05T10:0")


def test_results_name_the_entities_that_stand_now(memory: Memory) -> None:
    tell(memory, talk(("Ada", "I visited Paris."), ("Bob", "It rained.")))
    (ada,) = ask(memory, "Ada", scope=("entities",))
    (paris,) = ask(memory, "Paris", scope=("entities",))
    found = {item.source_event_ids[0]: item for item in ask(memory, "visited rained")}
    assert sorted(found["m1"].entity_ids) == sorted([ada.id, paris.id])


def test_what_was_handed_over_from_memory_gives_no_facts(memory: Memory) -> None:
    block = "<memory_context>I own a zeppelin. Bob owns a submarine.</memory_context>"
    tell(memory, [say(f"{block} I own a dog.", "a"), say("<memory_context> I own a kite.", "b")])
    facts = ask(memory, "zeppelin submarine kite dog own", scope=("facts",))
    assert [item.text for item in facts] == ["Ada owns a dog."]


CROWD = [
    "I own a dog. I own a cat. I own a boat.",
    "Do you own a dog?",
    "I own a car.",
    "Grace Hopper came by with a dog.",
]


@pytest.fixture(scope="module")
def crowd_lines() -> list[tuple[str, str]]:
    return [("Ada", f"{CROWD[place % 4]} Number {place}.") for place in range(60)]


@pytest.mark.parametrize("encoder", [True, False])
@pytest.mark.parametrize("profile", ["default", "rrf"])
def test_no_answer_is_longer_than_asked(
    open_memory: Open, crowd_lines: list, encoder: bool, profile: str
) -> None:
    fields = {"profile": RRF_PROFILE} if profile == "rrf" else {}
    memory = open_memory(encoder=encoder, **fields)
    tell(memory, talk(*crowd_lines))
    memory.create_mental_model("Dogs", "What Ada says about her dog")
    scopes = [(scope,) for scope in SCOPES] + [DEFAULT_SCOPE, SCOPES]
    for budget, scope, count in itertools.product(BUDGETS, scopes, (1, 2, 7, 1_000)):
        results = ask(memory, "Grace Hopper own dog", budget=budget, scope=scope, max_results=count)
        assert len(results) <= count
        assert len({(item.type, item.id) for item in results}) == len(results)
        assert all(0 <= item.score <= 1 for item in results)
        singular = {"events": "event", "facts": "fact", "mental_models": "mental_model"}
        types = {singular.get(name, "entity") for name in scope}
        assert {item.type for item in results} <= types


@pytest.mark.parametrize(
    "fields",
    [
        {"max_results": 0},
        {"max_results": 1_001},
        {"scope": ()},
        {"scope": ("fact",)},
        {"budget": "max"},
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(memory: Memory, fields: dict) -> None:
    with pytest.raises(InvalidInput):
        memory.recall(Query("dog", **fields))


@pytest.mark.parametrize("budget", sorted(BUDGETS))
def test_without_an_encoder_every_budget_answers(words_only: Memory, budget: str) -> None:
    tell(words_only, talk(("Ada", "I own a zeppelin.")))
    assert cited(ask(words_only, "zeppelin", budget=budget)) == ["m1"]


class TestMentalModels:
    """Scope mental_models: the newest versions, by words and by meaning."""

    def test_one_is_found_by_words_and_by_meaning(self, memory: Memory) -> None:
        tell(memory, talk(("Ada", "It rained.")))
        memory.create_mental_model("Pets", "Ada keeps a retriever")
        for question in ("pets", "dog"):
            (found,) = ask(memory, question, scope=("mental_models",))
            assert found.text == "Pets: Ada keeps a retriever"
            assert found.score > 0.2
            assert found.source_event_ids == []

    def test_the_newest_version_alone_is_answered_however_many_there_were(
        self, memory: Memory
    ) -> None:
        tell(memory, talk(("Ada", "It rained.")))
        memory.create_mental_model("Pets", "version 0")
        for version in range(1, 4):
            (newest,) = ask(memory, "pets", scope=("mental_models",))
            memory.update_mental_model(newest.id, f"version {version}")
        (newest,) = ask(memory, "pets", scope=("mental_models",))
        assert newest.text == "Pets: version 3"

    def test_filters_hold(self, memory: Memory) -> None:
        tell(memory, talk(("Ada", "I met Grace Hopper.")))
        (grace,) = ask(memory, "Grace Hopper", scope=("entities",))
        memory.create_mental_model("Grace", "An admiral", entity_id=grace.id)
        memory.create_mental_model("Weather", "An admiral of clouds")
        asked = {"scope": ("mental_models",)}
        (found,) = ask(memory, "admiral", entity="Grace Hopper", **asked)
        assert found.entity_ids == [grace.id]
        assert len(ask(memory, "admiral", **asked)) == 2
        assert ask(memory, "admiral", platform="chat", **asked) == []
        assert ask(memory, "admiral", time_before=START, **asked) == []
        assert len(ask(memory, "admiral", time_after=START - DAY, **asked)) == 2
