"""A bare weekday is the day that the conversation has just named, where one alone agrees."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from tests.language.stating import stated

#: Tuesday.
SAID = datetime(2026, 3, 24, 12, tzinfo=UTC)


def _days(text: str, named: tuple[date, ...] = ()) -> list[str]:
    analysis = stated(
        text,
        speaker="Ada",
        at_ms=int(SAID.timestamp() * 1000),
        days=[day.toordinal() for day in named],
    )
    return [day.first for one in analysis.statements for day in one.dates]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "My exam is on Friday the 3rd of April. Friday is also a holiday in our town.",
            ["2026-04-03", "2026-04-03"],
        ),
        (
            "I moved the dentist from Monday to Friday 10 April. I work late on Friday.",
            ["2026-03-30", "2026-04-10", "2026-04-10"],
        ),
        # What is over is not ahead.
        (
            "My exam is on Friday 3 April. I met my brother Ian on Friday.",
            ["2026-04-03", "2026-03-20"],
        ),
        # Two Fridays were named: which is meant is open, so the next one.
        (
            "My exams are on Friday 3 April and Friday 10 April. I leave Porto on Friday.",
            ["2026-04-03", "2026-04-10", "2026-03-27"],
        ),
        # From when on is no day on which something else is.
        (
            "I rent the flat from 3 April. I sign the lease on Friday.",
            ["2026-04-03", "2026-03-27"],
        ),
        # Another weekday, and one that says more than its name.
        (
            "My exam is on Friday 3 April. I leave Porto on Thursday.",
            ["2026-04-03", "2026-03-26"],
        ),
        (
            "My exam is on Friday 10 April. I leave Porto next Friday.",
            ["2026-04-10", "2026-04-03"],
        ),
        # The other day of a weekend, in one sentence; in the next it may be of this week.
        (
            "My sister Ines arrives on Saturday 4 April and leaves on Sunday.",
            ["2026-04-04", "2026-04-05"],
        ),
        (
            "My exam is on Sunday 5 April, and on Saturday I fly to Porto.",
            ["2026-04-05", "2026-04-04"],
        ),
        (
            "My sister Ines arrives on Saturday 4 April. I work in Porto on Sunday.",
            ["2026-04-04", "2026-03-29"],
        ),
    ],
)
def test_a_day_that_the_message_names(text: str, expected: list[str]) -> None:
    assert _days(text) == expected


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ((), "2026-03-27"),
        ((date(2026, 4, 3),), "2026-04-03"),
        ((date(2026, 4, 3), date(2026, 4, 3)), "2026-04-03"),
        ((date(2026, 4, 3), date(2026, 4, 10)), "2026-03-27"),
        ((date(2026, 3, 20),), "2026-03-27"),
        ((date(2026, 4, 2),), "2026-03-27"),
        ((date(2026, 8, 7),), "2026-03-27"),
    ],
)
def test_a_day_that_the_conversation_named(named: tuple[date, ...], expected: str) -> None:
    assert _days("I leave Porto on Friday.", named) == [expected]


@pytest.mark.parametrize(
    ("text", "named", "expected"),
    [
        (
            "Saturday is better for Ines. On Sunday I work in Porto.",
            (date(2026, 4, 4),),
            ["2026-04-04", "2026-04-05"],
        ),
        # Nobody spoke of that weekend's other day, or two weekends were named.
        ("On Sunday I work in Porto.", (date(2026, 4, 4),), ["2026-03-29"]),
        (
            "Saturday is better for Ines. On Sunday I work in Porto.",
            (date(2026, 4, 4), date(2026, 4, 12), date(2026, 4, 19)),
            ["2026-04-04", "2026-03-29"],
        ),
        (
            "Saturday is better for Ines. On Sunday I worked in Porto.",
            (date(2026, 4, 4),),
            ["2026-04-04", "2026-03-22"],
        ),
    ],
)
def test_the_other_day_of_a_weekend_that_is_spoken_of(
    text: str, named: tuple[date, ...], expected: list[str]
) -> None:
    assert _days(text, named) == expected


def test_on_a_weekday_its_name_may_mean_the_day_that_was_named() -> None:
    # SAID is a Tuesday.
    assert _days("Tuesday is better for Ines.", (date(2026, 4, 7),)) == ["2026-04-07"]
    assert _days("Tuesday is better for Ines.") == ["2026-03-31"]


@pytest.mark.parametrize(
    "text",
    [
        "Garbage Tuesday, recycling Thursday.",
        "Trash is Monday, compost is Monday too.",
        "The green bins go out on Friday.",
        "Recycling: Wednesday.",
    ],
)
def test_the_weekday_of_the_bins_is_every_weeks(text: str) -> None:
    at = int(SAID.timestamp() * 1000)
    assert stated(text, speaker="Ada", at_ms=at).statements
    assert _days(text) == []


def test_a_meeting_about_the_bins_is_on_one_day() -> None:
    assert _days("The meeting about the bins is on Friday 15 May.") == ["2026-05-15"]


@pytest.mark.parametrize(
    "text",
    [
        "My sister's shop: Friday & Saturday, 7 AM - 10 PM.",
        "My clinic is open Tuesday and Thursday, 9:00 to 12:00.",
        "I found out the Friday and Saturday times of my club.",
        "My baker is closed Sunday and Monday, 8 to 12 she bakes for the market in Orta.",
    ],
)
def test_hours_of_opening_are_of_no_one_day(text: str) -> None:
    assert not any(day.startswith("2026") for day in _days(text)), _days(text)


def test_a_meeting_with_an_end_is_on_one_day() -> None:
    assert _days("My meeting with Otto is on Friday, 2pm - 3pm.") == ["2026-03-27"]
