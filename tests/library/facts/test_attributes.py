"""Attributes of people from end to end: one value at a time, several beside each other, ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect, Zone
from tests.library.kit import said


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as r:
        yield r.zone("ada")


def tell(zone: Zone, *texts: str) -> None:
    """One message of Ada's every two days."""
    zone.ingest([on(2 * n, f"m{n}", text) for n, text in enumerate(texts, start=1)])


def on(day: int, id: str, text: str) -> dict[str, Any]:
    return said(id, text, occurred_at=f"2026-05-{day:02}T10:00:00Z")


def held(zone: Zone, attribute: str) -> set[str]:
    """Return the values that hold now."""
    return {str(fact.value) for fact in zone.facts() if fact.attribute == attribute}


def test_a_newer_value_takes_the_place_of_one_that_is_single(zone: Zone) -> None:
    tell(zone, "I'm a florist.", "I work as a tram driver.")
    assert held(zone, "role") == {"tram driver"}
    both = {fact.value: fact.current for fact in zone.facts(superseded=True)}
    assert both == {"florist": False, "tram driver": True}
    report = zone.reflect("What does Ada work as?").text
    assert "Ada works as a tram driver." in report
    assert "previously, until 2026-05-04: Ada is a florist." in report
    assert "florist (said 2 May 2026); then tram driver" in report


def test_several_values_stand_beside_each_other(zone: Zone) -> None:
    tell(zone, "I love jazz.", "I love opera.", "I have two cats.", "I have a tortoise.")
    assert held(zone, "likes") == {"jazz", "opera"}
    assert held(zone, "pet") == {"two cats", "tortoise"}
    found = zone.recall("What does Ada love?").results
    assert not any(item.is_stale for item in found)


def test_one_of_several_ends_by_a_denial_and_the_others_stay(zone: Zone) -> None:
    tell(zone, "I own a sailboat.", "I own a piano.", "I sold the sailboat.")
    assert held(zone, "possession") == {"piano"}
    zone.ingest([on(20, "m8", "I'm vegan."), on(24, "m9", "I'm no longer vegan.")])
    assert held(zone, "diet") == set()


def test_what_used_to_be_is_no_value(zone: Zone) -> None:
    tell(zone, "I live in Lille.", "I used to live in Metz.", "I used to have a cat.")
    assert held(zone, "home") == {"Lille"}
    assert held(zone, "pet") == set()


def test_one_of_several_is_forgotten_and_the_others_stay(zone: Zone) -> None:
    tell(zone, "I'm allergic to walnuts.", "I'm allergic to pollen.")
    zone.forget("m1")
    assert held(zone, "health") == {"allergic to pollen"}
    assert "walnut" not in str(zone.facts(superseded=True))
    assert zone.verify().ok


def test_when_the_newer_of_single_values_is_forgotten_the_older_holds_again(zone: Zone) -> None:
    tell(zone, "I live in Lille.", "I live in Porto.")
    zone.forget("m2")
    assert held(zone, "home") == {"Lille"}


def test_why_leads_from_a_value_to_the_message_that_gave_it(zone: Zone) -> None:
    tell(zone, "We adopted a greyhound.", "I play the cello.")
    (fact,) = (fact for fact in zone.facts() if fact.attribute == "skill")
    chain = zone.why(fact.id)
    assert (fact.subject, fact.value) != (None, None)
    assert chain.source_event_ids == ["m2"]


def test_who_she_is_decides_whose_role_it_is(zone: Zone) -> None:
    tell(zone, "Maria moved to Oslo. She is a surveyor.", "She is a welder.")
    roles = {(fact.text, fact.attribute, fact.value) for fact in zone.facts()}
    assert ("Ada: Maria is a surveyor.", "role", "surveyor") in roles
    assert not any(value == "welder" for _, _, value in roles)


def test_a_line_of_a_report_cites_a_few_sources(zone: Zone) -> None:
    loved = ("jazz", "opera", "chess", "figs", "tea", "rowing", "maps", "plums")
    zone.ingest([on(day, f"l{day}", f"I love {what}.") for day, what in enumerate(loved, 1)])
    zone.consolidate()
    reflection = zone.reflect("What does Ada love?")
    (listed,) = [item for item in reflection.results if item.type == "observation"]
    assert len(listed.source_event_ids) == 8
    (line,) = [line for line in reflection.text.splitlines() if "Ada – likes" in line]
    assert line.endswith(" and 3 more]")
    assert sum(f"l{day}" in line.rpartition("[")[2] for day in range(1, 9)) == 5
