"""Daily passes in a home: once a day of the zone's own time, by hand, or never."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Recollect, Zone
from recollect.home.home_directory import Home
from recollect.projections.sqlite import scalar
from recollect.streams.lifecycle.verifying import verify

FOOD = "carrots, apples, ginger, hay and beets in the wooden stable"
CARE = "strong hooves, clean water, warm blankets, leather saddles"
ROUTINES = ("I run every morning.", "I swim on Tuesdays.", "I play chess every night.")


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    Home.create_or_open(tmp_path / "home", without_encoder=True, agents=["own", "consolidation"])
    with Recollect(tmp_path / "home") as memory:
        yield memory.zone("ada")


def tell(zone: Zone, day: int, *texts: str, hour: int = 10) -> None:
    zone.ingest(
        [
            {
                "id": f"{day}-{hour}-{n}",
                "platform": "chat",
                "sender_id": "ada",
                "sender_name": "Ada",
                "occurred_at": f"2026-05-{day:02}T{hour:02}:0{n}:00Z",
                "ingested_at": f"2026-05-{day:02}T{hour:02}:0{n}:00Z",
                "content": text,
            }
            for n, text in enumerate(texts)
        ]
    )


def passes(zone: Zone) -> int:
    """Return how many temporal passes the zone's ledger has."""
    with zone._zone.files() as files:
        sql = "SELECT count(*) FROM pass_ticks WHERE name = 'temporal'"
        return int(scalar(files.memory.connection, sql))


def regular(zone: Zone) -> list[str]:
    return [each.text for each in zone.observations() if each.kind == "regular"]


def test_passes_run_once_a_day_of_the_zones_own_time(zone: Zone) -> None:
    tell(zone, 4, *ROUTINES)
    assert (passes(zone), len(regular(zone))) == (1, 1)
    tell(zone, 4, "I like tea.", "I like plums.", hour=20)
    assert passes(zone) == 1
    tell(zone, 5, "I like figs.", "I like nuts.", hour=2)
    assert passes(zone) == 1
    tell(zone, 5, "I like jam.", "I like rye.", hour=4)
    assert passes(zone) == 2


def test_passes_that_are_off_run_by_hand_alone(zone: Zone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_PASSES_HOUR", "-1")
    tell(zone, 4, *ROUTINES)
    assert regular(zone) == []
    report = zone.consolidate()
    assert (report.written, report.consolidates) == (1, True)
    assert len(regular(zone)) == 1
    assert zone.consolidate().written == 0


def test_patterns_outlive_a_rebuild_and_follow_an_erasure(zone: Zone) -> None:
    tell(zone, 4, *ROUTINES)
    (before,) = regular(zone)
    assert "plays chess every night" in before
    zone.rebuild(level="derive")
    assert regular(zone) == [before]
    zone.forget("4-10-2")
    assert regular(zone) == [before.replace("; plays chess every night (said 4 May 2026)", "")]
    assert verify(zone._zone.node, "ada").ok


def test_a_correlation_follows_an_erasure(zone: Zone) -> None:
    for day in range(1, 28):
        if day % 5 == 1:
            tell(zone, day, "I drank wine today.", "I had a headache today.")
        else:
            tell(zone, day, "I rode my horse today.")
    (found,) = [each for each in zone.observations() if each.kind == "correlation"]
    assert found.topic == "headache and wine on the same day (6 days)"
    zone.forget("11-10-0")
    (found,) = [each for each in zone.observations() if each.kind == "correlation"]
    assert found.topic == "headache and wine on the same day (5 days; only headache on 1)"
    assert verify(zone._zone.node, "ada").ok


def test_a_pattern_shows_its_evidence(zone: Zone) -> None:
    tell(zone, 4, *ROUTINES)
    (found,) = [each for each in zone.observations() if each.kind == "regular"]
    assert (found.sources, found.days, found.confidence) == (3, 1, "medium")
    assert {item.fact_id for item in found.items} <= {fact.id for fact in zone.facts()}
    shown = "\n".join(line for step in zone.why(found.id).steps for line in step.details)
    assert "I swim on Tuesdays." in shown


def test_B9_observations_that_an_erasure_makes_alike_are_merged_by_the_next_pass(
    zone: Zone,
) -> None:
    tell(zone, 4, f"The horse Daisy eats {FOOD} near our harbour every evening.")
    tell(zone, 5, f"My horse Daisy has {CARE} and patient riders all winter.")
    tell(zone, 6, "I bought a horse in Oslo.")
    tell(zone, 7, "I sold a horse to Bob at the fair.")
    tell(zone, 8, "I adopted a horse from Lima.")
    zone.consolidate()
    assert topics(zone) == {"changes", "horse"}
    zone.forget("4-10-0")
    zone.forget("5-10-0")
    tell(zone, 9, "Nice weather.")
    zone.consolidate()
    assert len(topics(zone)) == 1
    zone.rebuild(level="derive")
    assert len(topics(zone)) == 1
    assert zone.verify().ok


def topics(zone: Zone) -> set[str | None]:
    return {each.topic for each in zone.observations()}


def test_importing_again_adds_nothing_after_facts_were_merged(zone: Zone, tmp_path: Path) -> None:
    told = (
        ("Ada", "I play chess at the club."),
        ("Ada", "I play chess with Carla on Fridays."),
        ("Ada", "Chess is my favourite game, I play chess daily."),
        ("Bob", "Ada lives in Oslo."),
        ("Ada", "I live in Oslo."),
        ("Cem", "Ada lives in Oslo."),
        ("Ada", "I play chess against my brother."),
        ("Bob", "Ada plays chess at the club."),
        ("Ada", "I like chess."),
        ("Bob", "Ada likes chess."),
    )
    export = tmp_path / "chat.jsonl"
    with export.open("w") as file:
        for n, (name, text) in enumerate(told):
            event = {"id": f"m{n}", "platform": "chat", "peer_id": "room", "content": text}
            sender = {"sender_id": name, "sender_name": name}
            at = {"occurred_at": f"2026-05-{10 + n % 6}T10:{n:02}:00Z"}
            file.write(json.dumps({**event, **sender, **at}) + "\n")
    assert zone.ingest_files(export).new == len(told)
    assert [merge.of for merge in zone.merges() if merge.of == "facts"]
    assert zone.observations().observations
    head = zone.head()
    assert zone.ingest_files(export).new == 0
    assert zone.head() == head
