"""Dates of rarer forms mean the days a calendar gives; every expected day is a literal."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from recollect.text.dates import calendar_days
from recollect.text.dates.dates_in_text import date_references

# A Friday.
FRIDAY = "2026-05-08T13:56"


def days_of(text: str, moment: str = FRIDAY, *, offset: int = 0) -> list[tuple[str, str]]:
    at = int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp() * 1000)
    found = date_references(text, at_ms=at, utc_offset_minutes=offset, every=True)
    return [(item.first, item.last) for item in found]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("We marry in March in two years", "2028-03-01", "2028-03-31"),
        ("The shop closed in October three years ago.", "2023-10-01", "2023-10-31"),
        ("March after next", "2028-03-01", "2028-03-31"),
        ("We moved in March two years ago.", "2024-03-01", "2024-03-31"),
        ("18q4", "2018-10-01", "2018-12-31"),
        ("the ides of March", "2026-03-15", "2026-03-15"),
        ("the ides of June 2024", "2024-06-13", "2024-06-13"),
        ("morning of xmas", "2026-12-25", "2026-12-25"),
        ("She came on the evening of 4 July 2024.", "2024-07-04", "2024-07-04"),
        ("rest of the week", "2026-05-08", "2026-05-10"),
        ("the remainder of the year", "2026-05-08", "2026-12-31"),
        ("in the next few days", "2026-05-09", "2026-05-11"),
        ("3 in the AM", "2026-05-08", "2026-05-08"),
        ("nine fifty nine a m", "2026-05-08", "2026-05-08"),
        ("in 2 and an half hours", "2026-05-08", "2026-05-08"),
    ],
)
def test_a_rarer_form_means_these_days(text: str, first: str, last: str) -> None:
    assert days_of(text) == [(first, last)]


@pytest.mark.parametrize(
    ("text", "moment", "day"),
    [
        ("first tuesday of october", "2013-02-12T04:30", "2013-10-01"),
        ("last friday in october", "2013-02-12T04:30", "2013-10-25"),
        ("third monday in january", "2013-02-12T04:30", "2013-01-21"),
        ("We met on the first Tuesday of October.", "2013-02-12T04:30", "2012-10-02"),
        ("We will meet on the third Monday in January.", "2013-02-12T04:30", "2014-01-20"),
    ],
)
def test_a_month_without_a_tense_is_the_coming_or_just_over(
    text: str, moment: str, day: str
) -> None:
    assert days_of(text, moment) == [(day, day)]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("at 3am", "2026-05-09"),
        ("at 3 in the morning", "2026-05-09"),
        ("at 12am", "2026-05-09"),
        ("at five am", "2026-05-09"),
        ("13:45", "2026-05-09"),
        ("3h18", "2026-05-09"),
        ("We will call at 9am", "2026-05-09"),
        ("We will call at 3pm", "2026-05-08"),
        ("at 3pm", "2026-05-08"),
        ("14:30", "2026-05-08"),
        ("9am", "2026-05-08"),
        ("I woke at 3am", "2026-05-08"),
        ("I am going to sleep, it is 3:28 am", "2026-05-08"),
        ("I woke at 03:15", "2026-05-08"),
    ],
)
def test_a_time_that_is_to_come_and_past_today_is_on_the_next_day(text: str, day: str) -> None:
    assert days_of(text) == [(day, day)]


def test_the_time_is_that_of_the_place() -> None:
    # In UTC it is 13:56; five hours west it is not yet nine.
    assert days_of("at 9am", offset=-300) == [("2026-05-08", "2026-05-08")]


@pytest.mark.parametrize(
    "text",
    [
        "She is the rest of us.",
        "The morning of my life.",
        "Three twenty",
        "We need two sixty a m",
        "March in, he said.",
        "at 99am",
        "at 3 15 people came",
    ],
)
def test_what_looks_like_one_and_is_none(text: str) -> None:
    assert days_of(text) == []


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("the consultant is on the 9th of june", "2026-06-09"),
        ("the test is the 9th of march", "2026-03-09"),
        ("moved, not april but 12 may now, in the clinic", "2026-05-12"),
        ("on 12 may now", "2026-05-12"),
    ],
)
def test_a_day_of_a_month_in_small_letters(text: str, day: str) -> None:
    assert (day, day) in days_of(text)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Our mortgage renews in November.", ("2026-11-01", "2026-11-30")),
        ("The lease expires in January.", ("2027-01-01", "2027-01-31")),
        ("Noor turns 3 in February.", ("2027-02-01", "2027-02-28")),
        ("The lease expired in January.", ("2026-01-01", "2026-01-31")),
    ],
)
def test_what_ends_or_begins_in_the_present_is_to_come(text: str, days: tuple[str, str]) -> None:
    assert days_of(text) == [days]


@pytest.mark.parametrize(
    "text",
    [
        "It feels like just yesterday that I put on this dress.",
        "It seems like only yesterday.",
        "The wedding was like yesterday to me.",
    ],
)
def test_what_only_feels_near_was_on_no_certain_day(text: str) -> None:
    assert days_of(text) == []


def test_yesterday_is_a_day() -> None:
    assert days_of("I like the soup of yesterday.") == [("2026-05-07", "2026-05-07")]


def test_months_are_not_computed_again_for_each_text() -> None:
    calendar_days.month.cache_clear()
    for number in range(50):
        assert days_of(f"We met in May, all {number} of us.") == [("2026-05-01", "2026-05-31")]
    assert calendar_days.month.cache_info().misses < 100


@pytest.mark.parametrize(
    ("text", "moment", "day"),
    [
        # What was arranged, agreed or bought lies ahead, at whatever time of the year.
        ("I signed up for the pottery class on 10 May.", "2026-11-20T09:00", "2027-05-10"),
        ("Registered for the half marathon on 4 April!", "2026-11-20T09:00", "2027-04-04"),
        ("We booked a cabin for the long weekend on 3 May", "2026-09-02T09:00", "2027-05-03"),
        ("We got tickets for the opera on 9 March.", "2026-10-02T09:00", "2027-03-09"),
        ("They invited us to the wedding on 2 June.", "2026-10-02T09:00", "2027-06-02"),
        ("I've made an appointment with the dentist on Monday", FRIDAY, "2026-05-11"),
        ("Tom enrolled in the course for Monday", FRIDAY, "2026-05-11"),
        ("We agreed to meet on Monday.", FRIDAY, "2026-05-11"),
        ("She promised to call on Monday", FRIDAY, "2026-05-11"),
        ("He booked a table on 3 February.", "2026-11-20T09:00", "2027-02-03"),
        # What was merely done, or has no object, is over.
        ("I signed the lease on 10 May.", "2026-11-20T09:00", "2026-05-10"),
        ("I signed up on 10 May.", "2026-11-20T09:00", "2026-05-10"),
        ("We got the keys on 9 March.", "2026-10-02T09:00", "2026-03-09"),
        ("We agreed to the offer on 9 March.", "2026-10-02T09:00", "2026-03-09"),
        ("I registered on Monday.", FRIDAY, "2026-05-04"),
        ("I ran for the bus on Monday.", FRIDAY, "2026-05-04"),
        ("He quit on Monday.", FRIDAY, "2026-05-04"),
        ("We split up on Monday", FRIDAY, "2026-05-04"),
        # These forms are no past, or not surely.
        ("They'll quit on Monday.", FRIDAY, "2026-05-11"),
        ("Can we put it off? Monday would be better.", FRIDAY, "2026-05-11"),
    ],
)
def test_the_day_of_what_was_arranged_is_ahead(text: str, moment: str, day: str) -> None:
    assert days_of(text, moment) == [(day, day)]


@pytest.mark.parametrize(
    ("text", "moment", "first"),
    [
        ("I enrolled in the course in October.", "2026-05-08T09:00", "2026-10-01"),
        ("I enrolled in the course in March.", "2026-05-08T09:00", "2026-03-01"),
    ],
)
def test_the_month_of_what_was_arranged_is_the_last_one_unless_long_ago(
    text: str, moment: str, first: str
) -> None:
    assert [span[0] for span in days_of(text, moment)] == [first]


def certain_days(text: str, moment: str = FRIDAY) -> list[tuple[str, str]]:
    at = int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp() * 1000)
    return [(item.first, item.last) for item in date_references(text, at_ms=at)]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("The orchestra rehearses between now and Friday.", "2026-05-08", "2026-05-15"),
        ("The kiln is hired from now till the end of July.", "2026-05-08", "2026-07-31"),
        ("The ferry is off until 9/30.", "2026-09-30", "2026-09-30"),
        ("Fitting of the gown: 06/20", "2026-06-20", "2026-06-20"),
        ("The recital's the 23rd.", "2026-05-23", "2026-05-23"),
        ("I am on late shifts from 12th.", "2026-05-12", "2026-05-12"),
        ("the first half of the year was slow", "2026-01-01", "2026-06-30"),
        ("The judge sees us Tuesday week.", "2026-05-19", "2026-05-19"),
        ("The mare foaled the Sunday before last.", "2026-04-26", "2026-04-26"),
        ("choir is weds", "2026-05-13", "2026-05-13"),
        ("we closed the bar late last nite", "2026-05-07", "2026-05-07"),
    ],
)
def test_a_date_of_everyday_writing_is_certain(text: str, first: str, last: str) -> None:
    assert certain_days(text) == [(first, last)]


@pytest.mark.parametrize(
    "text",
    [
        "She marked 15/20 and 2/13.",
        "Her coach was the 14th of twenty.",
        "Pope John the 23rd opened it.",
        "It was not the 16th but another one.",
        "She weds a baker.",
        "The meadow is lovely in spring.",
    ],
)
def test_what_may_be_no_day_is_not_certain(text: str) -> None:
    assert certain_days(text) == []


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("The choir has voted: we sing in October.", "2026-10-01", "2026-10-31"),
        ("December is when the roof leaked.", "2025-12-01", "2025-12-31"),
        ("1 December is fine as she finished early.", "2026-12-01", "2026-12-01"),
        ("He's having a crown fitted in November.", "2026-11-01", "2026-11-30"),
        ("The permit was due in February.", "2026-02-01", "2026-02-28"),
        ("We hiked in Corsica in summer.", "2025-06-01", "2025-08-31"),
        ("We'll hike in Corsica in summer.", "2026-06-01", "2026-08-31"),
    ],
)
def test_the_verb_of_its_own_clause_decides(text: str, first: str, last: str) -> None:
    assert certain_days(text) == [(first, last)]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("The rent is 900 a month from September.", "2026-09-01", "2026-09-30"),
        ("A kitchen, 150,000 naira a month from July.", "2026-07-01", "2026-07-31"),
        ("We pay 30 euros a week from Monday.", "2026-05-11", "2026-05-11"),
        ("We leave a week from Monday.", "2026-05-18", "2026-05-18"),
        ("Date fixed: 12 September.", "2026-09-12", "2026-09-12"),
        ("Lesson cancelled in June, the teacher is away.", "2026-06-01", "2026-06-30"),
        ("I cancelled the gym in June.", "2025-06-01", "2025-06-30"),
        ("I bought a desk from 2024.", "2024-01-01", "2024-12-31"),
    ],
)
def test_a_rate_a_label_or_a_cancellation_dates_nothing_itself(
    text: str, first: str, last: str
) -> None:
    assert days_of(text) == [(first, last)]


@pytest.mark.parametrize("text", ["I bought a desk from 1962.", "We restored a boat from 1931."])
def test_the_year_of_a_thing_is_no_day_of_a_purchase(text: str) -> None:
    at = int(datetime.fromisoformat(FRIDAY).replace(tzinfo=UTC).timestamp() * 1000)
    assert [*date_references(text, at_ms=at)] == []
