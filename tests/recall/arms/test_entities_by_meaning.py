"""Entities found by meaning (A14): by what is said about them, in other words or the same."""

from __future__ import annotations

import pytest

from recollect.schemas.wire import Result
from tests.memory import Memory
from tests.recall.conftest import Open
from tests.recall.kit import DAY, START, ask, say, tell

SAID = [
    say("Mrs Kovacs is our physician, she is lovely with Biscuit.", "kovacs"),
    say("Rosa Delgado runs the releases at work.", "rosa", at=START + DAY),
    say("My brother Tom works as a plumber.", "tom", at=START + 2 * DAY),
    say("We had dinner with Grace Hopper yesterday.", "grace", at=START + 3 * DAY),
]


def found(memory: Memory, text: str, **fields: object) -> list[Result]:
    return ask(memory, text, scope=("entities",), **fields)


def names(results: list[Result]) -> list[str]:
    return [result.text.partition(" (")[0] for result in results]


@pytest.fixture(params=[True, False], ids=["encoder", "words"])
def told(request: pytest.FixtureRequest, open_memory: Open) -> Memory:
    memory = open_memory(encoder=request.param)
    tell(memory, SAID)
    return memory


@pytest.mark.parametrize(
    ("description", "name"),
    [
        ("our lovely physician", "Kovacs"),
        ("who runs the releases", "Rosa Delgado"),
        ("plumber", "Tom"),
        ("brother", "Tom"),
    ],
)
def test_an_entity_is_found_by_what_is_said_about_it(
    told: Memory, description: str, name: str
) -> None:
    best = found(told, description)[0]
    assert names([best]) == [name]
    assert [entity.name for entity in told.entities(query=description)][:1] == [name]


def test_the_facts_that_found_it_are_listed_and_cited(told: Memory) -> None:
    best = found(told, "plumber")[0]
    assert [fact.text for fact in best.facts] == ["Ada's brother Tom works as a plumber."]
    assert best.source_event_ids == ["tom"]


def test_a_description_in_other_words_finds_it(memory: Memory) -> None:
    tell(memory, SAID)
    assert names(found(memory, "doctor"))[0] == "Kovacs"
    assert memory.entities(query="our medic").entities[0].name == "Kovacs"


def test_who_only_speaks_or_owns_is_not_described(told: Memory) -> None:
    assert "Ada" not in names(found(told, "plumber"))
    assert "Ada" not in names(found(told, "releases at work"))


def test_a_name_finds_only_its_entity(told: Memory) -> None:
    assert names(found(told, "Tom")) == ["Tom"]
    assert [entity.name for entity in told.entities(query="tom")] == ["Tom"]


def test_what_nothing_describes_is_not_listed(told: Memory) -> None:
    assert told.entities(query="quantum gravity").entities == []


def test_who_was_something_before_is_found_only_for_the_past(told: Memory) -> None:
    tell(
        told,
        [
            say("My partner is Lena Ortiz.", "lena"),
            say("My partner is Omar Haddad.", "omar", at=START + 4 * DAY),
        ],
    )
    assert names(found(told, "my partner")) == ["Omar Haddad"]
    assert "Lena Ortiz" in names(found(told, "Who used to be my partner?"))
    assert "Lena Ortiz" in names(found(told, "my partner", valid_at=START + 2 * DAY))


def test_filters_hold_for_what_is_found_by_meaning(told: Memory) -> None:
    assert names(found(told, "plumber", time_after=START + DAY)) == ["Tom"]
    assert "Tom" not in names(found(told, "plumber", time_before=START + DAY))
    assert found(told, "plumber", platform="mail") == []


def test_beside_facts_an_entity_hides_none(told: Memory) -> None:
    results = ask(told, "plumber", scope=("facts", "entities"))
    texts = [result.text for result in results]
    assert {"Tom (person)", "Ada's brother Tom works as a plumber."} <= set(texts)


def test_a_forgotten_description_finds_nobody(told: Memory) -> None:
    fact = next(each for each in told.facts() if "plumber" in each.text)
    told.forget(fact.source_event_ids[0])
    assert "Tom" not in names(found(told, "plumber"))
    assert told.entities(query="plumber").entities == []
