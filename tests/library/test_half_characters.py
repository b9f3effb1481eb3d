"""Half a character, a lone surrogate, becomes U+FFFD in all that a program gives (FAULTS 17)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Query, Recollect, Zone

HALF, KEPT = "Ada waves \ud83d twice.", "Ada waves \ufffd twice."
FIELDS = {"platform": "p", "sender_id": "ada", "occurred_at": "2026-05-08T13:56:00Z"}


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as memory:
        yield memory.zone("a")


def test_it_is_replaced_in_events_and_texts(zone: Zone, tmp_path: Path) -> None:
    zone.ingest({**FIELDS, "id": "a", "content": HALF, "metadata": {HALF: [HALF]}})
    zone.ingest([{**FIELDS, "id": "b", "content": HALF}, {**FIELDS, "id": "c", "content": "Hi."}])
    zone.remember(HALF)
    file = tmp_path / "events.jsonl"
    file.write_text(json.dumps({**FIELDS, "id": "d", "content": HALF}))
    assert zone.ingest_files([file]).new == 1
    texts = [memory.text for memory in zone.list_memories("events")]
    assert texts.count(KEPT) == 4
    assert zone.get_memory("a").metadata == {KEPT: [KEPT]}


def test_the_same_event_is_known_again(zone: Zone) -> None:
    assert zone.ingest({**FIELDS, "id": "a", "content": HALF}).new == 1
    assert zone.ingest({**FIELDS, "id": "a", "content": KEPT}).duplicate == 1
    assert zone.ingest({**FIELDS, "id": "a", "content": HALF}).duplicate == 1


def test_it_is_replaced_in_questions(zone: Zone) -> None:
    zone.ingest({**FIELDS, "id": "a", "content": "Ada waves twice."})
    for found in (
        zone.recall(HALF),
        zone.recall(Query(HALF)),
        zone.recall({"query": HALF}),
        zone.recall(HALF, max_results=3),
    ):
        assert found.results
    assert zone.context(HALF).ms >= 0
    assert zone.reflect(HALF).results


def test_it_is_replaced_in_reports_that_are_kept(zone: Zone) -> None:
    made = zone.create_mental_model(HALF, HALF)
    assert zone.get_memory(made.id).text == KEPT
    later = zone.update_mental_model(made.id, f"{HALF} Thrice.")
    assert zone.get_memory(later.id).text == f"{KEPT} Thrice."
