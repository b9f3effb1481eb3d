"""Slots follow merges and their undoing, to the row (fault 48)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.library.library_zone import Zone
from recollect.schemas.errors import InvalidInput
from tests.library.kit import said
from tests.slow_parameters import slow_except

EARLY = "2026-05-07T10:00:00Z"
ADA: dict[str, Any] = {"by": "Ada"}
BOB: dict[str, Any] = {"by": "Bob", "platform": "mail"}


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    """Two accounts, each with a home of its own."""
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("ours")
        zone.ingest(
            [said("a1", "I live in Oslo.", **ADA), said("b1", "I live in Lima.", minute=1, **BOB)]
        )
        yield zone


def homes(zone: Zone) -> dict[str, bool]:
    """Return the place in each fact about a home, and whether it is current."""
    found = zone.facts(superseded=True, limit=1000).facts
    return {fact.value: fact.current for fact in found if fact.attribute == "home" and fact.value}


def people(zone: Zone) -> dict[str, str]:
    return {
        entity.name: entity.id for entity in zone.entities().entities if entity.type == "person"
    }


def merge(zone: Zone, one: str = "Ada", other: str = "Bob") -> str:
    """Merge two persons by name; return the merge's id."""
    ids = people(zone)
    before = {each.id for each in zone.merges().merges}
    zone.propose_merge(ids[one], ids[other], 0.95, "the same person")
    (made,) = [each for each in zone.merges(status="merged").merges if each.id not in before]
    return made.id


def test_the_merges_of_one_person_are_listed(zone: Zone) -> None:
    zone.ingest([said("c1", "I live in Rome.", by="Cleo", minute=2)])
    cleo = zone.get_entity("Cleo").id
    made = merge(zone)
    for name in ("Ada", "Bob", people(zone).get("Ada") or people(zone)["Bob"]):
        listed = zone.merges(entity=name).merges
        assert made in {each.id for each in listed}
        assert cleo not in {id_ for each in listed for id_ in (each.a_id, each.b_id)}
    of_cleo = zone.merges(entity="Cleo", status="merged").merges
    assert of_cleo
    assert all(cleo in (each.a_id, each.b_id) for each in of_cleo)
    with pytest.raises(InvalidInput, match="Zoltan"):
        zone.merges(entity="Zoltan")


def test_a_merge_leaves_one_home_current(zone: Zone) -> None:
    merge(zone)
    assert homes(zone) == {"Oslo": False, "Lima": True}
    assert zone.verify().ok


def test_an_approved_merge_leaves_one_home_current(zone: Zone) -> None:
    ids = people(zone)
    zone.propose_merge(ids["Ada"], ids["Bob"], 0.5, "perhaps")
    (waiting,) = zone.merges(status="pending").merges
    assert homes(zone) == {"Oslo": True, "Lima": True}
    zone.decide_merge(waiting.id, "merged")
    assert homes(zone) == {"Oslo": False, "Lima": True}


def test_undoing_a_merge_makes_both_homes_current(zone: Zone) -> None:
    made = merge(zone)
    zone.decide_merge(made, "undone")
    assert homes(zone) == {"Oslo": True, "Lima": True}


@pytest.mark.parametrize(
    ("mover", "after"),
    [
        (ADA, {"Oslo": False, "Lima": True, "Turin": True}),
        (BOB, {"Oslo": True, "Lima": False, "Turin": True}),
    ],
)
def test_a_home_after_the_merge_stays_with_its_teller(
    zone: Zone, mover: dict[str, Any], after: dict[str, bool]
) -> None:
    made = merge(zone)
    zone.ingest([said("m", "I moved to Turin.", minute=2, **mover)])
    assert homes(zone) == {"Oslo": False, "Lima": False, "Turin": True}
    zone.decide_merge(made, "undone")
    assert homes(zone) == after
    assert {fact.value for fact in zone.facts(entity=mover["by"], superseded=True)} == {
        place for place in after if after[place] is not (place != "Turin")
    }
    assert zone.verify().ok


def test_a_home_told_late_has_its_place_in_the_merged_slot(zone: Zone) -> None:
    merge(zone)
    zone.ingest([said("early", "I live in Bonn.", **BOB) | {"occurred_at": EARLY}])
    assert homes(zone) == {"Oslo": False, "Lima": True, "Bonn": False}


def test_a_merge_undone_among_three_leaves_the_other_two_one(zone: Zone) -> None:
    zone.ingest([said("c1", "I live in Bonn.", by="Cem", platform="irc", minute=2)])
    merge(zone, "Bob", "Cem")
    made = merge(zone)
    assert homes(zone) == {"Oslo": False, "Lima": False, "Bonn": True}
    zone.decide_merge(made, "undone")
    assert homes(zone) == {"Oslo": True, "Lima": False, "Bonn": True}


def test_tastes_of_a_merged_person_contradict_each_other(zone: Zone) -> None:
    zone.ingest(
        [
            said("a2", "I like green tea.", minute=3, **ADA),
            said("b2", "I hate green tea.", minute=4, **BOB),
        ]
    )
    before = {fact.id for fact in zone.facts()}
    made = merge(zone)
    ended = before - {fact.id for fact in zone.facts()}
    texts = {fact.text for fact in zone.facts(superseded=True) if fact.id in ended}
    assert texts == {"Ada lives in Oslo.", "Ada likes green tea."}
    zone.decide_merge(made, "undone")
    assert {fact.id for fact in zone.facts()} == before


def test_a_merge_done_again_ends_the_same_home_again(zone: Zone) -> None:
    zone.decide_merge(merge(zone), "undone")
    merge(zone)
    assert homes(zone) == {"Oslo": False, "Lima": True}
    assert zone.verify().ok


SAID = {
    "a2": ("Oslo", ADA, 2),
    "a3": ("Turin", ADA, 3),
    "b4": ("Rome", BOB, 4),
    "a5": ("Turin", ADA, 5),
}


@pytest.mark.parametrize(
    ("told", "gone"),
    [("a2 b4", "b4"), ("a2 a3 b4", "a3"), ("a2 a3 b4", "b4"), ("a3 b4 a5", "a5")],
)
@pytest.mark.parametrize("kind", ["deletion", "edit"])
def test_a_withdrawn_home_ends_none_of_the_merged_person(
    tmp_path: Path, kind: str, told: str, gone: str
) -> None:
    """The oracle is a zone in which the message never named a home."""
    found = []
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        for name in ("withdrawn", "never"):
            zone = recollect.zone(name)
            zone.ingest([said("a0", "Hello.", **ADA), said("b0", "Hello.", minute=1, **BOB)])
            made = merge(zone)
            for id_ in told.split():
                place, who, minute = SAID[id_]
                if name == "withdrawn" or id_ != gone:
                    zone.ingest([said(id_, f"I live in {place}.", minute=minute, **who)])
            if name == "withdrawn":
                _, who, _ = SAID[gone]
                text = "Hello." if kind == "edit" else ""
                zone.ingest([said("w", text, minute=9, **who) | {"kind": kind, "target": gone}])
            assert zone.verify().ok
            current = [sorted(place for place, holds in homes(zone).items() if holds)]
            zone.decide_merge(made, "undone")
            current.append(sorted(place for place, holds in homes(zone).items() if holds))
            found.append(current)
    assert found[0] == found[1]


# Each has places of their own, since a merged person repeats what the other stated.
PLACES = {
    "Ada": ("Oslo", "Turin", "Bonn", "Riga"),
    "Bob": ("Lima", "Porto", "Graz", "Kyoto"),
    "Cem": ("Cairo", "Paris", "Accra", "Hanoi"),
}


def story(seed: int) -> list[dict[str, Any]]:
    """Return what three people say of their homes, in any order of time, and take back."""
    draw = random.Random(seed)
    told: list[dict[str, Any]] = [
        said(f"{name}0", "Hello all.", by=name, platform=name.lower()) for name in PLACES
    ]
    for n in range(14):
        name = draw.choice(sorted(PLACES))
        text = draw.choice(("I live in {}.", "I moved to {}.", "I live in {} again."))
        fields: dict[str, Any] = {"by": name, "platform": name.lower()}
        fields["occurred_at"] = f"2026-05-{draw.randrange(1, 8):02}T{draw.randrange(10, 14)}:00:00Z"
        chance = draw.random()
        earlier = [each["id"] for each in told if each["sender_name"] == name]
        if chance < 0.15 and len(earlier) > 1:
            fields |= {"kind": "edit", "target": draw.choice(earlier[1:])}
        place = draw.choice(PLACES[name])
        told.append(said(f"m{n}", text.format(place), **fields))
    return told


def rows_of(zone: Zone) -> dict[str, list[tuple[Any, ...]]]:
    """Return what is known of facts, their ends, and who stated them."""
    sql = {
        "facts": "SELECT id, text, source_event_id FROM facts ORDER BY 1",
        "claims": "SELECT * FROM fact_claims ORDER BY 1",
        "supersessions": "SELECT * FROM fact_supersessions ORDER BY 1",
        "ends": "SELECT * FROM fact_ends ORDER BY 1",
        "entities": "SELECT * FROM fact_entities ORDER BY 1, 2",
    }
    held = zone._zone
    with held.files() as files:
        found = {
            name: files.memory.connection.execute(query).fetchall() for name, query in sql.items()
        }
        found["senders"] = files.identity.connection.execute(
            "SELECT event_id, fact_id, entity_id FROM mentions WHERE char_offset_start = -1 "
            "ORDER BY 1, 2, 3"
        ).fetchall()
    return found


@pytest.mark.parametrize("seed", slow_except([0], range(12)))
def test_after_every_undoing_it_is_as_if_nobody_had_merged(tmp_path: Path, seed: int) -> None:
    draw = random.Random(100 + seed)
    told = story(seed)
    with (
        Recollect(tmp_path / "one", encoder="none") as one,
        Recollect(tmp_path / "two", encoder="none") as two,
    ):
        merged, plain = one.zone("ours"), two.zone("ours")
        standing: list[str] = []
        merges = 0
        for n, event in enumerate(told):
            for zone in (merged, plain):
                zone.ingest([event])
            if n >= 2 and draw.random() < 0.3:
                names = draw.sample(sorted(people(merged)), min(2, len(people(merged))))
                if len(names) == 2:
                    standing.append(merge(merged, *names))
                    merges += 1
            elif standing and draw.random() < 0.3:
                merged.decide_merge(standing.pop(draw.randrange(len(standing))), "undone")
        assert merges
        for made in standing:
            merged.decide_merge(made, "undone")
        ours, theirs = rows_of(merged), rows_of(plain)
        for name in ours:
            assert ours[name] == theirs[name], name
        assert merged.verify().ok
