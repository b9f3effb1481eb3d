"""A home that only imports files ends what agents left open, as a worker would."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect, Zone
from tests.library.kit import said


def log(path: Path, *events: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path


def facts(zone: Zone) -> list[str]:
    return sorted(fact.text for fact in zone.facts(limit=100))


def known_by(at: str, **event: Any) -> dict[str, Any]:
    return {**event, "ingested_at": at}


UNFINISHED = (
    said("m1", "I live in Lisbon.", turn_id="t1"),
    said("m2", "Noted.", by="Bot", minute=1, turn_id="t1", direction="out"),
    said("m3", "I work at Initech.", minute=5, turn_id="t2"),
)


def test_turns_that_nobody_ended_are_ended_when_their_log_is_imported(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as opened:
        zone = opened.zone("ada")
        path = log(tmp_path / "agent.jsonl", *UNFINISHED)
        assert zone.ingest_files(path).new == 3
        assert facts(zone) == ["Ada lives in Lisbon.", "Ada works at Initech."]
        assert zone.ingest_files(path).new == 0
        assert zone.status().events == 3
        again = said("m4", "I play the cello.", minute=2, turn_id="t3")
        zone.ingest_files(log(tmp_path / "more.jsonl", again))
        assert "Ada plays the cello." in facts(zone)
        assert zone.verify().ok


def test_a_turn_that_may_go_on_is_let_be(tmp_path: Path) -> None:
    now = {**said("m1", "I live in Lisbon.", turn_id="t1"), "occurred_at": time.time_ns() // 10**6}
    with Recollect(tmp_path / "home", encoder="none") as opened:
        zone = opened.zone("ada")
        head = zone.ingest_files(log(tmp_path / "agent.jsonl", now)).head
        assert facts(zone) == []
        assert zone.status().head == head


def test_nothing_is_added_where_every_turn_was_ended(tmp_path: Path) -> None:
    ends = said("e1", "", turn_id="t1", kind="turn_completed")
    ended = log(tmp_path / "agent.jsonl", UNFINISHED[0], ends, said("m9", "I own a boat."))
    with Recollect(tmp_path / "home", encoder="none") as opened:
        zone = opened.zone("ada")
        assert zone.ingest_files(ended).head == zone.status().head


def test_ticks_that_are_off_stay_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_TICKS", "off")
    with Recollect(tmp_path / "home", encoder="none") as opened:
        zone = opened.zone("ada")
        report = zone.ingest_files(log(tmp_path / "agent.jsonl", *UNFINISHED))
        assert facts(zone) == []
        assert zone.status().head == report.head


def test_the_same_log_makes_the_same_memory_whenever_it_is_imported(tmp_path: Path) -> None:
    """Its times say when a turn was over, and not the clock of whoever imports it."""
    path = log(
        tmp_path / "agent.jsonl",
        *(known_by(event["occurred_at"], **event) for event in UNFINISHED),
    )
    hashes = []
    for home in ("one", "other"):
        with Recollect(tmp_path / home, encoder="none") as opened:
            zone = opened.zone("ada")
            zone.ingest_files(path)
            hashes.append([(model.model, model.hash) for model in zone.verify().models])
            time.sleep(0.01)
    assert hashes[0] == hashes[1]


def test_a_log_that_is_followed_is_one_as_well(tmp_path: Path) -> None:
    path = log(tmp_path / "agent.jsonl", *UNFINISHED)
    with Recollect(tmp_path / "home", encoder="none") as opened:
        zone = opened.zone("ada")
        zone.follow_file(path, each=lambda report: True)
        assert facts(zone) == ["Ada lives in Lisbon.", "Ada works at Initech."]
