"""`timeline` lists what happened, by day."""

from __future__ import annotations

import re

import pytest

from tests.cli.kit import STYLE, Shell, said


@pytest.fixture
def held(shell: Shell) -> Shell:
    """A zone in which Ada moves twice, and plans an exam."""
    shell.ingest(
        said("m-1", "I live in Rome.", at="2026-05-01T10:00:00Z"),
        said("m-2", "My exam is on 4 June.", at="2026-05-01T11:00:00Z"),
        said("m-3", "I live in Oslo.", at="2026-05-02T10:00:00Z"),
        said("m-4", "I sailed to Corfu from 3 to 5 June.", "Bob", at="2026-06-09T10:00:00Z"),
    )
    return shell


def test_days_read_as_text(held: Shell) -> None:
    shown = re.sub("episode [0-9A-Z]+", "episode ID", held("timeline").out)
    assert shown.splitlines() == [
        "Friday, 2026-05-01",
        "  Ada lives in Rome.",
        "    said by Ada that day (m-1)",
        "    no longer so: Ada lives in Oslo.",
        "  Talk: My exam is on 4 June.",
        "    10:00 to 11:00 UTC, 2 messages · Ada · episode ID",
        "",
        "Saturday, 2026-05-02",
        "  Ada lives in Oslo.",
        "    said by Ada that day (m-3)",
        "",
        "Thursday, 2026-06-04",
        "  Ada's exam is on 4 June (2026-06-04).",
        "    said by Ada on 2026-05-01 (m-2)",
        "",
        "Friday, 2026-06-05",
        "  Bob sailed to Corfu from 3 to 5 June (3-5 June 2026).",
        "    2026-06-03 to 2026-06-05 · said by Bob on 2026-06-09 (m-4)",
    ]


def test_the_day_of_the_heading_is_not_repeated(held: Shell) -> None:
    held.ingest(said("m-6", "I bought a piano today.", at="2026-07-01T10:00:00Z"))
    shown = held("timeline", "--from", "2026-07-01").out
    assert "said by Ada that day (m-6)" in shown


def test_lines_fit_a_terminal(held: Shell) -> None:
    long = "I painted the old boat of my uncle white and blue " * 5
    held.ingest(said("m-5", f"{long}on Sunday.", at="2026-06-09T11:00:00Z"))
    for columns in (40, 80):
        shown = STYLE.sub("", held.on_a_terminal(columns, "timeline"))
        assert "m-5" in shown
        assert max(map(len, shown.splitlines())) <= columns


def test_json_is_a_line_for_each_day(held: Shell) -> None:
    days = held("timeline", "--json").json()
    assert [day["day"] for day in days] == ["2026-05-01", "2026-05-02", "2026-06-04", "2026-06-05"]
    (rome,) = days[0]["items"]
    assert (rome["source_event_ids"], rome["dated_by"], rome["current"]) == (["m-1"], "said", False)
    assert rome["superseded_by"]["text"] == "Ada lives in Oslo."


def test_a_day_that_goes_over_pages_is_one_line(
    held: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.library.pagination._PAGE_SIZE", 1)
    held.ingest(said("m-5", "I bought a boat.", "Eve", at="2026-05-02T11:00:00Z"))
    days = held("timeline", "--json").json()
    assert [(day["day"], len(day["items"])) for day in days][1] == ("2026-05-02", 2)
    assert len(days) == 4


def test_it_keeps_to_the_days_and_the_entity_given(held: Shell) -> None:
    def days(*options: str) -> list[str]:
        return [day["day"] for day in held("timeline", "--json", *options).json()]

    assert days("--from", "2026-05-02", "--to", "2026-06-04") == ["2026-05-02", "2026-06-04"]
    assert days("--entity", "Bob") == ["2026-06-05"]
    assert days("--to", "2026-05-02T01:00:00+02:00", "--entity", "Ada") == [
        "2026-05-01",
        "2026-05-02",
    ]
    assert held("timeline", "--from", "2027-01-01").out == "nothing listed\n"
    wrong = held("timeline", "--from", "2026-05-02", "--to", "2026-05-01")
    assert (wrong.status, wrong.out) == (2, "")


def test_the_next_page_goes_on(held: Shell) -> None:
    first = held("timeline", "--limit", "3", "--json")
    more = re.search(r"--cursor '(\S+)'", first.err)
    assert more is not None
    rest = held("timeline", "--json", "--cursor", more[1])
    assert [*first.json(), *rest.json()] == held("timeline", "--json").json()
