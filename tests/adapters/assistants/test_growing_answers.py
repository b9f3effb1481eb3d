"""FAULTS 41: an answer that was half written when it was exported becomes whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.library.library_zone import Zone
from recollect.schemas.wire import IngestReport
from tests.adapters.assistants.test_branches import Said, chatgpt, claude

ASKED = Said("m1", None, "user", "Where do trams go?", 0)
PARTS = ("Trams go to", "Trams go to the harbour,", "Trams go to the harbour, and to the zoo.")


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    home = Home.create_or_open(tmp_path / "home", without_encoder=True)
    with Recollect(home) as found:
        yield found.zone("ada")


def counts(report: IngestReport) -> tuple[int, int, int]:
    return report.new, report.duplicate, report.rejected


def answers(zone: Zone) -> list[str]:
    found = [one.text for one in zone.recall("Where do trams go?").results]
    return [text for text in found if text.startswith("Trams")]


@pytest.mark.parametrize("export", [chatgpt, claude])
@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (0, 1, 2, 0, 1, 2)])
def test_more_of_an_answer_is_its_edit(
    tmp_path: Path, zone: Zone, export: Any, order: tuple[int, ...]
) -> None:
    seen: set[int] = set()
    for part in order:
        answer = Said("m2", "m1", "assistant", PARTS[part], 5)
        report = zone.ingest_files([export(tmp_path, ASKED, answer, leaf="m2")])
        assert report.rejected == 0
        assert report.new == (0 if part in seen else 1 if seen else 2)
        seen.add(part)
    assert answers(zone) == [PARTS[2]]


@pytest.mark.parametrize("export", [chatgpt, claude])
def test_less_of_an_answer_and_another_one_are_conflicts(
    tmp_path: Path, zone: Zone, export: Any
) -> None:
    for text in (PARTS[1], PARTS[0], "Trams go to the opera."):
        answer = Said("m2", "m1", "assistant", text, 5)
        report = zone.ingest_files([export(tmp_path, ASKED, answer, leaf="m2")])
    assert counts(report) == (0, 1, 1)
    assert answers(zone) == [PARTS[1]]


def test_an_answer_that_grew_and_is_forgotten_does_not_come_back(
    tmp_path: Path, zone: Zone
) -> None:
    for text in PARTS:
        whole = claude(tmp_path, ASKED, Said("m2", "m1", "assistant", text, 5))
        zone.ingest_files([whole])
    zone.forget("m2")
    assert answers(zone) == []
    assert zone.ingest_files([whole]).new == 0
    assert answers(zone) == []


def test_an_answer_in_progress_is_kept_and_completed_later(tmp_path: Path, zone: Zone) -> None:
    for text, status in ((PARTS[0], "in_progress"), (PARTS[2], "finished_successfully")):
        path = chatgpt(tmp_path, ASKED, Said("m2", "m1", "assistant", text, 5), leaf="m2")
        export = json.loads(path.read_text())
        export[0]["mapping"]["m2"]["message"]["status"] = status
        path.write_text(json.dumps(export))
        zone.ingest_files([path])
        assert answers(zone) == [text]


def test_labels_that_were_cut_out_before_come_back(tmp_path: Path, zone: Zone) -> None:
    """FAULTS 33: what an earlier build read of a mark was its place alone."""
    shown = 'Try \ue200entity\ue202["park","Green Hill","Porto"]\ue201 first.'
    for text in ("Try  first.", shown):
        answer = Said("m2", "m1", "assistant", text, 5)
        report = zone.ingest_files([chatgpt(tmp_path, ASKED, answer, leaf="m2")])
    assert counts(report) == (1, 1, 0)
    assert any("Green Hill" in one.text for one in zone.recall("What is green?").results)


def test_events_of_other_sources_never_grow(tmp_path: Path, zone: Zone) -> None:
    event = {"platform": "claude", "sender_id": "assistant", "id": "m2", "direction": "out"}
    for text in PARTS[:2]:
        path = tmp_path / "events.jsonl"
        line = event | {"occurred_at": "2026-02-25T06:00:00Z", "content": text}
        path.write_text(json.dumps(line))
        report = zone.ingest_files([path])
    assert counts(report) == (0, 0, 1)
