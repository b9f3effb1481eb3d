"""Types of analyses that home.json defines: what they find, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect import Recollect
from recollect.home.home_directory import Home
from recollect.home.ticks.due_analyses import automatic_analyses
from recollect.operations.processes.embedded_worker import EmbeddedWorker
from recollect.schemas.errors import HomeError, InvalidInput

MESSAGES = [
    {
        "id": f"m{number}",
        "platform": "chat",
        "occurred_at": f"2026-05-08T10:0{number}:00Z",
        "sender_id": "ada",
        "sender_name": "Ada",
        "content": text,
    }
    for number, text in enumerate(("See OPS-17 and OPS-18.", "Closed OPS-17."))
]


def home_with(folder: Path, *analyses: dict[str, Any]) -> Path:
    """Make a home that has these types."""
    Home.create_or_open(folder, without_encoder=True)
    path = folder / "home.json"
    settings = json.loads(path.read_text())
    path.write_text(json.dumps({**settings, "analyses": analyses}))
    return folder


def test_patterns_find_facets(tmp_path: Path) -> None:
    folder = home_with(tmp_path / "home", {"name": "tickets", "patterns": {"ticket": r"OPS-(\d+)"}})
    with Recollect(folder) as recollect:
        zone = recollect.zone("work")
        zone.ingest(MESSAGES)
        report = zone.analyse(types=["tickets_v1"])
        assert (report.requested, report.completed) == (1, 1)
        facets = list(zone.facets(type="ticket"))
        assert sorted(facet.value for facet in facets) == ["17", "17", "18"]
        for facet in facets:
            text = zone.get_memory(facet.event_id).text
            assert text[facet.start : facet.end] == facet.value
        assert [facet.value for facet in zone.facets(value="18")] == ["18"]
        (kind,) = (each for each in zone.analysis_types().types if each.name == "tickets")
        assert (kind.id, kind.patterns, kind.completed) == (
            "tickets_v1",
            {"ticket": r"OPS-(\d+)"},
            1,
        )


def test_a_prompt_is_blocked_and_is_tried_again(tmp_path: Path) -> None:
    folder = home_with(tmp_path / "home", {"name": "mood", "prompt": "How do they feel?"})
    with Recollect(folder) as recollect:
        zone = recollect.zone("work")
        zone.ingest(MESSAGES)
        for retries in range(5):
            assert zone.analyse(types=["mood_v1"]).blocked == 1
            (run,) = zone.analyses(status="blocked")
            assert run.retries == retries
            assert "which needs a language model" in str(run.blocked_reason)


@pytest.mark.parametrize(
    ("analysis", "problem"),
    [
        ({"name": "Tickets", "patterns": {"t": "x"}}, "needs a name of lower-case letters"),
        ({"name": "summary", "patterns": {"t": "x"}}, "has the name of a built-in type"),
        ({"name": "tickets"}, "needs either patterns or a prompt"),
        ({"name": "t", "patterns": {"t": "x"}, "prompt": "p"}, "needs either patterns or a prompt"),
        ({"name": "t", "prompt": " "}, "has a prompt that is empty"),
        ({"name": "t", "prompt": "p", "facets": ["T!"]}, "has the facet type 'T!'"),
        ({"name": "t", "patterns": {"t": "x"}, "facets": ["u"]}, "has facets but no prompt"),
        ({"name": "t", "patterns": {"t": "("}}, "for t that is not a regular expression"),
        ({"name": "t", "patterns": {"t": "x*"}}, "for t that matches the empty string"),
        ({"name": "t", "patterns": {"t": "(x+)+y"}}, "repeats a repetition without a limit"),
        ({"name": "t", "patterns": {"T!": "x"}}, "has the facet type 'T!'"),
        ({"name": "t", "patterns": {"t": "x" * 1_001}}, "of more than 1,000 characters"),
        ({"name": "t", "version": "a b", "patterns": {"t": "x"}}, "has the version 'a b'"),
    ],
)
def test_a_type_that_cannot_be_used_is_refused(
    tmp_path: Path, analysis: dict[str, Any], problem: str
) -> None:
    with pytest.raises(HomeError) as error:
        Home(home_with(tmp_path / "home", analysis))
    assert problem in str(error.value)
    assert "home.json: analysis 1" in str(error.value)


def test_two_types_of_one_name_are_refused(tmp_path: Path) -> None:
    one = {"name": "tickets", "patterns": {"ticket": "x"}}
    with pytest.raises(HomeError, match=r"analysis 2 \('tickets'\) has the same name as another"):
        Home(home_with(tmp_path / "home", one, one))


def test_an_unknown_type_or_strategy_is_refused(tmp_path: Path) -> None:
    with Recollect(home_with(tmp_path / "home")) as recollect:
        zone = recollect.zone("work")
        zone.ingest(MESSAGES)
        with pytest.raises(InvalidInput, match="there is no analysis type 'weather'; choose from"):
            zone.analyse(types=["weather"])
        with pytest.raises(InvalidInput, match="there is no episode strategy 'year'; give"):
            zone.analyse(strategy="year")
        with pytest.raises(InvalidInput, match="limit is 0"):
            zone.analyse(limit=0)


def test_pages_of_facets_and_analyses_have_everything_once(tmp_path: Path) -> None:
    folder = home_with(tmp_path / "home", {"name": "words", "patterns": {"word": r"\w+"}})
    with Recollect(folder) as recollect:
        zone = recollect.zone("work")
        zone.ingest(MESSAGES)
        zone.analyse()
        for method in (zone.facets, zone.analyses):
            whole = [item.id for item in method(limit=1_000)]
            assert len(whole) > 4
            paged, cursor = [], None
            while True:
                page = method(limit=2, cursor=cursor)
                paged += [item.id for item in page]
                if (cursor := page.cursor) is None:
                    break
            assert paged == whole
            with pytest.raises(InvalidInput, match="cursor"):
                method(cursor="x")


def test_an_import_analyses_what_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_ANALYSES", "true")
    folder = home_with(tmp_path / "home", {"name": "tickets", "patterns": {"ticket": r"OPS-\d+"}})
    export = tmp_path / "chat.jsonl"
    export.write_text("".join(json.dumps(message) + "\n" for message in MESSAGES))
    with Recollect(folder) as recollect:
        zone = recollect.zone("work")
        zone.ingest_files(export)
        assert {run.status for run in zone.analyses()} == {"completed"}
        assert [facet.value for facet in zone.facets(type="ticket", value="OPS-18")] == ["OPS-18"]
        assert zone.analyse().requested == 0


def test_a_worker_analyses_what_has_ended_if_it_is_set_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = home_with(tmp_path / "home")
    assert automatic_analyses(Home(folder)) is None
    monkeypatch.setenv("RECOLLECT_ANALYSES", "true")
    with Recollect(folder) as recollect:
        zone = recollect.zone("work")
        zone.ingest(MESSAGES)
        outcomes: list[int | Exception] = []

        def report(_: str, outcome: int | Exception) -> None:
            outcomes.append(outcome)
            worker.end()

        worker = EmbeddedWorker(
            recollect._open_home.node,
            report,
            ticks=False,
            analyses=automatic_analyses(Home(folder)),
        )
        worker.work()
        assert outcomes == [1]
        assert {run.type for run in zone.analyses()} >= {"summary_v1", "pii_v1"}


def test_a_home_without_the_agent_refuses_and_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOLLECT_ANALYSES", "true")
    folder = tmp_path / "home"
    Home.create_or_open(folder, without_encoder=True, agents=["writer", "episodes"])
    with Recollect(folder) as recollect:
        zone = recollect.zone("work")
        zone.ingest(MESSAGES)
        assert zone.status().events == len(MESSAGES)
        with pytest.raises(InvalidInput, match="this home has no agent for analyses"):
            zone.analyse()
