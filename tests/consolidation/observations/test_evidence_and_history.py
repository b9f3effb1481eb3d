"""Observations as a user meets them: evidence, history, past moments, and what is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Query, Recollect, Zone
from recollect.cli.app import run
from recollect.schemas.errors import InvalidInput, UnknownId

POTTERY = (
    "I signed up for a pottery class in Oslo.",
    "I made two bowls in the pottery class.",
    "I showed my pottery at the winter market.",
    "My pottery won a prize in Lima.",
    "I keep my pottery in the garden shed.",
)


def said(day: int, content: str, *, by: str = "Ada") -> dict[str, Any]:
    return {
        "platform": "chat",
        "id": f"m{day}",
        "sender_id": f"u-{by}",
        "sender_name": by,
        "occurred_at": f"2026-05-{day:02}T10:00:00Z",
        "ingested_at": f"2026-05-{day:02}T10:00:00Z",
        "content": content,
    }


@pytest.fixture
def zone(tmp_path: Path) -> Iterator[Zone]:
    yield from opened(tmp_path / "home")


def opened(path: Path) -> Iterator[Zone]:
    agents = ("--agents", "own,consolidation", "--encoder", "none")
    assert run(["--home", str(path), "init", *agents]) == 0
    with Recollect(path) as r:
        yield r.zone("ada")


def texts(zone: Zone) -> list[str]:
    return [each.text for each in zone.observations()]


def test_an_import_consolidates_at_its_end(zone: Zone) -> None:
    zone.ingest(said(day, text) for day, text in enumerate(POTTERY[:3], 1))
    (found,) = zone.observations(entity="Ada")
    assert (found.kind, found.topic, found.previous, found.is_stale) == (
        *("cluster", "pottery"),
        *(None, False),
    )
    assert [item.text for item in found.items] == [
        "signed up for a pottery class in Oslo (said 1 May 2026)",
        "made two bowls in the pottery class (said 2 May 2026)",
        "showed their pottery at the winter market (said 3 May 2026)",
    ]
    assert zone.status().observations == 1
    assert zone.observation(found.id) == found


def test_the_evidence_is_that_of_the_messages(zone: Zone) -> None:
    zone.ingest(said(day, text) for day, text in enumerate(POTTERY, 1))
    zone.ingest([said(8, POTTERY[0]), said(9, POTTERY[1])])
    (found,) = zone.observations(entity="Ada")
    assert (found.sources, found.days, found.speakers) == (7, 7, 1)
    assert (found.first_said, found.last_said) == (
        "2026-05-01T10:00:00.000Z",
        "2026-05-09T10:00:00.000Z",
    )
    assert (found.confidence, found.trend) == ("high", "new")
    zone.ingest([said(30, "The boat is green."), said(31, "The boat is old.")])
    assert zone.observations(entity="Ada")[0].last_said == found.last_said


def test_the_history_says_what_was_added_and_removed(zone: Zone) -> None:
    zone.ingest(said(day, text) for day, text in enumerate(POTTERY[:3], 1))
    zone.ingest([said(20, POTTERY[3]), said(21, POTTERY[4])])
    (found,) = zone.observations()
    history = zone.observation_history(found.id).versions
    assert [len(each.added) for each in history] == [3, 2]
    assert history[1].added == [
        "Ada's pottery won a prize in Lima (said 20 May 2026)",
        "keeps their pottery in the garden shed (said 21 May 2026)",
    ]
    assert [each.removed for each in history] == [[], []]
    assert zone.observation_history(history[0].id).versions == history
    assert len(zone.observations(superseded=True)) == 2


def test_a_past_moment_has_the_observation_of_then(zone: Zone) -> None:
    zone.ingest(said(day, text) for day, text in enumerate(POTTERY[:3], 1))
    zone.ingest([said(20, POTTERY[3]), said(21, POTTERY[4])])
    asked = Query("pottery", scope=("observations",))
    assert zone.observations(known_at="2026-05-02T00:00:00Z").observations == []
    (listed,) = zone.observations(known_at="2026-05-10T00:00:00Z")
    assert "winter market" in listed.text
    assert "shed" not in listed.text
    (now,) = zone.recall(asked).results
    assert "shed" in now.text
    (then,) = zone.recall(
        Query("pottery", scope=("observations",), known_at="2026-05-10T00:00:00Z")
    ).results
    assert "shed" not in then.text
    assert "winter market" in then.text


def test_a_context_shows_parts_that_no_other_line_repeats(zone: Zone) -> None:
    zone.ingest(said(day, text) for day, text in enumerate(POTTERY, 1))
    block = zone.context("What is new about the pottery of Ada?", max_tokens=400)
    (found,) = [item for item in block.items if item.type == "observation"]
    others = [item for item in block.items if item.type != "observation"]
    assert found.source_event_ids
    assert all(set(found.source_event_ids).isdisjoint(item.source_event_ids) for item in others)
    assert "Ada – pottery: " in block.block
    detail = zone.context("Where did Ada sign up for the pottery class?", max_tokens=400)
    assert detail.items
    assert not [item for item in detail.items if item.type == "observation"]
    zone.forget("m2")
    assert "bowls" not in zone.context("What is new about the pottery of Ada?").block


def test_a_recalled_observation_cites_the_events_that_it_says(zone: Zone) -> None:
    zone.ingest(said(day, text) for day, text in enumerate(POTTERY, 1))
    results = zone.recall("What is new about the pottery of Ada?").results
    (found,) = [item for item in results if item.type == "observation"]
    assert set(found.source_event_ids) >= set(zone.observation(found.id).source_event_ids)
    assert results[0].type != "observation"


def test_why_leads_from_an_observation_to_the_quoted_words(zone: Zone) -> None:
    zone.ingest(said(day, text) for day, text in enumerate(POTTERY[:3], 1))
    (found,) = zone.observations()
    why = zone.why(found.id)
    assert why.text == found.text
    assert sorted(why.source_event_ids) == ["m1", "m2", "m3"]
    steps = str(why.steps)
    assert all(text in steps for text in POTTERY[:3])


@pytest.mark.parametrize("day", range(1, 6))
def test_without_one_source_it_is_as_if_that_had_never_been(tmp_path: Path, day: int) -> None:
    (one,) = [*_without(tmp_path / "one", day, forget=True)]
    (other,) = [*_without(tmp_path / "other", day, forget=False)]
    assert one == other


def _without(path: Path, day: int, *, forget: bool) -> Iterator[list[tuple[Any, ...]]]:
    for zone in opened(path):
        kept = [said(n, text) for n, text in enumerate(POTTERY, 1) if forget or n != day]
        zone.ingest(kept)
        if forget:
            zone.forget(f"m{day}")
        yield [
            (each.text, each.items, each.sources, each.first_said, each.source_event_ids)
            for each in zone.observations()
        ]


def test_what_is_unknown_is_refused(zone: Zone) -> None:
    assert list(zone.observations()) == []
    zone.ingest([said(1, POTTERY[0]), said(2, POTTERY[1])])
    with pytest.raises(UnknownId, match="no observation 'nobody'"):
        zone.observation("nobody")
    with pytest.raises(UnknownId, match="no observation 'nobody'"):
        zone.observation_history("nobody")
    with pytest.raises(InvalidInput, match="cursor"):
        zone.observations(cursor="nobody")
    with pytest.raises(InvalidInput, match="Nobody At All"):
        zone.observations(entity="Nobody At All")


def test_the_command_lists_shows_and_tells_the_history(
    zone: Zone, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    zone.ingest(said(day, text) for day, text in enumerate(POTTERY[:3], 1))
    (found,) = zone.observations()
    home = ["--home", str(tmp_path / "home"), "--zone", "ada"]
    capsys.readouterr()
    assert run(["observations", "list", *home]) == 0
    listed = capsys.readouterr().out
    assert found.text in listed
    assert "3 sources on 3 days, confidence medium, new" in listed
    assert run(["observations", "show", found.id, *home]) == 0
    assert found.items[0].fact_id in capsys.readouterr().out
    assert run(["observations", "history", found.id, *home]) == 0
    assert "+ made two bowls in the pottery class" in capsys.readouterr().out
    assert run(["observations", "show", *home]) == 2
