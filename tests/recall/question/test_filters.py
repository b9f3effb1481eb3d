"""Filters hold before anything is cut off, for the first question and for later ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.home.home_directory import Home
from tests.memory import Memory
from tests.protocol.kit import in_memory
from tests.recall.conftest import Open
from tests.recall.kit import (
    DAY,
    HOUR,
    MINUTE,
    START,
    EncodedHome,
    ask,
    cited,
    say,
    talk,
    tell,
)

CROWD = 700


@pytest.fixture(scope="module")
def crowd() -> Iterator[Path]:
    """A home where far more turns than any arm's pool are nearer than the one asked for."""
    drafts = [
        say(
            f"The dog barks at dog number {place}.",
            f"c{place}",
            at=START + place * MINUTE,
            peer_id=f"p{place}",
        )
        for place in range(CROWD)
    ]
    wanted = "Once Grace Hopper visited Paris with a puppy on any number of long walks."
    drafts.append(say(wanted, "wanted", by="Eve", at=START - 9 * DAY, platform="mail"))
    with in_memory() as room:
        Home.create_or_open(room / "home", without_encoder=True)
        with Memory(EncodedHome(room / "home")) as memory:
            tell(memory, drafts)
        yield room / "home"


@pytest.fixture
def crowded(crowd: Path) -> Iterator[Memory]:
    with Memory(EncodedHome(crowd)) as memory:
        yield memory


FILTERS: list[dict[str, object]] = [
    {"platform": "mail"},
    {"time_before": START - DAY},
    {"time_after": START - 10 * DAY, "time_before": START - 8 * DAY},
    {"entity": "Eve"},
    {"entity": "grace hopper"},
    {"entity": "Grace"},
]


@pytest.mark.parametrize("scope", [("events",), ("facts",), ("events", "facts")])
@pytest.mark.parametrize("fields", FILTERS, ids=str)
def test_a_filter_finds_what_a_crowd_stands_before(
    crowded: Memory, fields: dict, scope: tuple
) -> None:
    for budget in ("low", "mid", "high"):  # the first of them cold
        results = ask(crowded, "the dog barks", scope=scope, budget=budget, **fields)
        assert cited(results) == ["wanted"]


@pytest.mark.parametrize("scope", [("events",), ("facts",)])
def test_the_statement_arm_is_not_cut_off_before_a_filter(crowded: Memory, scope: tuple) -> None:
    (found,) = ask(crowded, "number", platform="mail", scope=scope, explain=True)
    assert (found.arms or {})["statement"] == 1


def test_without_a_filter_the_crowd_is_there(crowded: Memory) -> None:
    assert "wanted" not in cited(ask(crowded, "the dog barks", max_results=100))


def test_bounds_are_exclusive_and_look_at_when_it_was_said(memory: Memory) -> None:
    tell(memory, talk(("Ada", "One dog."), ("Ada", "Two dogs."), ("Ada", "Three dogs.")))
    between = ask(memory, "dog", time_after=START + MINUTE, time_before=START + 3 * MINUTE)
    assert cited(between) == ["m2"]


def test_a_backfill_is_filtered_by_its_own_time_not_by_that_of_its_import(memory: Memory) -> None:
    tell(
        memory,
        [
            say("I sold the boat yesterday.", "old", at=START - 900 * DAY, ingested_at=START),
            say("I sold the car yesterday.", "new", at=START, ingested_at=START),
        ],
    )
    for scope in (("events",), ("facts",)):
        assert cited(ask(memory, "sold", scope=scope, time_before=START - DAY)) == ["old"]
        assert cited(ask(memory, "sold", scope=scope, time_after=START - DAY)) == ["new"]
    (fact,) = ask(memory, "boat", scope=("facts",), time_before=START - DAY)
    assert fact.as_of == "2023-07-20T10:00:00.000Z"
    assert "2023-07-19" in fact.text


def test_an_entity_is_asked_for_by_name_alias_or_id(memory: Memory) -> None:
    tell(
        memory,
        [
            say("I feed the dog.", "a", by="Ada Byron"),
            say("I walk the dog.", "b", by="Bob Stone"),
            say("A dog was seen by Ada Byron.", "c", by="Bob Stone"),
        ],
    )
    (ada,) = ask(memory, "Ada Byron", scope=("entities",))
    for name in ("Ada Byron", "ada byron", "Ada", ada.id, "u-Ada Byron"):
        assert sorted(cited(ask(memory, "dog", entity=name))) == ["a", "c"], name


@pytest.mark.parametrize("budget", ["mid", "high"])
def test_an_entity_that_is_asked_for_is_enough(words_only: Memory, budget: str) -> None:
    """No word of the question stands in what speaks of it, and there is no encoder."""
    tell(
        words_only,
        [
            say("I work on Zephyr with Bob.", "a"),
            say("The office of Zephyr is in Oslo.", "b", at=START + HOUR),
            say("It rained.", "c", at=START + 2 * HOUR),
        ],
    )
    assert cited(ask(words_only, "What happened?")) == []
    found = ask(words_only, "What happened?", entity="Zephyr", budget=budget, explain=True)
    assert sorted(cited(found)) == ["a", "b"]
    assert all("entity" in (item.arms or {}) for item in found)
    assert cited(ask(words_only, "Oslo", entity="Zephyr", budget=budget))[0] == "b"


@pytest.mark.parametrize("entity", ["Nobody", "", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "\ud800"])
def test_an_entity_that_is_not_known_has_nothing(memory: Memory, entity: str) -> None:
    tell(memory, talk(("Ada", "One dog.")))
    assert ask(memory, "dog", entity=entity) == []


def test_a_platform_that_is_not_known_has_nothing(memory: Memory) -> None:
    tell(memory, talk(("Ada", "One dog.")))
    assert ask(memory, "dog", platform="pigeon") == []


def test_zones_are_apart(open_memory: Open) -> None:
    ours, theirs = open_memory("ours"), open_memory("theirs")
    tell(ours, talk(("Ada", "The safe opens with a puppy.")))
    tell(theirs, talk(("Eve", "It rained."), id="x"))
    for question in ("Where is the safe?", "dog", "Ada", "puppy"):
        for scope in (("events", "facts"), ("entities",), ("facts",), ("mental_models",)):
            for budget in ("low", "mid", "high"):
                found = cited(ask(theirs, question, scope=scope, budget=budget))
                assert set(found) <= {"x1"}
    assert ask(open_memory("nobody"), "safe") == []
    assert cited(ask(ours, "safe")) == ["m1"]


class TestEntities:
    """Scope entities: an entity is known from the events that mention it."""

    @pytest.fixture
    def known(self, memory: Memory) -> Memory:
        tell(
            memory,
            [
                say("Grace Hopper came by.", "chat2", at=START, ingested_at=START + 400 * DAY),
                say(
                    "Grace Hopper wrote.",
                    "mail1",
                    at=START - 9 * DAY,
                    platform="mail",
                    ingested_at=START + 400 * DAY,
                ),
                say("It rained.", "chat3", at=START + HOUR),
            ],
        )
        return memory

    def test_it_is_as_of_the_first_event_that_mentions_it(self, known: Memory) -> None:
        (grace,) = ask(known, "Grace Hopper", scope=("entities",))
        assert grace.as_of == "2025-12-27T10:00:00.000Z"
        assert grace.source_event_ids == ["mail1", "chat2"]
        assert grace.entity_ids == [grace.id]

    @pytest.mark.parametrize(
        ("fields", "sources"),
        [
            ({"platform": "mail"}, ["mail1"]),
            ({"platform": "chat"}, ["chat2"]),
            ({"time_after": START - DAY}, ["chat2"]),
            ({"time_before": START}, ["mail1"]),
            ({"entity": "Ada"}, ["mail1", "chat2"]),
        ],
    )
    def test_a_filter_holds_for_the_events_that_mention_it(
        self, known: Memory, fields: dict, sources: list[str]
    ) -> None:
        results = ask(known, "Grace Hopper", scope=("entities",), **fields)
        (grace,) = [result for result in results if result.text.startswith("Grace")]
        assert grace.source_event_ids == sources
        first = {"mail1": "2025-12-27", "chat2": "2026-01-05"}[sources[0]]
        assert grace.as_of.startswith(first)

    @pytest.mark.parametrize(
        "fields", [{"platform": "pigeon"}, {"time_after": START}, {"time_before": START - 9 * DAY}]
    )
    def test_one_without_a_mention_that_passes_is_not_answered(
        self, known: Memory, fields: dict
    ) -> None:
        assert ask(known, "Grace Hopper", scope=("entities",), **fields) == []

    def test_twenty_events_are_cited_at_most(self, memory: Memory) -> None:
        tell(
            memory, talk(*[("Ada", f"Grace Hopper wrote {place} letters.") for place in range(30)])
        )
        (grace,) = ask(memory, "Grace Hopper", scope=("entities",))
        assert grace.source_event_ids == [f"m{place}" for place in range(1, 21)]

    def test_the_default_scope_leaves_them_out(self, known: Memory) -> None:
        assert {result.type for result in ask(known, "Grace Hopper")} <= {"event", "fact"}

    def test_one_known_from_forgotten_events_alone_is_gone(self, known: Memory) -> None:
        known.forget("chat2")
        (grace,) = ask(known, "Grace Hopper", scope=("entities",))
        assert grace.source_event_ids == ["mail1"]
        known.forget("mail1")
        assert ask(known, "Grace Hopper", scope=("entities",)) == []
