"""Dates said in words mean the days a calendar gives; every expected day is a literal."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.dates.dates_in_text import date_references
from recollect.text.dates.resolved_dates import in_words, periods_in_numbers, with_days


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def resolve(text: str, moment: str, offset: int = 0) -> list[tuple[str, str, str]]:
    found = date_references(text, at_ms=at(moment), utc_offset_minutes=offset)
    return [(item.text, item.first, item.last) for item in found]


# 2026-05-08 is a Friday.
FRIDAY = "2026-05-08T13:56"


@pytest.mark.parametrize(
    ("text", "phrase", "first", "last"),
    [
        ("It rained today.", "today", "2026-05-08", "2026-05-08"),
        ("Tonight we dance", "Tonight", "2026-05-08", "2026-05-08"),
        ("I left yesterday", "yesterday", "2026-05-07", "2026-05-07"),
        ("yesterday's talk", "yesterday", "2026-05-07", "2026-05-07"),
        ("tomorrow at 2pm", "tomorrow", "2026-05-09", "2026-05-09"),
        ("the day before yesterday", "the day before yesterday", "2026-05-06", "2026-05-06"),
        ("the day after tomorrow", "the day after tomorrow", "2026-05-10", "2026-05-10"),
        ("this morning", "this morning", "2026-05-08", "2026-05-08"),
        ("last night", "last night", "2026-05-07", "2026-05-07"),
        ("three days ago", "three days ago", "2026-05-05", "2026-05-05"),
        ("two weeks ago", "two weeks ago", "2026-04-20", "2026-04-26"),
        ("a month ago", "a month ago", "2026-04-01", "2026-04-30"),
        ("10 years ago", "10 years ago", "2016-01-01", "2016-12-31"),
        ("in two weeks", "in two weeks", "2026-05-18", "2026-05-24"),
        ("3 days from now", "3 days from now", "2026-05-11", "2026-05-11"),
        ("this week", "this week", "2026-05-04", "2026-05-10"),
        ("last week", "last week", "2026-04-27", "2026-05-03"),
        ("next week", "next week", "2026-05-11", "2026-05-17"),
        ("the week before last", "the week before last", "2026-04-20", "2026-04-26"),
        ("last month", "last month", "2026-04-01", "2026-04-30"),
        ("next month", "next month", "2026-06-01", "2026-06-30"),
        ("last year", "last year", "2025-01-01", "2025-12-31"),
        ("this quarter", "this quarter", "2026-04-01", "2026-06-30"),
        ("last weekend", "last weekend", "2026-05-02", "2026-05-03"),
        ("this weekend is free", "this weekend", "2026-05-09", "2026-05-10"),
        ("we went out this weekend", "this weekend", "2026-05-02", "2026-05-03"),
        ("next weekend", "next weekend", "2026-05-16", "2026-05-17"),
        ("last summer", "last summer", "2025-06-01", "2025-08-31"),
        ("this summer", "this summer", "2026-06-01", "2026-08-31"),
        ("next winter", "next winter", "2026-12-01", "2027-02-28"),
        ("last winter", "last winter", "2025-12-01", "2026-02-28"),
        ("in the summer of 2022", "summer of 2022", "2022-06-01", "2022-08-31"),
        ("last Friday", "last Friday", "2026-05-01", "2026-05-01"),
        ("next Friday", "next Friday", "2026-05-15", "2026-05-15"),
        ("this Sunday", "this Sunday", "2026-05-10", "2026-05-10"),
        ("We will meet on Friday", "Friday", "2026-05-15", "2026-05-15"),
        ("I saw her on Friday", "Friday", "2026-05-01", "2026-05-01"),
        ("I saw her on Tuesday", "Tuesday", "2026-05-05", "2026-05-05"),
        ("Tom said we meet on Tuesday", "Tuesday", "2026-05-12", "2026-05-12"),
        ("Friday, May 15", "Friday, May 15", "2026-05-15", "2026-05-15"),
        ("on May 3", "May 3", "2026-05-03", "2026-05-03"),
        ("May 3-5", "May 3-5", "2026-05-03", "2026-05-05"),
        ("the 3rd of May 1990", "the 3rd of May 1990", "1990-05-03", "1990-05-03"),
        ("Jan. 5, 2024", "Jan. 5, 2024", "2024-01-05", "2024-01-05"),
        ("It is on June 12, but we went too", "June 12", "2026-06-12", "2026-06-12"),
        ("We will marry on January 3", "January 3", "2027-01-03", "2027-01-03"),
        ("We met on December 28", "December 28", "2025-12-28", "2025-12-28"),
        ("We fly in June", "June", "2026-06-01", "2026-06-30"),
        ("I was there in June", "June", "2025-06-01", "2025-06-30"),
        ("in February 2024", "February 2024", "2024-02-01", "2024-02-29"),
        ("last June", "last June", "2025-06-01", "2025-06-30"),
        ("in 2016", "2016", "2016-01-01", "2016-12-31"),
        ("It is due on the 15th.", "the 15th", "2026-05-15", "2026-05-15"),
        ("since 2026-05-07", "2026-05-07", "2026-05-07", "2026-05-07"),
        ("07.05.2026", "07.05.2026", "2026-05-07", "2026-05-07"),
        ("5/25/2026", "5/25/2026", "2026-05-25", "2026-05-25"),
        ("February 29 will come", "February 29", "2028-02-29", "2028-02-29"),
    ],
)
def test_a_reference_means_these_days(text: str, phrase: str, first: str, last: str) -> None:
    assert resolve(text, FRIDAY) == [(phrase, first, last)]


@pytest.mark.parametrize(
    "text",
    [
        "every Friday",
        "on Fridays",
        "Monday to Friday",
        "over the last week",
        "a few days ago",
        "the next day",
        "I finished it in two days",
        "in the summer",
        "You may march on.",
        "I asked April and June",
        "the last week of the course",
        "5/7/2026",
        "2026-13-40",
        "February 30, 2026",
        "Room 2016",
        "a Black Friday deal",
        "see https://a.io/2026-05-07/last-week",
        "mail today@example.com",
        "99999999999999999999 days ago",
        "It was that Friday in March.",
    ],
)
def test_what_names_no_certain_days_is_left_alone(text: str) -> None:
    assert resolve(text, FRIDAY) == []


@pytest.mark.parametrize(
    ("moment", "text", "first", "last"),
    [
        ("2026-01-01T12:00", "yesterday", "2025-12-31", "2025-12-31"),
        ("2026-12-31T12:00", "tomorrow", "2027-01-01", "2027-01-01"),
        ("2024-02-28T12:00", "tomorrow", "2024-02-29", "2024-02-29"),
        ("2023-02-28T12:00", "tomorrow", "2023-03-01", "2023-03-01"),
        ("2024-03-01T12:00", "yesterday", "2024-02-29", "2024-02-29"),
        ("2024-03-31T12:00", "last month", "2024-02-01", "2024-02-29"),
        ("2026-01-15T12:00", "last month", "2025-12-01", "2025-12-31"),
        ("2026-12-15T12:00", "next month", "2027-01-01", "2027-01-31"),
        ("2026-01-01T12:00", "this week", "2025-12-29", "2026-01-04"),
        ("2026-05-10T12:00", "this week", "2026-05-04", "2026-05-10"),
        ("2026-05-11T12:00", "last week", "2026-05-04", "2026-05-10"),
        ("2026-05-10T12:00", "last weekend", "2026-05-02", "2026-05-03"),
        ("2026-05-10T12:00", "this weekend", "2026-05-09", "2026-05-10"),
        ("2026-05-11T12:00", "last Sunday", "2026-05-10", "2026-05-10"),
        ("2026-05-10T12:00", "next Monday", "2026-05-11", "2026-05-11"),
        ("2026-01-20T12:00", "this winter", "2025-12-01", "2026-02-28"),
        ("2024-02-29T12:00", "a year ago", "2023-01-01", "2023-12-31"),
        ("2026-01-20T12:00", "last quarter", "2025-10-01", "2025-12-31"),
    ],
)
def test_spans_cross_the_ends_of_months_and_years(
    moment: str, text: str, first: str, last: str
) -> None:
    assert resolve(text, moment) == [(text, first, last)]


@pytest.mark.parametrize(
    ("moment", "offset", "expected"),
    [
        ("2026-05-08T23:30", 0, "2026-05-08"),
        ("2026-05-08T23:30", 120, "2026-05-09"),
        ("2026-05-08T00:30", -60, "2026-05-07"),
        ("2026-05-08T18:45", 345, "2026-05-09"),
    ],
)
def test_today_is_the_day_on_the_speakers_calendar(moment: str, offset: int, expected: str) -> None:
    assert resolve("today", moment, offset) == [("today", expected, expected)]


# 2026-03-06 is a Friday as well.
IN_MARCH = "2026-03-06T12:00"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("The launch slipped to March 20th", [("March 20th", "2026-03-20")]),
        ("It was moved to 24 March", [("24 March", "2026-03-24")]),
        ("The dentist moved my appointment to Monday", [("Monday", "2026-03-09")]),
        ("It has been pushed back to the 20th", [("the 20th", "2026-03-20")]),
        ("They postponed it until Wednesday", [("Wednesday", "2026-03-11")]),
        ("The review was brought forward to Tuesday", [("Tuesday", "2026-03-10")]),
        ("It was put off till April 3", [("April 3", "2026-04-03")]),
        ("She was rescheduled for Monday", [("Monday", "2026-03-09")]),
        ("It was scheduled for March 20", [("March 20", "2026-03-20")]),
        ("We moved it from 17 March to Tuesday 24 March",
         [("17 March", "2026-03-17"), ("Tuesday 24 March", "2026-03-24")]),
        ("It was moved from Monday to Wednesday",
         [("Monday", "2026-03-09"), ("Wednesday", "2026-03-11")]),
        ("It slipped from the 12th to the 14th",
         [("the 12th", "2026-03-12"), ("the 14th", "2026-03-14")]),
        ("She moved Monday's talk to Thursday",
         [("Monday", "2026-03-09"), ("Thursday", "2026-03-12")]),
        ("The deadline is now 20 March", [("20 March", "2026-03-20")]),
        ("The deadline was March 20", [("March 20", "2026-03-20")]),
        ("The report is due by March 20", [("March 20", "2026-03-20")]),
        ("It expires March 20", [("March 20", "2026-03-20")]),
        ("The office closed until Monday", [("Monday", "2026-03-09")]),
        ("It is to be returned by the 31st", [("the 31st", "2026-03-31")]),
        ("The sale will be held on Friday", [("Friday", "2026-03-13")]),
        ("I signed today, I start 13 April",
         [("today", "2026-03-06"), ("13 April", "2026-04-13")]),
        ("1390 with heating included, from 1 April", [("1 April", "2026-04-01")]),
    ],
)  # fmt: skip
def test_where_something_is_moved_to_lies_ahead(text: str, days: list[tuple[str, str]]) -> None:
    assert [(said, first) for said, first, _ in resolve(text, IN_MARCH)] == days


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Our kick-off was on Monday", "2026-03-02"),
        ("We moved on Monday", "2026-03-02"),
        ("We moved to Berlin on Monday", "2026-03-02"),
        ("We moved the desks on Monday", "2026-03-02"),
        ("The train was delayed on Monday", "2026-03-02"),
        ("The deadline was Monday", "2026-03-02"),
        ("We stayed until Sunday", "2026-03-01"),
        ("The sale ran until 20 February", "2026-02-20"),
        ("My passport expired on June 20", "2025-06-20"),
        # Within two months the nearest is meant.
        ("My passport expired on April 20", "2026-04-20"),
        ("We met on Saturday the 14th", "2026-02-14"),
    ],
)
def test_what_happened_lies_behind(text: str, day: str) -> None:
    assert [first for _, first, _ in resolve(text, IN_MARCH)] == [day]


@pytest.mark.parametrize(
    ("phrase", "day"),
    [
        ("Saturday the 14th", "2026-03-14"),
        ("Wednesday the 11th", "2026-03-11"),
        ("Sat 14th", "2026-03-14"),
        ("sat 21st", "2026-03-21"),
        ("Saturday 14 March", "2026-03-14"),
        ("Saturday, March 14th", "2026-03-14"),
        ("Friday the 3rd", "2026-04-03"),
        ("next Saturday the 14th", "2026-03-14"),
        ("last Saturday the 28th", "2026-02-28"),
        ("sunday 10 may", "2026-05-10"),
        ("Thursday, 12.03.2026", "2026-03-12"),
        ("the first of July", "2026-07-01"),
        ("the twenty-first of March", "2026-03-21"),
    ],
)
def test_a_weekday_and_its_day_are_one_reference(phrase: str, day: str) -> None:
    assert resolve(phrase, IN_MARCH) == [(phrase, day, day)]
    assert resolve(f"{phrase}, got it.", IN_MARCH) == [(phrase, day, day)]


@pytest.mark.parametrize(
    "text",
    ["Sunday the 14th", "Sunday 14 March", "Tuesday the 31st of February", "We sat 3rd row left",
     "on a Monday", "the Monday physio", "that Friday in the park", "Friday nights",
     "5 may be enough"],
)  # fmt: skip
def test_a_weekday_that_fits_no_near_day_is_left_alone(text: str) -> None:
    assert [item for item in resolve(text, IN_MARCH) if item[0] != "March"] == []


def test_a_day_that_is_named_twice_is_written_once() -> None:
    text = "Review tomorrow (Thursday) at 14:00, and on Friday."
    dates = date_references(text, at_ms=at("2026-05-06T13:00"))
    whole = with_days(text, 0, len(text), dates, in_words)
    assert whole.count("(7 May 2026)") == 1
    assert whole.count("(8 May 2026)") == 1


def test_a_range_of_days_is_one_reference() -> None:
    for phrase in ("11 to 22 may", "11–22 May"):
        assert resolve(f"i am here from {phrase}", IN_MARCH) == [
            (phrase, "2026-05-11", "2026-05-22")
        ]


def test_a_range_may_name_its_month_once_after_articles() -> None:
    for phrase in ("the 11th to the 22nd of May", "11th to the 22nd of May"):
        assert resolve(f"we are away from {phrase}", IN_MARCH) == [
            (phrase, "2026-05-11", "2026-05-22")
        ]
    # The tense says which year.
    assert resolve("we were away from the 3rd to the 5th of January", IN_MARCH) == [
        ("the 3rd to the 5th of January", "2026-01-03", "2026-01-05")
    ]
    assert resolve("we met on the 3rd and the 5th of May 2012", IN_MARCH) == [
        ("the 3rd and the 5th of May 2012", "2012-05-03", "2012-05-05")
    ]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("I retired in October", "2025-10-01"),
        ("Tom retired in October", "2025-10-01"),
        ("my cousin married in September", "2025-09-01"),
        ("we are getting married in September", "2026-09-01"),
        ("a retired teacher comes in September", "2026-09-01"),
    ],
)
def test_a_participle_before_a_time_is_past_unless_it_is_an_adjective(
    text: str, first: str
) -> None:
    assert [each for _, each, _ in resolve(text, IN_MARCH)] == [first]


def test_a_day_of_the_month_follows_the_date_before_it() -> None:
    text = "It is the 25th of April, the church is taken on the 18th"
    assert [first for _, first, _ in resolve(text, IN_MARCH)] == ["2026-04-25", "2026-04-18"]


@given(
    st.sampled_from(
        ["today", "last year", "next month", "next winter", "10 years ago", "on Friday", "May 3",
         "I went in June", "we will go in June", "February 29", "this weekend", "9999 years ago",
         "moved to Monday the 5th", "Sunday 29 February", "I went to the 31st of May, on the 30th",
         "last summer", "next summer", "in 9999 weeks", "on the 31st", "last quarter",
         "last winter", "next spring", "late last December", "early next January"]
    ),
    st.integers(min_value=-(10**15), max_value=10**15)
    # The calendar's first and last days
    | st.integers(min_value=-62_135_596_800_000, max_value=-62_072_524_800_000)
    | st.integers(min_value=253_339_228_800_000, max_value=253_402_300_799_999),
    st.integers(min_value=-900, max_value=900),
)  # fmt: skip
def test_days_stay_within_the_calendar(text: str, at_ms: int, offset: int) -> None:
    for item in date_references(text, at_ms=at_ms, utc_offset_minutes=offset):
        assert "0001-01-01" <= item.first <= item.last <= "9999-12-31"
        assert len(item.first) == len(item.last) == 10


# Dates that are put together from parts


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("The second Wednesday of October 2026 is taken.", "2026-10-14", "2026-10-14"),
        ("Rent is due on the last day of June.", "2026-06-30", "2026-06-30"),
        ("We leave on the first Monday in June.", "2026-06-01", "2026-06-01"),
        ("The third Tuesday after Christmas 2026 it begins.", "2027-01-12", "2027-01-12"),
        ("It closes at the end of the month.", "2026-05-31", "2026-05-31"),
        ("The draft is due in mid March 2027.", "2027-03-11", "2027-03-20"),
        ("It opens at the beginning of 2027.", "2027-01-01", "2027-03-31"),
        ("Q3 2026 will be hard.", "2026-07-01", "2026-09-30"),
        ("The fair runs from June 20 to July 3.", "2026-06-20", "2026-07-03"),
        ("The course takes the next three weeks.", "2026-05-11", "2026-05-31"),
        ("Two Thursdays ago I fell.", "2026-04-30", "2026-04-30"),
        ("We met three days before May 4, 2026.", "2026-05-01", "2026-05-01"),
        ("The exam is two weeks from tomorrow.", "2026-05-23", "2026-05-23"),
        ("She comes on Easter Monday 2027.", "2027-03-29", "2027-03-29"),
        ("Monday of next week suits me.", "2026-05-11", "2026-05-11"),
        ("I was born a fortnight before 2026-05-15.", "2026-05-01", "2026-05-01"),
    ],
)
def test_parts_make_one_date(text: str, first: str, last: str) -> None:
    assert [(one, other) for _, one, other in resolve(text, FRIDAY)] == [(first, last)]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("We met on the first Tuesday of October.", "2012-10-02", "2012-10-02"),
        ("I will see her on the first Tuesday of October.", "2013-10-01", "2013-10-01"),
        ("third monday in january", "2013-01-21", "2013-01-21"),
        ("I went there on the last day of May.", "2012-05-31", "2012-05-31"),
        ("We moved at the end of March.", "2012-03-31", "2012-03-31"),
        ("The lease starts in early April.", "2013-04-01", "2013-04-10"),
        ("We got married in early April.", "2012-04-01", "2012-04-10"),
        ("last friday of may", "2013-05-31", "2013-05-31"),
        ("Black Friday last year was mad.", "2012-11-23", "2012-11-23"),
        ("Easter next year is early.", "2014-04-20", "2014-04-20"),
        ("Orthodox Easter 2018", "2018-04-08", "2018-04-08"),
        ("Orthodox Easter 2024", "2024-05-05", "2024-05-05"),
        ("Trinity Sunday 2013", "2013-05-26", "2013-05-26"),
    ],
)
def test_parts_lie_in_the_year_that_the_tense_means(text: str, first: str, last: str) -> None:
    assert [found[1:] for found in resolve(text, "2013-02-12T04:30")] == [(first, last)]


@pytest.mark.parametrize(
    "text",
    ["The score was 3:2 at half time.", "I ate 5 to 10 apples.", "Second, we may march on.",
     "He sat in the sun all day.", "Over the last few months it rained.", "Easter eggs are sweet.",
     "I did 20 of 31 pages.", "Chapter 5:14 is short.", "It rose from 9 to 10.", "May I?",
     "Dial 9 for help.", "Version 2.10 is out.", "A fall in the spring of the clock.",
     "The first of many.", "Every second Friday we swim.", "We grew the following quarter.",
     ],
)  # fmt: skip
def test_parts_that_are_no_date_make_none(text: str) -> None:
    assert resolve(text, FRIDAY) == []
    every = date_references(text, at_ms=at(FRIDAY), every=True)
    assert [item.text for item in every] == []


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Be there at 3pm.", "2026-05-08"),
        ("Doors open at half past seven.", "2026-05-08"),
        ("See you tomorrow from 9:30 to 11:00.", "2026-05-09"),
        ("The party ends at midnight.", "2026-05-09"),
        ("At 5pm on May 28 then.", "2026-05-28"),
        ("It came two weeks ago.", "2026-04-24"),
    ],
)
def test_all_that_may_be_a_date_holds_times_too(text: str, day: str) -> None:
    found = date_references(text, at_ms=at(FRIDAY), every=True)
    assert {(item.first, item.last) for item in found} == {(day, day)}


@given(st.text(alphabet="0123456789 :/.-thandfromtoMaySun'aglweekslastnext", max_size=80))
def test_any_text_is_read_into_days_in_order(text: str) -> None:
    found = date_references(text, at_ms=at(FRIDAY), every=True)
    assert all(item.first <= item.last for item in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(text[item.start : item.end] == item.text for item in found)


@pytest.mark.parametrize(
    ("said", "in_numbers"),
    [
        ("in May (May 2026)", "in May (2026-05-01 to 2026-05-31)"),
        ("in February (February 2024)", "in February (2024-02-01 to 2024-02-29)"),
        ("in summer (June to August 2026)", "in summer (2026-06-01 to 2026-08-31)"),
        ("next week (11-17 May 2026)", "next week (2026-05-11 to 2026-05-17)"),
        ("last year (2025)", "last year (2025-01-01 to 2025-12-31)"),
        ("yesterday (2026-05-07)", "yesterday (2026-05-07)"),
        ("her mother (May Smith)", "her mother (May Smith)"),
        ("a slip (31-35 May 2026)", "a slip (31-35 May 2026)"),
        ("the room (0000)", "the room (0000)"),
    ],
)
def test_bracketed_periods_are_read_back_as_days(said: str, in_numbers: str) -> None:
    assert periods_in_numbers(said) == in_numbers
