"""Rules for the days of holidays in a year: fixed dates, dates relative to Easter, and tables."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import cache
from itertools import cycle

from recollect.text.dates.calendar_days import (
    Days,
    day_of,
    easter,
    nth_weekday,
    orthodox_easter,
)
from recollect.text.dates.feast_tables import MORE, Table

#: The occurrences of a holiday that begin in a year, in order; in some calendars a year has none,
#: or two.
Rule = Callable[[int], tuple[Days, ...]]
#: The ordinal of the day on which a holiday begins in a year; None if it has none.
DayRule = Callable[[int], int | None]

#: The years for which the arithmetic of Easter and of the moon holds.
_RECKONED = range(1583, 9_998)
_SATURDAY, _SUNDAY = 5, 6


def one_day(rule: DayRule, after: int = 0) -> Rule:
    """A holiday of one day, `after` days after another day."""
    return several(rule, after, after)


def several(rule: DayRule, first: int, last: int) -> Rule:
    """A holiday of several days, given as offsets from a day."""

    def days(year: int) -> tuple[Days, ...]:
        day = rule(year)
        return () if day is None else ((day + first, day + last),)

    return days


def weekday_of(day: int) -> int:
    """The weekday of an ordinal day; Monday is 0."""
    return (day - 1) % 7


def fixed(month: int, day: int, last: int = 0) -> Rule:
    """A day of a month, and the `last` days after it."""
    return several(lambda year: day_of(year, month, day), 0, last)


def nth(month: int, weekday: int, count: int, after: int = 0) -> Rule:
    """The nth weekday of a month, from its end if negative, or the day `after` days later."""
    return one_day(lambda year: nth_weekday(year, month, weekday, count), after)


def by_easter(first: int, last: int | None = None) -> Rule:
    """From one day to another, as offsets from Easter Sunday."""
    return _from_easter(easter, first, last)


def by_orthodox_easter(first: int, last: int | None = None) -> Rule:
    """From one day to another, as offsets from the Easter Sunday of the Julian calendar."""
    return _from_easter(orthodox_easter, first, last)


def _from_easter(easter_of: DayRule, first: int, last: int | None) -> Rule:
    def rule(year: int) -> int | None:
        return easter_of(year) if year in _RECKONED else None

    return several(rule, first, first if last is None else last)


def by_table(table: Table) -> Rule:
    """A holiday whose days come from a table; none in years outside of it."""

    @cache
    def spans() -> dict[int, tuple[Days, ...]]:
        found: dict[int, tuple[Days, ...]] = {}
        day = table.first
        for step, more in zip(f"{MORE[0]}{table.steps}", cycle(table.more), strict=False):
            day += MORE.index(step) + (table.least if found else 0)
            year = date.fromordinal(day).year
            found[year] = (*found.get(year, ()), (day, day + MORE.index(more)))
        return found

    return lambda year: spans().get(year, ())


def nearest_workday(month: int, day: int) -> Rule:
    """A day of a month, moved to the nearest day from Monday to Friday."""

    def rule(year: int) -> int | None:
        found = day_of(year, month, day)
        if found is None:
            return None
        return found + {_SATURDAY: -1, _SUNDAY: 1}.get(weekday_of(found), 0)

    return one_day(rule)


def not_on_sunday(month: int, day: int, since: int) -> Rule:
    """A day of a month, since a year; the day before if it is a Sunday."""

    def rule(year: int) -> int | None:
        found = day_of(year, month, day) if year >= since else None
        return None if found is None else found - (weekday_of(found) == _SUNDAY)

    return one_day(rule)


def earth_hour(year: int) -> tuple[Days, ...]:
    """The last Saturday of March, or the one before if that is the eve of Easter."""
    day = nth_weekday(year, 3, _SATURDAY, -1)
    if day is None or not 2007 <= year < 9_998:
        return ()
    day -= 7 * (day == easter(year) - 1)
    return ((day, day),)


def advent(first: int, *, season: bool = False) -> Rule:
    """A day relative to the first Sunday of Advent, or the whole season up to Christmas."""

    def days(year: int) -> tuple[Days, ...]:
        eve = day_of(year, 12, 24)
        if eve is None:
            return ()
        sunday = eve - (weekday_of(eve) + 1) % 7 - 21
        return ((sunday + first, eve if season else sunday + first),)

    return days
