"""Days, weeks, months and years as ordinals, clipped to the years 1 to 9999.

Weeks begin on Monday. Seasons are the northern meteorological ones (summer is June to August).
"""

from __future__ import annotations

from datetime import date
from functools import lru_cache

LAST_ORDINAL = date.max.toordinal()

#: The first and the last day of a span, both included.
Days = tuple[int, int]


def clip(ordinal: int) -> int:
    """The nearest representable day, within the years 1 to 9999."""
    return min(max(ordinal, 1), LAST_ORDINAL)


def days(first: int, last: int) -> Days:
    """The span from one day to another, clipped."""
    return clip(first), clip(last)


def week_of(day: int) -> Days:
    """The week that contains a day."""
    monday = day - (day - 1) % 7  # ordinal 1, 0001-01-01, is a Monday
    return days(monday, monday + 6)


# The rules of dates ask for the same months of a few years again for every text.
@lru_cache(maxsize=1_024)
def month(index: int, count: int = 1) -> Days:
    """The days of `count` months from month `index`, counted as year * 12 + month - 1."""
    first = month_start(index)
    last = month_start(index + count) - 1
    return days(first, max(first, last))


def month_start(index: int) -> int:
    """The first day of a month, counted as `month` does."""
    if index >= 10_000 * 12:
        return LAST_ORDINAL + 1
    index = max(index, 12)
    return date(index // 12, index % 12 + 1, 1).toordinal()


def month_index(day: int) -> int:
    """The index of the month that contains a day, counted as `month` does."""
    here = date.fromordinal(day)
    return here.year * 12 + here.month - 1


def year_days(year: int) -> Days:
    """The days of a year."""
    return month(year * 12, 12)


def season_of(first_month: int, year: int) -> Days:
    """The season that begins in a month of `year`."""
    return month(year * 12 + first_month - 1, 3)


def day_of(year: int, month_number: int, day: int) -> int | None:
    """The ordinal of a date; None if the date does not exist."""
    try:
        return date(year, month_number, day).toordinal()
    except ValueError:
        return None


def calendar_unit(unit: str, count: int, today: int) -> Days | None:
    """The calendar unit `count` units after the one that contains today."""
    here = date.fromordinal(today)
    if unit == "day":
        return days(today + count, today + count)
    if unit == "week":
        return week_of(clip(today + 7 * count))
    if unit == "month":
        return month(here.year * 12 + here.month - 1 + count)
    if unit == "year":
        return year_days(here.year + count)
    if unit == "quarter":
        return month((here.year * 4 + (here.month - 1) // 3 + count) * 3, 3)
    if unit == "weekend":
        saturday = week_of(today)[1] - 1 + 7 * count
        return days(saturday, saturday + 1)
    return None


def shifted(day: int, unit: str, count: int) -> int:
    """The day `count` units after a day; the last day of a month stays the last day."""
    if unit == "day":
        return clip(day + count)
    if unit == "week":
        return clip(day + 7 * count)
    months = count * {"month": 1, "quarter": 3, "year": 12}[unit]
    here = date.fromordinal(day)
    first, last = month(here.year * 12 + here.month - 1 + months)
    return clip(min(first + here.day - 1, last))


def easter(year: int) -> int:
    """Easter Sunday in the Gregorian calendar (Meeus, Jones and Butcher)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    number, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, number, day + 1).toordinal()


def orthodox_easter(year: int) -> int:
    """Easter Sunday by the Julian calendar (Meeus), as a day of the Gregorian one."""
    d = (19 * (year % 19) + 15) % 30
    e = (2 * (year % 4) + 4 * (year % 7) - d + 34) % 7
    number, day = divmod(d + e + 114, 31)
    julian_lag = year // 100 - year // 400 - 2
    return date(year, number, day + 1).toordinal() + julian_lag


def nth_weekday(year: int, month_number: int, weekday: int, nth: int) -> int | None:
    """The `nth` weekday (Monday is 0) of a month, from its end if negative; None if none."""
    first, last = month(year * 12 + month_number - 1)
    if nth > 0:
        day = first + (weekday - (first - 1) % 7) % 7 + 7 * (nth - 1)
    else:
        day = last - ((last - 1) % 7 - weekday) % 7 + 7 * (nth + 1)
    return day if first <= day <= last else None
