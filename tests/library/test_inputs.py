"""What a person would try works, and what cannot work is refused by the name of its field."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from recollect import Query, Recollect, Zone
from recollect.schemas.errors import InvalidInput
from recollect.schemas.wire import RecallAnswer
from tests.library.kit import said


@pytest.fixture(scope="module")
def ada(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zone]:
    with Recollect(tmp_path_factory.mktemp("inputs") / "home", encoder="none") as r:
        zone = r.zone("ada")
        zone.ingest(
            said(f"m{place}", f"Ada bought boat number {place} in Turin.", minute=place)
            for place in range(1, 6)
        )
        yield zone


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Zone]:
    with Recollect(tmp_path / "home", encoder="none") as r:
        yield r.zone("new")


def ids(answer: RecallAnswer) -> list[list[str]]:
    return [result.source_event_ids for result in answer.results]


@pytest.mark.parametrize(
    "query",
    [
        Query("boat", max_results=2, scope=("events",)),
        {"query": "boat", "max_results": 2, "scope": ["events"]},
        {"query": "boat", "max_results": 2, "scope": "events"},
    ],
)
def test_a_question_may_be_put_in_any_form(ada: Zone, query: Any) -> None:
    plain = ada.recall("boat", max_results=2, scope="events")
    assert len(plain.results) == 2
    assert ids(ada.recall(query)) == ids(plain)


@pytest.mark.parametrize(
    "time",
    [
        "2026-05-08T10:03:00Z",
        "2026-05-08T12:03:00+02:00",
        1_778_234_580_000,
        "1778234580000",
        datetime(2026, 5, 8, 10, 3, tzinfo=UTC),
        datetime(2026, 5, 8, 12, 3, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_a_time_may_be_given_in_any_form(ada: Zone, time: Any) -> None:
    found = ada.recall("boat", scope="events", time_after=time)
    assert sorted(ids(found)) == [["m4"], ["m5"]]
    assert sorted(ids(ada.recall(Query("boat", scope=("events",), time_after=time)))) == [
        ["m4"],
        ["m5"],
    ]


def test_a_report_is_of_the_time_between_its_bounds(ada: Zone) -> None:
    report = ada.reflect(
        "boat", time_after="2026-05-08T10:02:00Z", time_before="2026-05-08T10:04:00Z"
    )
    found = {id_ for result in report.results for id_ in result.source_event_ids}
    assert found == {"m3"}


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"query": "boat", "max_results": "5"}, "max_results: expected `int`"),
        ({"query": "boat", "k": 5}, "`k`.*fields are query, max_results"),
        ({"max_results": 5}, "`query`"),
        ({"query": 7}, "query: expected `str`"),
        ({"query": "boat", "scope": ["songs"]}, "scope"),
        ({"query": "boat", "scope": "songs"}, "scope"),
        ({"query": "boat", "scope": []}, "scope is empty"),
        ({"query": "boat", "budget": "huge"}, "budget"),
        ({"query": "boat", "profile": "nobody's"}, "profile"),
        ({"query": "boat", "max_results": 0}, "max_results 0"),
        ({"query": "boat", "min_score": 2}, "min_score 2"),
        ({"query": "boat", "time_after": "yesterday"}, "time_after: 'yesterday'"),
        ({"query": "boat", "time_before": datetime(2026, 5, 8)}, "time_before.*no time zone"),
        ({"query": "boat", "valid_at": 1_778_234_580}, "valid_at: .* unix seconds"),
        ({"query": "boat", "known_at": "1:2:3:4"}, "known_at"),
        ({"query": "boat", "known_at": True}, "known_at"),
        ({"query": "boat", "entity": 7}, "entity: expected `str"),
        (Query("boat", max_results="5"), "max_results: expected `int`"),  # type: ignore[arg-type]
        (Query(7), "query: expected `str`"),  # type: ignore[arg-type]
        (["boat"], "query is list"),
        (None, "query is NoneType"),
    ],
)
def test_a_question_that_cannot_be_asked_names_the_field(ada: Zone, query: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=f"(?s){told}"):
        ada.recall(query)


def test_events_may_come_as_one_as_several_or_one_by_one(empty: Zone) -> None:
    assert empty.ingest(said("m1", "One.")).new == 1
    assert empty.ingest([said("m2", "Two."), said("m3", "Number 3.")]).new == 2
    report = empty.ingest(said(f"m{place}", f"Number {place}.") for place in range(3, 1_500))
    assert (report.read, report.new, report.duplicate, report.rejected) == (1_497, 1_496, 1, 0)
    assert empty.ingest([]).read == 0
    assert empty.status().events == 1_499


def test_times_of_events_may_be_datetimes(empty: Zone) -> None:
    at = datetime(2026, 5, 8, 12, 3, tzinfo=timezone(timedelta(hours=2)))
    empty.ingest(said("m1", "I own a boat.", occurred_at=at))
    assert empty.recall("boat").results[0].as_of == "2026-05-08T10:03:00.000Z"


def test_days_may_be_dates(empty: Zone) -> None:
    empty.ingest(
        [
            said("m1", "I own a boat."),
            said("m2", "I live in Turin.", occurred_at="2026-05-20T10:00:00Z"),
        ]
    )
    may = date(2026, 5, 8)
    assert [one.day for one in empty.timeline(first=may, last=may).days] == ["2026-05-08"]
    assert len(empty.episodes(strategy="day", first=may, last=may).episodes) == 1
    assert ids(empty.recall("boat", scope="facts", time_before=date(2026, 5, 14))) == [["m1"]]
    assert empty.forget(time_after=may, time_before=date(2026, 5, 14), dry_run=True).events == 1
    with pytest.raises(InvalidInput, match="occurred_at: '2026-05-08' has no time zone"):
        empty.ingest(said("m3", "I own a boat.", occurred_at=may))


def test_an_empty_selector_forgets_nothing(empty: Zone) -> None:
    """Many programs write an empty thread_id, and scripts an empty variable."""
    empty.ingest([said("m1", "I own a boat.", thread_id=""), said("m2", "It is blue.")])
    for name in ("entity", "sender_id", "thread_id", "platform"):
        for others in ({}, {"time_after": "2026-01-01"}):
            with pytest.raises(InvalidInput, match=f"^{name} is empty"):
                empty.forget(**{name: ""}, **others)  # type: ignore[arg-type]
    assert empty.status().events == 2


def test_what_cannot_be_kept_is_named_and_the_rest_is_kept(empty: Zone) -> None:
    report = empty.ingest(
        [
            said("m1", "I own a boat."),
            said("m2", ""),
            {**said("m3", "x"), "occurred_at": "soon"},
            7,  # type: ignore[list-item]
            said("m5", "It is blue."),
        ]
    )
    assert (report.read, report.new, report.rejected) == (5, 2, 3)
    assert [item.line for item in report.rejections] == [2, 3, 4]
    assert [item.reason.split(" ")[0] for item in report.rejections] == [
        "content",
        "occurred_at:",
        "an",
    ]


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ({"platform": "chat"}, "sender_id"),
        (said("m1", b"bytes"), "content: bytes"),  # type: ignore[arg-type]
        (said("m1", "x", metadata={"weight": float("nan")}), "metadata"),
        (said("m1", "x", metadata={"kind": object()}), "metadata: object"),
        (said("m1", "x", occurred_at=datetime(2026, 5, 8)), "occurred_at.*no time zone"),
        (said("m1", "x", platform="recollect"), "platform"),
        ("chats.jsonl", "use ingest_files"),
        (Path("chats.jsonl"), "use ingest_files"),
        (7, "events is int"),
        ([said("m1", ""), said("m2", "")], "none of 2 events can be stored; event 1: content"),
    ],
)
def test_events_that_cannot_be_kept_are_refused(empty: Zone, events: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        empty.ingest(events)
    assert not empty.exists()


def test_other_calls_name_what_is_wrong(ada: Zone) -> None:
    for call, told in (
        (lambda: ada.remember(7), "content is int"),  # type: ignore[arg-type]
        (lambda: ada.remember("x", at="soon"), "at: 'soon'"),
        (lambda: ada.forget(), "say what to forget"),
        (lambda: ada.forget(time_before=datetime(2026, 5, 8)), "time_before.*no time zone"),
        (lambda: ada.rebuild("all"), "level 'all': choose from index"),  # type: ignore[arg-type]
        (lambda: ada.verify(expect="nothing"), "not a head"),
        (lambda: ada.wait_for("nothing"), "not a consistency token"),
        (lambda: ada.why("nobody"), "nobody"),
        (lambda: ada.retry("one"), "number is 'one'; give a whole number"),  # type: ignore[arg-type]
        (lambda: ada.create_mental_model("", "x"), "name is empty"),
        (lambda: ada.create_mental_model("Boats", 7), "description is int"),  # type: ignore[arg-type]
        (lambda: ada.mental_model("none"), "no mental model 'none'"),
        (lambda: ada.update_mental_model("none", "x"), "no mental model 'none'"),
        (lambda: ada.propose_merge("a", "b", 2, "?"), "confidence 2"),
        (lambda: ada.propose_merge("a", "a", 0.5, "?"), "are the same"),
        (lambda: ada.propose_merge("a", "b", 0.5, "?"), "no entity with the id 'a'"),
        (lambda: ada.decide_merge("a", "merged"), "no merge 'a'"),
    ):
        with pytest.raises(InvalidInput, match=told):
            call()


def test_an_empty_path_is_not_the_current_directory(
    empty: Zone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("chats.txt").write_text("2026-05-08 10:00 - Ada: I live in Turin.\n")
    for call in (
        lambda: empty.ingest_files(""),
        lambda: empty.ingest_files(["chats.txt", ""]),
        lambda: empty.preview_files(""),
        lambda: empty.follow_file("", each=lambda report: True),
        lambda: empty.export("", force=True),
        lambda: Recollect(""),
        lambda: Recollect.restore("", tmp_path),
        lambda: Recollect.restore(tmp_path / "new", ""),
    ):
        with pytest.raises(InvalidInput, match=r"^(path|home|backup) is empty; give "):
            call()
    assert not empty.exists()
    assert os.listdir() == ["chats.txt"]


def test_a_zones_name_is_checked(tmp_path: Path) -> None:
    with Recollect(tmp_path / "home", encoder="none") as r:
        for name in ("", "a/b", "é", "x" * 65):
            with pytest.raises(InvalidInput, match="zone"):
                r.zone(name)


@pytest.mark.parametrize("wrong", [7, None, ["ada"]], ids=repr)
def test_a_zone_and_a_token_that_are_no_text_are_invalid_input(tmp_path: Path, wrong: Any) -> None:
    with Recollect(tmp_path / "home", encoder="none") as r:
        with pytest.raises(InvalidInput, match="zone is "):
            r.zone(wrong)
        with pytest.raises(InvalidInput, match="token is "):
            r.zone("ada").wait_for(wrong)
