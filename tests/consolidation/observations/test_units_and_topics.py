"""A fact is cut into units, and a unit says topics."""

from __future__ import annotations

import pytest

from recollect.streams.consolidation.clusters import NamedEntity, memberships
from recollect.streams.consolidation.unit_topics import topics_of
from recollect.streams.consolidation.units import MAX_UNITS, Unit, units_of

NOBODY: frozenset[str] = frozenset()


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("Ada sold her boat. She bought a kayak.", ["Ada sold her boat.", "She bought a kayak."]),
        (
            "Pottery is a huge part of Ada's life – it helps her relax at night.",
            ["Pottery is a huge part of Ada's life", "it helps her relax at night."],
        ),
        ("Ada paints lakes; Bob plays the cello.", ["Ada paints lakes", "Bob plays the cello."]),
        ("Ada won the race - at last.", ["Ada won the race - at last."]),
        ("Ada is well-known in Oslo.", ["Ada is well-known in Oslo."]),
    ],
)  # fmt: skip
def test_a_fact_is_cut_into_sentences_and_long_parts(text: str, units: list[str]) -> None:
    assert units_of(text, ()) == [Unit(unit, "") for unit in units]


def test_a_unit_in_someones_own_words_names_the_speaker() -> None:
    text = "Ada: I love it. It is my boat."
    assert units_of(text, ["Ada"]) == [Unit("I love it.", "Ada"), Unit("It is my boat.", "Ada")]
    assert units_of("Note: the boat leaks.", ["Ada"]) == [Unit("Note: the boat leaks.", "")]


def test_a_long_fact_has_a_limited_number_of_units() -> None:
    assert len(units_of("Ada sold one more boat. " * 50, ())) == MAX_UNITS


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("Ada has two horses.", {"horse": "horses"}),
        ("Ada went camping in the mountains.", {"camp": "camping", "mountain": "mountains"}),
        ("Ada camped by the lake.", {"camp": "camped", "lake": "lake"}),
        ("The children adopted three mice.", {"child": "children", "mouse": "mice"}),
        ("Ada joined the LGBTQ choir.", {"lgbtq": "LGBTQ", "choir": "choir"}),
        ("Ada's story was about cookies.", {"story": "story", "cookie": "cookies"}),
        ("Ada had a great time last Tuesday in May.", {}),
        ("It was really amazing, and they helped a lot.", {}),
        ("Ada flew to Lisbon with Bob.", {}),
    ],
)
def test_a_unit_says_nouns_and_activities(text: str, topics: dict[str, str]) -> None:
    assert topics_of(text, {"ada"}) == topics


def test_names_are_no_topics() -> None:
    assert topics_of("Daisy the horse", {"daisy"}) == {"horse": "horse"}
    assert topics_of("A daisy by the horse", {"horse"}) == {"daisy": "daisy"}


def test_a_change_is_of_whom_the_clause_before_it_names() -> None:
    both = [NamedEntity("A", "Ada"), NamedEntity("B", "Bob")]

    def changing(text: str) -> set[str]:
        found = memberships([Unit(text, "")], both)
        return {each.entity.name for each in found if each.kind == "changes"}

    assert changing("Ada sold the farm, said Bob.") == {"Ada"}
    assert changing("Ada told Bob the truth, and sold the farm.") == {"Ada"}
    assert changing("Ada and Bob sold the farm.") == {"Ada", "Bob"}


@pytest.mark.parametrize(
    ("name", "text", "belongs"),
    [
        ("ada", "Ada has two horses.", True),
        ("ada moreau", "Ada has two horses.", True),
        ("ADA", "Ada has two horses.", True),
        ("Iran", "Iran has two horses.", True),
        ("iran", "Tigran has two horses.", False),
        ("Tigran", "Iran has two horses.", False),
        ("Will", "Two horses will do.", False),
        ("ada", "Feed the horses, Ada!", False),
    ],
)
def test_a_unit_is_about_whom_it_names_in_any_case(name: str, text: str, belongs: bool) -> None:
    found = memberships([Unit(text, "")], [NamedEntity("1", name)])
    assert any(each.topic == "horse" for each in found) is belongs
