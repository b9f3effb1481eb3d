"""What an edit replaced does not come back, and what an edited message had replaced does."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.library.library_zone import Zone
from recollect.projections.sqlite import rows
from tests.slow_parameters import slow_except

TOWNS = (
    *("Porto", "Utrecht", "Bergen", "Lyon", "Graz", "Tartu", "Turin", "Oslo", "Rome", "Bonn"),
    *("Dublin", "Malmö", "Seville", "Ghent", "Krakow", "Vienna", "Basel", "Cork", "Lille", "Bath"),
    *("Aachen", "Cadiz", "Delft", "Essen"),
)
BASE = {"platform": "chat", "sender_id": "u1", "sender_name": "Ada"}


def said(day: int, town: str) -> dict[str, Any]:
    at = f"2026-03-{day + 1:02d}T10:00:00Z"
    return BASE | {"id": f"m{day}", "occurred_at": at, "content": f"I live in {town}."}


def edited(day: int, town: str, number: int) -> dict[str, Any]:
    edit = {"id": f"e{number}", "kind": "edit", "target": f"m{day}"}
    at = f"2026-04-01T10:{number:02d}:00Z"
    return BASE | edit | {"occurred_at": at, "content": f"I live in {town}."}


def deleted(day: int, number: int) -> dict[str, Any]:
    event = edited(day, "", number)
    return event | {"id": f"d{number}", "kind": "deletion", "content": ""}


def current(zone: Zone) -> list[str]:
    return [fact.text for fact in zone.facts()]


@pytest.mark.parametrize("edits", [1, 2, 3])
def test_a_retraction_brings_back_the_message_before_and_no_former_version(
    tmp_path: Path, edits: int
) -> None:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("ada")
        zone.ingest([said(0, "Rome"), said(1, TOWNS[0])])
        for number in range(1, edits + 1):
            zone.ingest([edited(1, TOWNS[number], number)])
        (newest,) = zone.facts()
        assert TOWNS[edits] in newest.text
        zone.retract(newest.id)
        assert current(zone) == ["Ada lives in Rome."]


def test_a_retracted_edit_brings_back_no_former_version(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("ada")
        zone.ingest([said(0, "Rome"), edited(0, "Oslo", 1)])
        zone.retract("e1")
        assert current(zone) == []


@pytest.mark.parametrize("change", [edited(0, "Oslo", 1), deleted(0, 1)], ids=["edit", "deletion"])
def test_a_value_that_was_edited_away_after_its_end_does_not_come_back(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("ada")
        zone.ingest([said(0, "Porto"), said(1, "Rome"), change])
        (newest,) = zone.facts()
        zone.retract(newest.id)
        assert current(zone) == (["Ada lives in Oslo."] if change["content"] else [])


@pytest.mark.parametrize("seed", slow_except([0], range(6)))
def test_edits_deletions_retractions_and_erasures_in_any_order(tmp_path: Path, seed: int) -> None:
    """Of the messages whose newest version stands, the one that was said last counts.

    A deleted message has no version that stands.

    A retracted message is not edited here: a retraction covers what restates the same.
    """
    rng = random.Random(seed)
    towns = iter(rng.sample(TOWNS, len(TOWNS)))
    newest: dict[int, str] = {}
    gone = set[int]()
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("ada")
        for number in range(24):
            day = rng.choice([each for each in range(12) if each not in gone])
            done = rng.choice(["say", "say", "say", "say", "delete", "retract", "forget"])
            if done == "say" or day not in newest:
                town = next(towns)
                zone.ingest([edited(day, town, number) if day in newest else said(day, town)])
                newest[day] = town
            elif done == "retract":
                (fact,) = zone.facts()
                zone.retract(fact.id)
                gone.add(max(newest))
            elif done == "delete":
                zone.ingest([deleted(day, number)])
                gone.add(day)
            else:
                zone.forget(f"m{day}")
                gone.add(day)
            newest = {each: town for each, town in newest.items() if each not in gone}
            expected = [f"Ada lives in {newest[max(newest)]}."] if newest else []
            assert current(zone) == expected, (number, done, newest, gone)
        zone.rebuild("derive")
        assert current(zone) == expected
        assert zone.verify().ok


def test_an_edit_writes_as_many_ends_however_many_there_were(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as recollect:
        zone = recollect.zone("ada")
        zone.ingest([said(0, "Rome"), said(1, TOWNS[0])])
        ends: list[set[Any]] = []
        for number in range(1, 7):
            zone.ingest([edited(1, TOWNS[number], number)])
            with zone._zone.files() as files:
                found = rows(files.memory.connection, "SELECT * FROM fact_supersessions")
            ends.append(set(found))
        # One fact ends, and what the message ends is ended by its new version.
        new = [len(after - before) for before, after in itertools.pairwise(ends)]
        assert new == [2] * 5
