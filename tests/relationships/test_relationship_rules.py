"""The rules that find typed relationships in a fact."""

from __future__ import annotations

import re

import pytest

from recollect.schemas.choices import RELATIONSHIP_TYPES
from recollect.streams.relationships import stated_relationships
from recollect.streams.relationships.relationship_rules import RULES
from recollect.streams.relationships.stated_relationships import (
    FactRelationship,
    NamedEntity,
    relationships_in,
)

#: The names of the examples, by the type of their mentions.
TYPES = {
    "Ada": "PERSON",
    "Bob": "PERSON",
    "Eve": "PERSON",
    "Rex": "PERSON",
    "Acme": "ORG",
    "Oslo": "LOCATION",
    "Paris": "LOCATION",
    "Louvre": "LOCATION",
    "Zephyr": "PRODUCT",
    "Kafka": "TECHNOLOGY",
}
EXAMPLES = [
    pytest.param(each.id, example.text, example.means, id=f"{each.id}: {example.text}")
    for each in RULES
    for example in each.examples
]
COUNTERS = [
    pytest.param(each.id, text, id=f"{each.id}: {text}") for each in RULES for text in each.counters
]
SAM = NamedEntity("Sam", "Sam", "PERSON", 1.0)


def found(text: str, slot: tuple[str, str, str] | None = None) -> list[FactRelationship]:
    names = [
        NamedEntity(name, name, kind, 1.0)
        for name, kind in TYPES.items()
        if re.search(rf"\b{name}\b", text)
    ]
    return relationships_in(text, names, SAM, slot)


def said(text: str, slot: tuple[str, str, str] | None = None) -> set[str]:
    return {f"{each.source} {each.type} {each.target}" for each in found(text, slot)}


@pytest.mark.parametrize(("rule", "text", "means"), EXAMPLES)
def test_a_rule_finds_its_examples(rule: str, text: str, means: str) -> None:
    (each,) = [one for one in found(text) if one.rule == rule]
    assert f"{each.source} {each.type} {each.target}" == means


@pytest.mark.parametrize(("rule", "text"), COUNTERS)
def test_a_rule_does_not_find_its_counter_examples(rule: str, text: str) -> None:
    assert [each for each in found(text) if each.rule == rule] == []


def test_C6_every_one_of_the_nineteen_types_can_be_stated() -> None:
    assert len(RELATIONSHIP_TYPES) == 19
    stated = {each.means.split()[1] for one in RULES for each in one.examples}
    assert stated == set(RELATIONSHIP_TYPES)
    assert all(one.examples and one.counters for one in RULES)


def test_the_speaker_is_who_says_i() -> None:
    assert said("Sam: I work at Acme.") == {"Sam WORKS_WITH Acme"}
    assert said("Sam: my sister Eve lives in Oslo.") == {
        "Sam RELATES_TO Eve",
        "Eve LOCATED_IN Oslo",
    }
    assert said("Sam works at Acme.") == {"Sam WORKS_WITH Acme"}


def test_words_of_another_speaker_are_not_the_speakers() -> None:
    assert said("Sam: Bob: I work at Acme.") == set()
    assert said('Bob wrote "I work at Acme".') == set()


def test_a_list_of_names_gives_a_relationship_to_each() -> None:
    assert said("Sam works with Ada, Bob and Eve.") == {
        "Sam WORKS_WITH Ada",
        "Sam WORKS_WITH Bob",
        "Sam WORKS_WITH Eve",
    }


def test_a_slot_states_a_relationship_to_the_entity_of_its_value() -> None:
    text = "Sam has a new job: Acme!"
    assert said(text) == set()
    assert said(text, ("Sam", "employer", "Acme")) == {"Sam WORKS_WITH Acme"}
    assert said(text, ("Sam", "likes", "Acme")) == set()
    assert said(text, ("Sam", "home", "Acme")) == set()
    part_of_a_name = "Sam has a new job: Acme Tools!"
    assert said(part_of_a_name, ("Sam", "employer", "Acme")) == set()


def test_a_relationship_has_its_span_and_the_confidence_of_its_names() -> None:
    text = "Yesterday Sam met Ada in the rain."
    sure, unsure = (
        relationships_in(text, [NamedEntity("A", "Ada", "PERSON", confidence)], SAM)[0]
        for confidence in (1.0, 0.5)
    )
    assert text[sure.start : sure.end] == "Sam met Ada"
    assert unsure.confidence == pytest.approx(sure.confidence / 2, abs=0.001)
    assert relationships_in(text, [NamedEntity("A", "Ada", "PERSON", 0.1)], SAM) == []


def test_a_name_of_two_entities_has_no_relationship() -> None:
    names = [NamedEntity("1", "Ada", "PERSON", 1.0), NamedEntity("2", "Ada", "PERSON", 1.0)]
    assert relationships_in("Sam met Ada.", names, SAM) == []


@pytest.mark.parametrize(
    "text",
    [
        "Sam hopes that Ada lives in Oslo.",
        "Sam used to work with Ada.",
        "Sam doesn't know Ada.",
        "Has Sam met Ada?",
        "If Sam meets Ada, Sam will tell Bob.",
        "Sam might work at Acme.",
        "Sam met Ada's brother.",
        "Sam lives with Ada anymore.",
    ],
)
def test_what_is_denied_doubted_asked_or_over_is_no_relationship(text: str) -> None:
    assert said(text) == set()


def test_no_sentence_is_read_if_only_one_entity_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(stated_relationships, "sentences")
    names = [NamedEntity("A", "Ada", "PERSON", 1.0), NamedEntity("A", "Ada Lund", "PERSON", 1.0)]
    assert relationships_in("Ada Lund runs.", names, NamedEntity("A", "ada", "PERSON", 1.0)) == []
    assert relationships_in("Sam: I run.", [], SAM) == []
