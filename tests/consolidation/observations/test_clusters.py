"""Which units of a fact are about an entity, and so in its clusters."""

from __future__ import annotations

import re

import pytest

from recollect.streams.consolidation import clusters
from recollect.streams.consolidation.clusters import NamedEntity, memberships
from recollect.streams.consolidation.units import Unit

NAMES = ("Ann", "Ann Lee", "Bob", "C++", "@bob", "a_b", "Zoë", "Ann's", "3M")


@pytest.mark.parametrize(
    "text",
    [
        "Ann sold the boat.",
        "Anna sold the boat.",
        "The boat of AnnBob and Bob.",
        "Joann met Ann by the boat.",
        "Ann_Bob owns a boat.",
        "The boat is Ann's.",
        "C++ runs the boat; xC++x too.",
        "The boat of @bob, a@bob and a_b.",
        "Zoë has a boat by 3M.",
        "The boat is fine, Ann.",
        "The boat is fine, Ann Lee!",
        "Ann, Bob has the boat.",
        "Bob, Ann has the boat of Ann.",
        "A boat.",
    ],
)
def test_a_unit_is_about_whom_it_names_and_does_not_address(text: str) -> None:
    for name in NAMES:
        first = re.escape(name.split()[0])
        addressed = rf",\s*{first}(?:\s+[^\W\d_a-z]\w*)*\s*[.!?]*$|^{first}(?:\s+[^\W\d_a-z]\w*)*,"
        is_named = re.search(rf"\b{first}\b", re.sub(addressed, "", text)) is not None
        found = memberships([Unit(text, "")], [NamedEntity("e", name)])
        assert bool(found) == is_named, name


def test_a_letter_that_is_longer_in_lower_case_hides_no_name() -> None:
    found = memberships([Unit("In İİİİ, ann's boat: Ann Ede", "")], [NamedEntity("e", "Ede")])
    assert found


def test_no_topics_are_sought_for_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(clusters, "topics_of")
    assert memberships([Unit("The boat leaks.", "")], [NamedEntity("e", "Ann")]) == []


def test_no_expression_is_compiled_for_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = Unit("Ann sold the boat.", "")
    memberships([unit], [NamedEntity("e", "Bob")])
    monkeypatch.delattr(clusters, "re")
    assert memberships([unit], [NamedEntity("e", "Ann")])


def test_what_somebody_states_of_another_is_about_the_other() -> None:
    bob = NamedEntity("b", "Bob")
    assert memberships([Unit("Bob repaired the boat.", "Ann")], [bob])
    assert memberships([Unit("Bob repaired my boat.", "Ann")], [bob]) == []
    assert memberships([Unit("Bob, the boat leaks.", "Ann")], [bob]) == []
    assert memberships([Unit("The boat of Bob leaks.", "Ann")], [bob]) == []
