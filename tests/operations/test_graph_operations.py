"""The graph of a zone's entities, as the library shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import InvalidInput, Recollect, Zone
from recollect.schemas.wire import EntityGraph, Relationship
from tests.library.kit import said

#: Who lives where and works with whom: a chain from Ada over Bob Moss and Eve Hart to Oslo.
TALK = (
    said("m1", "I work with Bob Moss at the moment."),
    said("m2", "I live in Turin.", minute=1),
    said("m3", "Eve Hart lives in Oslo.", minute=2),
    said("m4", "Bob Moss works with Eve Hart.", minute=3),
    said("m5", "Bob Moss and I had lunch with Eve Hart in Rome.", by="Carl", minute=4),
)


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as opened:
        zone = opened.zone("ada")
        zone.ingest(TALK)
        yield zone


def triples(found: EntityGraph) -> set[tuple[str, str, str]]:
    return {_triple(one) for one in found.relationships}


def _triple(one: Relationship) -> tuple[str, str, str]:
    return one.source, one.type, one.target


def near(zone: Zone, name: str, hops: int, limit: int = 100) -> dict[str, int]:
    return {
        one.name: one.hops for one in zone.neighbors(name, hops=hops, max_entities=limit).entities
    }


def test_relationships_of_an_entity_cite_their_facts_and_events(zone: Zone) -> None:
    found = {_triple(one): one for one in zone.relationships("Ada")}
    assert set(found) == {("Ada", "WORKS_WITH", "Bob Moss"), ("Ada", "LOCATED_IN", "Turin")}
    home = found["Ada", "LOCATED_IN", "Turin"]
    assert home.source_event_ids == ["m2"]
    (fact,) = home.fact_ids
    assert zone.get_memory(fact).text == "Ada lives in Turin."
    assert (home.weight, home.current) == (1, True)
    assert 0.3 <= home.confidence <= 1


def test_type_and_direction_select_relationships(zone: Zone) -> None:
    works = zone.relationships("Bob Moss", types=["WORKS_WITH"])
    assert {_triple(one) for one in works} == {
        ("Ada", "WORKS_WITH", "Bob Moss"),
        ("Bob Moss", "WORKS_WITH", "Eve Hart"),
    }
    out = zone.relationships("Bob Moss", types=["WORKS_WITH"], direction="out")
    assert [one.target for one in out] == ["Eve Hart"]
    assert len(zone.relationships("Turin", direction="out")) == 0


def test_pages_of_relationships_cover_all_of_them_once(zone: Zone) -> None:
    first = zone.relationships("Ada", limit=1)
    second = zone.relationships("Ada", limit=1, cursor=first.cursor)
    assert {one.type for one in (*first, *second)} == {"WORKS_WITH", "LOCATED_IN"}
    assert second.cursor is None


def test_neighbors_are_those_within_so_many_hops(zone: Zone) -> None:
    assert near(zone, "Ada", 1) == {"Ada": 0, "Bob Moss": 1, "Turin": 1}
    assert near(zone, "Ada", 2)["Eve Hart"] == 2
    assert near(zone, "Ada", 3)["Oslo"] == 3
    assert near(zone, "Ada", 0) == {"Ada": 0}


def test_a_limit_keeps_the_nearest_and_says_so(zone: Zone) -> None:
    found = zone.neighbors("Ada", hops=3, max_entities=2)
    assert (len(found.entities), found.truncated) == (2, True)
    assert [one.hops for one in found.entities] == [0, 1]
    assert not zone.neighbors("Ada", hops=1, max_entities=3).truncated


def test_a_subgraph_has_all_relationships_between_its_entities(zone: Zone) -> None:
    assert triples(zone.subgraph(["Bob Moss", "Eve Hart"])) >= {
        ("Bob Moss", "WORKS_WITH", "Eve Hart")
    }
    assert triples(zone.subgraph(["Ada", "Eve Hart"])) == set()


def test_a_path_leads_from_one_to_the_other(zone: Zone) -> None:
    found = zone.find_path("Ada", "Oslo")
    assert [one.name for one in found.entities] == ["Ada", "Bob Moss", "Eve Hart", "Oslo"]
    assert {one.source_event_ids[0] for one in found.relationships} >= {"m1", "m3", "m4"}
    assert zone.find_path("Ada", "Oslo", max_hops=2).entities == []
    assert zone.find_path("Oslo", "Ada", direction="out").entities == []


def test_a_superseded_fact_ends_its_relationship(zone: Zone) -> None:
    zone.ingest([said("m9", "I moved to Paris.", minute=60)])
    homes = {one.target: one.current for one in zone.relationships("Ada", superseded=True)}
    assert (homes["Turin"], homes["Paris"]) == (False, True)
    assert "Turin" not in near(zone, "Ada", 1)
    then = zone.neighbors("Ada", hops=1, valid_at="2026-05-08T10:30:00Z").entities
    assert {"Turin", "Bob Moss"} <= {one.name for one in then}
    assert "Paris" not in {one.name for one in then}


def test_a_retracted_fact_ends_its_relationship(zone: Zone) -> None:
    zone.retract("m1")
    assert {one.type for one in zone.relationships("Ada")} == {"LOCATED_IN"}
    zone.retract("m1", restore=True)
    assert len(zone.relationships("Ada")) == 2


def test_a_forgotten_message_leaves_no_relationship(zone: Zone) -> None:
    zone.forget("m4")
    assert zone.find_path("Ada", "Oslo").entities == []
    zone.verify()


def test_what_is_said_again_weighs_more(zone: Zone) -> None:
    zone.ingest([said("m9", "I live in Turin.", minute=30)])
    (home,) = zone.relationships("Ada", types=["LOCATED_IN"])
    assert (home.weight, home.source_event_ids) == (2, ["m2", "m9"])


def test_merged_entities_are_one_until_that_is_undone(zone: Zone) -> None:
    zone.ingest([said("m9", "Robert Moss lives in Lyon.", minute=30)])
    ids = [zone.get_entity(name).id for name in ("Bob Moss", "Robert Moss")]
    assert "Lyon" not in near(zone, "Ada", 2)
    zone.propose_merge(ids[0], ids[1], 0.6, "the same")
    merge = next(one.id for one in zone.merges() if {one.a_id, one.b_id} == set(ids))
    zone.decide_merge(merge, "merged")
    assert near(zone, "Ada", 2)["Lyon"] == 2
    zone.decide_merge(merge, "undone")
    assert "Lyon" not in near(zone, "Ada", 2)


def test_known_at_shows_the_graph_as_it_was_known(zone: Zone) -> None:
    token = zone.consistency_token()
    zone.ingest([said("m9", "I own a boat called Zephyr.", minute=30)])
    before = {one.id for one in zone.relationships("Ada", known_at=token)}
    after = {one.id for one in zone.relationships("Ada")}
    assert before < after


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda zone: zone.relationships("Nobody"), "Nobody"),
        (lambda zone: zone.relationships("Ada", types=["LIKES"]), "choose from WORKS_WITH"),
        (lambda zone: zone.relationships("Ada", direction="up"), "choose from out, in, both"),
        (lambda zone: zone.neighbors("Ada", hops=7), "give 0 to 6"),
        (lambda zone: zone.find_path("Ada", "Bob Moss", max_hops=0), "give 1 to 6"),
        (lambda zone: zone.subgraph([]), "name at least one"),
    ],
)
def test_a_wrong_input_is_explained(zone: Zone, ask: object, words: str) -> None:
    assert callable(ask)
    with pytest.raises(InvalidInput, match=words):
        ask(zone)


def test_a_zone_without_events_has_an_empty_graph(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as opened:
        zone = opened.zone("empty")
        assert len(zone.relationships("Ada")) == 0
        assert zone.neighbors("Ada").entities == []
