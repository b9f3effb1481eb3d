"""Days of the calendar: "3 May", "May 3rd, 2026", "the 15th", "2026-05-07", "22/9"."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from recollect.text.dates.calendar_days import day_of, days, month, month_index
from recollect.text.dates.time_values import (
    NOTHING,
    Now,
    When,
    Yearly,
    agreeing,
    in_years,
    month_days,
    one_day,
)
from recollect.text.declared_rules import rule
from recollect.text.lexicon import MONTHS, word_set

#: In days: how near a date must be for a wrong weekday to be likely a slip, and how far back and
#: ahead a date with a weekday but no year may be.
_SLIP, _BEHIND, _AHEAD = 62, 731, 366

CLASSES = {
    "month": frozenset(MONTHS),
    "dayopener": word_set("on by until till til since before after from for of"),
    "to": word_set("to until untill till til through thru and & - – —"),
}


class MonthDay(NamedTuple):
    """Days of a month, without a year."""

    month: int
    first: int
    last: int


def _yearly(_: Now, said: MonthDay) -> Yearly:
    # Eight years in either direction contain a 29 February, whatever the century.
    reach = 8 if said.month == 2 and said.last == 29 else 2
    return Yearly(lambda year: month_days(year, *said), "day", "near", reach=reach)


def _yearless(now: Now, said: MonthDay) -> When:
    return _yearly(now, said).near(now) or NOTHING


def _year(_: Now, digits: str) -> int | None:
    return int(digits) if 1 <= int(digits) < 2200 and digits[0] in "12" else None


def _short_year(_: Now, digits: str) -> int:
    return int(digits) + (2000 if int(digits) < 50 else 1900)


def _in_short_year(now: Now, said: MonthDay, digits: str) -> When:
    return _yearly(now, said).in_year(_short_year(now, digits), stated=True) or NOTHING


def _written(year_at: int, month_at: int, day_at: int) -> Callable[..., When | None]:
    """Return a function that makes a date of captured numbers, given the places of its parts."""

    def make(_: Now, *numbers: str) -> When | None:
        year = int(numbers[year_at]) + (0 if len(numbers[year_at]) == 4 else 2000)
        day = day_of(year, int(numbers[month_at]), int(numbers[day_at]))
        return None if day is None else one_day(day)._replace(stated=True)

    return make


def _slashed(_: Now, one: str, two: str, year: str) -> When | None:
    """Return both readings: 5/7/2026 is one day in Boston and another in Berlin."""
    number = int(year) + (0 if len(year) == 4 else 2000)
    first, second = (day_of(number, *pair) for pair in ((int(one), int(two)), (int(two), int(one))))
    day = second if first is None else first
    if day is None:
        return None
    clear = first is None or second is None or first == second
    return one_day(day)._replace(stated=True, certain=clear)


def _day_slash_month(now: Now, one: str, two: str) -> When | None:
    both = []
    for first, second in ((int(one), int(two)), (int(two), int(one))):
        if 1 <= first <= 12 and 1 <= second <= 31:
            both.append(_yearless(now, MonthDay(first, second, second)))
    spans = sorted({span for when in both if when for span in when.spans})
    return When(tuple(spans), certain=False) if spans else None


def _month_slash_day(now: Now, one: str, two: str) -> When | None:
    """Return a date with the month first: by itself, "05/06" is more likely the sixth of May."""
    number, day = int(one), int(two)
    if number == day == 10:
        return None  # full marks, as in "10/10"
    if not (1 <= number <= 12 and 1 <= day <= 31):
        return _day_slash_month(now, one, two)
    found = _yearless(now, MonthDay(number, day, day))
    return found and found._replace(certain=False)


def number_of_month(now: Now, day: int) -> When | None:
    """Return the days with that number in the surrounding months."""
    if not 1 <= day <= 31:
        return None
    index = month_index(now.today)
    found = (day_of(each // 12, each % 12 + 1, day) for each in range(index - 14, index + 15)
             if 12 <= each < 120_000)  # fmt: skip
    spans = tuple(days(each, each) for each in found if each is not None)
    return When(spans, pick="number") if spans else None


def _nth_of_month(now: Now, day: int, step: int | None) -> When | None:
    first, last = month(month_index(now.today) + (step or 0))
    return one_day(first + day - 1) if 1 <= day <= last - first + 1 else None


def _with_weekday(now: Now, weekday: int, said: MonthDay) -> When:
    """Return the days in the surrounding years on which weekday and date agree."""
    every = in_years(now, lambda year: month_days(year, said.month, said.first, said.first))
    agreed = agreeing(every, weekday)
    slip = any(abs(day[0] - now.today) <= _SLIP and day not in agreed for day in every)
    reach = range(now.today - _BEHIND, now.today + _AHEAD + 1)
    spans = tuple(span for span in agreed if span[0] in reach)
    return When(spans, pick="dated", slip=slip) if spans else NOTHING


def _with_weekday_and_number(
    now: Now, step: int | None, weekday: int, day: int | str
) -> When | None:
    found = number_of_month(now, int(day))
    if found is None:
        return None
    spans = [each for each in agreeing(found.spans, weekday) if abs(each[0] - now.today) <= _SLIP]
    if step:
        spans = [each for each in spans if (each[0] - now.today) * step > 0][::step][:1]
    return When(tuple(spans), pick="number") if spans else NOTHING


def _ides(_: Now, number: int) -> MonthDay:
    day = 15 if number in (3, 5, 7, 10) else 13
    return MonthDay(number, day, day)


def _days_of(_: Now, number: int, first: int, last: int) -> MonthDay | None:
    return MonthDay(number, first, last) if first < last else None


RULES = (
    rule("month", "month", "{@month} ~.?", lambda _, it: MONTHS[it], "May 3 -> 2026-05-03"),
    rule("year", "year", "#4 (ad | a ~. ~d ~.)?", _year, "in 2016 -> 2016-01-01..2016-12-31"),
    rule("year/short", "year", "' ~#2", _short_year, "in May '66 -> 1966-05-01..1966-05-31"),
    rule("year/in-words", "year", "{two} thousand (and? <int>)? | {twenty} <int>",
         lambda _, said, it: 2000 + (it or 0) if 10 * (said != "two") <= (it or 0) < 100 else None,
         "May 3 two thousand and nineteen -> 2019-05-03\nMay 3 twenty nineteen -> 2019-05-03"),
    rule("day-number", "dom", "#1|#2 | the? <ord>",
         lambda _, it: int(it) if 1 <= int(it) <= 31 else None,
         "3 May -> 2026-05-03\nthe 3rd of May -> 2026-05-03"),
    rule("month-day", "month-day", "<month> -|,|/? <dom>",
         lambda _, it, day: MonthDay(it, day, day),
         "May 3 -> 2026-05-03\nMay the 4th -> 2026-05-04",
         unless=("after ~: #", "after ~h|am|pm|p|%", "after <month>")),
    rule("day-month", "month-day", "<dom> day? of|-|/? <month>",
         lambda _, day, it: MonthDay(it, day, day), "3rd May -> 2026-05-03",
         unless=("may_is_verb",), counters=("5 may be enough",)),
    rule("month-days", "month-day", "<month> ,? <dom> @to <dom>", _days_of,
         "May 3-5 -> 2026-05-03..2026-05-05",
         unless=("after ~: #", "after ~h|am|pm|p", "after <month>")),
    rule("days-month", "month-day", "the? <dom> @to the? <dom> day? of|-? <month>",
         lambda now, first, last, number: _days_of(now, number, first, last),
         "11 to 22 may -> 2026-05-11..2026-05-22\n24–27 May -> 2026-05-24..2026-05-27"),
    rule("day/yearless", "day", "<month-day>", _yearless, "on May 3 -> 2026-05-03"),
    rule("yearly/day", "yearly", "<month-day>", _yearly, "Jan. 5, 2024 -> 2024-01-05"),
    rule("day/short-year", "day", "<month-day> (-|/|. ~#2 | ,? #2)", _in_short_year,
         "3-may-19 -> 2019-05-03\nMay 27 79 -> 1979-05-27",
         unless=("loose_year", "after :|~.|~h|am|pm|a|p|-|–|to|/", "counts_something")),
    rule("day/iso", "day", "#4 ~-|/|.|: ~#1|#2 ~-|/|.|: ~#1|#2 ~t?", _written(0, 1, 2),
         "since 2026-05-07 -> 2026-05-07"),
    rule("day/dots", "day", "#1|#2 ~. ~#1|#2 ~. ~#4|#2", _written(2, 1, 0),
         "07.05.2026 -> 2026-05-07\n07.05.26 -> 2026-05-07", unless=("after ~.",)),
    rule("day/slashes", "day", "#1|#2 ~/ ~#1|#2 ~/ ~#4|#2 | #1|#2 ~- ~#1|#2 ~- ~#4", _slashed,
         "5/25/2026 -> 2026-05-25\n25-12-2026 -> 2026-12-25", counters=("2026-13-40",)),
    rule("day/slash", "day", "#1|#2 ~/ ~#1|#2", _day_slash_month,
         "the party is on 5/9 -> 2026-05-09 ?",
         unless=("no_opener", "clear_slash", "after ~/|%|-", "after <unit>", "before /|$|£|€"),
         counters=("we did 3/4 of it",)),
    rule("day/slash-clear", "day", "#1|#2 ~/ ~#1|#2",
         lambda now, *numbers: (it := _day_slash_month(now, *numbers))
         and it._replace(certain=True),
         "the party is on 22/9 -> 2026-09-22\nCheck-out 30/09 at 11:00 -> 2026-09-30 11:00",
         unless=("only clear_slash", "after ~/|%|-", "after <unit>", "after of",
                 "before /|$|£|€|-"),
         counters=("off by 5/16 of an inch", "see page 13/02 of it")),
    rule("day/slash-alone", "day", "#2 ~/ ~#2", _month_slash_day, "05/06 -> 2026-05-06 ?",
         unless=("only begins", "after ~/|%|-", "word_follows")),
    rule("day/number-of-this-month", "day", "<dom> of|in (the | the? <shift>) month",
         _nth_of_month, "the 20th of next month -> 2026-06-20"),
    rule("month-day/ides", "month-day", "the? ides of <month>", _ides,
         "the ides of June 2024 -> 2024-06-13"),
    rule("number/the", "number", "the <ord>", number_of_month, "on the 15th -> 2026-05-15"),
    rule("number/bare", "number", "#1|#2 ~st|nd|rd|th",
         lambda now, it: number_of_month(now, int(it)), "cancel before 30th -> 2026-05-30",
         unless=("only before on|by|until|till|til|before|since|from", "counts_something",
                 "after to|-|–"),
         counters=("everyone from 2nd to 5th grade",)),
    rule("number/late", "number", "#2 ~st|nd|rd|th",  # lower ordinals are often ranks
         lambda now, it: number_of_month(now, int(it)) if int(it) > 12 else None,
         "see you 20th -> 2026-05-20 ?", priority=-1,
         unless=("counts_something", "before the|of|my|his|her|/|&")),
    rule("number/opened", "day", "<number>", lambda _, it: it,
         "It is due on the 15th. -> 2026-05-15",
         unless=("only before @dayopener|to|is", "counts_something", "loose_ordinal",
                 "after of"),
         counters=("on the 3rd floor", "by the second time", "she is the 3rd of six cousins")),
    rule("number/the-late", "day", "the <ord>",  # lower ordinals are often ranks
         lambda now, it: number_of_month(now, it) if it > 12 else None,
         "The concert's the 18th. -> 2026-05-18\nlet's say the 22nd then -> 2026-05-22",
         unless=("small_ordinal", "counts_something", "after_name", "after of|and|or|to|-|–|/",
                 "before in|of|not|mean|meant"),
         counters=("Louis the 14th", "the 25th and 75th percentile"), priority=-1),
    rule("number/alone", "day", "<number>", lambda _, it: it._replace(certain=False),
         "see you the 7th -> 2026-06-07 ?",
         unless=("small_ordinal", "counts_something", "before of", "after of"), priority=-1),
    rule("weekday-day", "day", "<weekday> ,|-? <month-day>", _with_weekday,
         "Friday, May 15 -> 2026-05-15"),
    rule("day-weekday", "day", "<month-day> (, <weekday> , | \\( <weekday> \\))",
         lambda now, said, weekday: _with_weekday(now, weekday, said),
         "15 May (Friday) -> 2026-05-15"),
    rule("weekday-day-year", "day", "<weekday> ,|-? <day>",
         lambda _, weekday, day: day if day.stated else None,
         "Tuesday 3 March 2025 -> 2025-03-03\nThursday, 12.03.2026 -> 2026-03-12"),
    rule("day-year-weekday", "day", "<day> (, <weekday> ,? | \\( <weekday> \\))",
         lambda _, day, weekday: day if day.stated else None,
         "15 May 2026 (Friday) -> 2026-05-15"),
    rule("weekday-number", "day", "<shift>? <weekday> ,|-? (the? <ord> | #1|#2)",
         _with_weekday_and_number,
         "Friday the 15th -> 2026-05-15\nsee you Friday 15 -> 2026-05-15",
         unless=("counts_something", "after of", "after ~:|.|h|am|pm|p|- ",
                 "after am|pm|people|of|a ~.")),
)  # fmt: skip
