"""Times given by an event: which event, and which days are meant."""

from __future__ import annotations

from datetime import date

import pytest

from recollect.projections.recall.question.times.event_times import (
    before_date,
    days_of_anchor,
    find_anchor,
)


@pytest.mark.parametrize(
    ("text", "relation", "unit", "times", "event"),
    [
        ("What did Ann read the week before the move?", "before", "week", 1, "the move"),
        ("After the wedding, what did Ann do?", "after", None, 1, "the wedding"),
        ("What did she cook two weeks after her wedding?", "after", "week", 2, "her wedding"),
        ("After Bob's party who went home?", "after", None, 1, "Bob's party"),
        ("Where was Ann before moving to Leeds?", "before", None, 1, "moving to Leeds"),
        ("How did Ann sleep since the last visit", "after", None, 1, "the last visit"),
        ("What did Ann do right after she left?", "after", None, 1, "she left"),
        ("What grew the summer Ann was in Rome?", "in", "summer", 1, "Ann was in Rome"),
        ("What happened in the month of the move?", "in", "month", 1, "the move"),
    ],
)
def test_an_event_is_seen(
    text: str, relation: str, unit: str | None, times: int, event: str
) -> None:
    found = find_anchor(text)
    assert found is not None
    assert (found.relation, found.unit, found.unit_count, found.event) == (
        relation,
        unit,
        times,
        event,
    )
    assert text[found.start : found.end].strip() == event


@pytest.mark.parametrize(
    "text",
    [
        "Who looks after the kids?",
        "Whom is Bob named after the king of?",
        "What does Ann do after work?",
        "What was the day like?",
        "What is Ann's plan for the week?",
        "What did Ann buy before May?",
        "What is the day after tomorrow?",
        "Was kam nach der Hochzeit?",
        "after",
        "",
    ],
)
def test_nothing_else_is_taken_for_one(text: str) -> None:
    assert find_anchor(text) is None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("the week before the move", "2026-06-03", "2026-06-09"),
        ("the day after the move", "2026-06-13", "2026-06-13"),
        ("3 days after the move", "2026-06-13", "2026-06-15"),
        ("before the move", "0001-01-01", "2026-06-10"),
        ("after the move", "2026-06-10", "9999-12-31"),
        ("the day of the move", "2026-06-10", "2026-06-12"),
        ("the week of the move", "2026-06-08", "2026-06-14"),
        ("the month of the move", "2026-06-01", "2026-06-30"),
        ("the summer of the move", "2026-06-01", "2026-08-31"),
        ("the winter of the move", "2025-12-01", "2026-02-28"),
        ("the year of the move", "2026-01-01", "2026-12-31"),
    ],
)
def test_days_beside_or_around_those_of_the_event(text: str, first: str, last: str) -> None:
    found = find_anchor(text)
    assert found is not None
    told = days_of_anchor(found, date(2026, 6, 10), date(2026, 6, 12))
    assert [day.isoformat() for day in told] == [first, last]


def test_days_stay_within_the_calendar() -> None:
    found = find_anchor("999 years before the move")
    assert found is not None
    assert days_of_anchor(found, date(3, 1, 1), date(3, 1, 1)) == (date.min, date(2, 12, 31))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("what came two weeks before ", ("before", "week", 2)),
        ("the week after the ", ("after", "week", 1)),
        ("since ", ("after", None, 1)),
        ("before ", None),
        ("a day ", None),
    ],
)
def test_what_stands_before_a_date(text: str, told: tuple[str, str | None, int] | None) -> None:
    found = before_date(text)
    assert (None if found is None else (found.relation, found.unit, found.unit_count)) == told
