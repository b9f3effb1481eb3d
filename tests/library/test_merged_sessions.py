"""Sessions follow merges and their undoing (A18): either handle gives one person's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.library.library_zone import Zone
from tests.library.kit import said

HANDLES = ("u-Ada", "u-Bob")


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    """Two accounts on two platforms, which review finds to be of one person, and a third."""
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("ours")
        zone.ingest(
            [
                said("a1", "I live in Oslo.", thread_id="t1"),
                said("b1", "I play chess.", by="Bob", platform="mail", minute=1),
                said("c1", "I like tea.", by="Cem", platform="mail", minute=2),
            ]
        )
        yield zone


def merge(zone: Zone, one: str = "Ada", other: str = "Bob") -> str:
    """Merge two persons by name; return the merge's id."""
    ids = {entity.name: entity.id for entity in zone.entities().entities}
    before = {each.id for each in zone.merges().merges}
    zone.propose_merge(ids[one], ids[other], 0.95, "the same person")
    (made,) = [each for each in zone.merges(status="merged").merges if each.id not in before]
    return made.id


def forgotten(zone: Zone, **targets: Any) -> set[str]:
    return {
        id_ for id_ in zone.forget(**targets, dry_run=True).forgotten if not id_.startswith("#")
    }


@pytest.mark.parametrize("handle", HANDLES)
def test_either_handle_names_the_sessions_of_one_person(zone: Zone, handle: str) -> None:
    own = {"a1"} if handle == "u-Ada" else {"b1"}
    assert forgotten(zone, sender_id=handle) == own
    made = merge(zone)
    assert forgotten(zone, sender_id=handle) == {"a1", "b1"}
    assert forgotten(zone, entity=handle) == {"a1", "b1"}
    zone.decide_merge(made, "undone")
    assert forgotten(zone, sender_id=handle) == own


@pytest.mark.parametrize("handle", HANDLES)
def test_a_platform_narrows_the_sessions_of_one_person(zone: Zone, handle: str) -> None:
    merge(zone)
    assert forgotten(zone, sender_id=handle, platform="mail") == {"b1"}
    assert forgotten(zone, sender_id=handle, thread_id="t1") == {"a1"}


def test_a_chain_of_merges_is_one_person_for_each_handle(zone: Zone) -> None:
    merge(zone, "Bob", "Cem")
    made = merge(zone)
    for handle in (*HANDLES, "u-Cem"):
        assert forgotten(zone, sender_id=handle) == {"a1", "b1", "c1"}
    zone.decide_merge(made, "undone")
    assert forgotten(zone, sender_id="u-Cem") == {"b1", "c1"}


def test_a_namesake_on_another_platform_is_not_merged_along(zone: Zone) -> None:
    zone.ingest([said("n1", "I sing.", by="Ada", platform="mail", minute=3)])
    ids = {
        (entity.name, handle.platform): entity.id
        for entity in zone.entities().entities
        for handle in entity.handles
    }
    zone.propose_merge(ids["Ada", "mail"], ids["Bob", "mail"], 0.95, "the same person")
    assert forgotten(zone, sender_id="u-Ada", platform="chat") == {"a1"}
    assert forgotten(zone, sender_id="u-Bob") == {"b1", "n1"}


def listed(zone: Zone, handle: str) -> set[str]:
    found = zone.list_memories(scope="events", entity=handle).memories
    return {id_ for memory in found for id_ in memory.source_event_ids}


def recalled(zone: Zone, handle: str) -> set[str]:
    found = zone.recall("What do they play and drink?", entity=handle).results
    return {id_ for result in found for id_ in result.source_event_ids}


def test_what_came_while_merged_goes_back_to_its_handle(zone: Zone) -> None:
    made = merge(zone)
    zone.ingest(
        [
            said("a2", "I play the violin.", thread_id="t1", minute=3),
            said("b2", "I drink cider.", by="Bob", platform="mail", minute=4),
        ]
    )
    for handle in HANDLES:
        assert listed(zone, handle) == {"a1", "a2", "b1", "b2"}
        assert recalled(zone, handle) >= {"a2", "b1", "b2"}
        assert len(zone.facts(entity=handle).facts) == 4
    zone.decide_merge(made, "undone")
    for handle, own in zip(HANDLES, ({"a1", "a2"}, {"b1", "b2"}), strict=True):
        assert listed(zone, handle) == own
        assert recalled(zone, handle) <= own
        assert {id_ for fact in zone.facts(entity=handle) for id_ in fact.source_event_ids} == own
        assert forgotten(zone, entity=handle) == forgotten(zone, sender_id=handle) == own
    assert zone.verify().ok


def test_who_was_named_while_merged_is_so_again(zone: Zone) -> None:
    made = merge(zone)
    zone.ingest([said("c2", "Bob lives in Bonn.", by="Cem", platform="mail", minute=5)])
    assert "c2" in listed(zone, "u-Ada")
    zone.decide_merge(made, "undone")
    assert ("c2" in listed(zone, "u-Ada"), "c2" in listed(zone, "u-Bob")) == (False, True)
    (fact,) = [each for each in zone.facts(entity="Bob").facts if each.value == "Bonn"]
    assert fact.entities == ["Bob", "Bonn", "Cem"]
