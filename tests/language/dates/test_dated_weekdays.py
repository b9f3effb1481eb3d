"""A weekday with a day of the month is a day of the year in which the two agree."""

from __future__ import annotations

import pytest

from tests.language.dates.test_dates import resolve

# 3 March was a Monday in 2025 and will be one in 2031; 14 November was a Friday in 2025.
FRIDAY = "2026-11-20T12:00"


@pytest.mark.parametrize(
    ("text", "phrase", "day"),
    [
        ("We met on Monday 3 March.", "Monday 3 March", "2025-03-03"),
        ("Monday 3 March: kick-off", "Monday 3 March", "2025-03-03"),
        ("Mon, March 3 was the kick-off", "Mon, March 3", "2025-03-03"),
        ("She was born on Monday the 3rd of March.", "Monday the 3rd of March", "2025-03-03"),
        ("The exam was on 3 March (Monday).", "3 March", "2025-03-03"),
        # This year's, or the coming one, where that is the weekday.
        ("We met on Tuesday 3 March.", "Tuesday 3 March", "2026-03-03"),
        ("We will fly on Wednesday 3 March.", "Wednesday 3 March", "2027-03-03"),
        ("The exam is on 3 March (Wednesday).", "3 March", "2027-03-03"),
        ("On 3 March, Wednesday, we fly.", "3 March, Wednesday", "2027-03-03"),
        # What is planned may just be over, and weekday and date of last year agree.
        ("It is scheduled for Friday 13 November.", "Friday 13 November", "2026-11-13"),
        ("We moved on Thursday 4 December.", "Thursday 4 December", "2025-12-04"),
        # A year that is written stands, whatever the weekday.
        ("We met on Tuesday 3 March 2025.", "Tuesday 3 March 2025", "2025-03-03"),
        ("We met on 3 March 2025 (Tuesday).", "3 March 2025", "2025-03-03"),
    ],
)
def test_it_is_of_the_year_that_fits_weekday_and_tense(text: str, phrase: str, day: str) -> None:
    assert resolve(text, FRIDAY) == [(phrase, day, day)]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        # Nobody plans a trial five years ahead without its year, and none is over that "is".
        ("We will fly on Monday 3 March.", FRIDAY),
        ("The trial is on Monday 3 March.", FRIDAY),
        ("The exam is on 3 March (Monday).", FRIDAY),
        # This year's own day is near, so the weekday is as likely a slip.
        ("We moved in on Friday 14 November.", FRIDAY),
        ("It is scheduled for Saturday, April 12th.", "2026-04-06T12:00"),
        ("Let us book Wednesday, June 5th.", "2026-04-22T12:00"),
        ("Proposed: it was Wednesday, June 5th.", "2026-04-22T12:00"),
        # No year of those near it has that weekday, or the month no such day.
        ("We flew on Saturday 12 June.", FRIDAY),
        ("We met on Friday 29 February.", FRIDAY),
        ("We met on Tuesday 31 February.", FRIDAY),
        # Nor is a span told of what is in doubt.
        ("We will be away from Monday 3 March to Friday 7 March.", FRIDAY),
    ],
)
def test_no_day_is_told_where_they_agree_in_none_that_may_be_meant(text: str, moment: str) -> None:
    assert resolve(text, moment) == []


def test_a_list_of_days_is_not_one_of_them() -> None:
    assert [first for _, first, _ in resolve("On 3 March, Friday and Sunday we fly.", FRIDAY)] == [
        "2027-03-03", "2026-11-27", "2026-11-22",
    ]  # fmt: skip
