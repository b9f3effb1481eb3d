"""The Hebrew and the Islamic calendar: on which day of the Gregorian one a date of theirs falls.

The Hebrew calendar is arithmetic. The Islamic one is that of Umm al-Qura where it is known, and the
arithmetic one (a cycle of 30 years with 11 leap days) before and after.
"""

from __future__ import annotations

from functools import cache

#: The ordinals of the days before the first of either calendar.
_HEBREW_EPOCH, _ISLAMIC_EPOCH = -1_373_427, 227_014
#: A Hebrew month has 29 days and 13,753 of the 25,920 parts of a day.
_PARTS_OF_DAY, _PARTS_OVER = 25_920, 13_753
_MONTH_LENGTHS = tuple(29 + month % 2 for month in range(1, 13))


@cache
def hebrew_new_year(year: int) -> int:
    """The ordinal of 1 Tishri of a year of the Hebrew calendar."""
    days = _elapsed(year)
    before, after = _elapsed(year - 1), _elapsed(year + 1)
    # A year has neither 356 nor 382 days.
    late = 2 if after - days == 356 else 1 if days - before == 382 else 0
    return _HEBREW_EPOCH + days + late


def _elapsed(year: int) -> int:
    """The days from the epoch to 1 Tishri, postponed from the weekdays on which it may not fall."""
    months = (235 * year - 234) // 19
    parts = 12_084 + _PARTS_OVER * months
    days = 29 * months + parts // _PARTS_OF_DAY
    return days + (3 * (days + 1) % 7 < 3)


def hebrew_day(year: int, month: int, day: int) -> int:
    """The ordinal of a date; months count from Nisan (1) to Adar, or the second Adar (12).

    The year is the one that began with the Tishri before Nisan, or that begins with Tishri (7).
    """
    if month < 7:
        # From Nisan on the months have 30 and 29 days in turn, up to the next new year.
        return (
            hebrew_new_year(year + 1) - sum(29 + number % 2 for number in range(month, 7)) + day - 1
        )
    if month == 12:
        return hebrew_day(year, 1, 1) - 29 + day - 1
    days = hebrew_new_year(year + 1) - hebrew_new_year(year)
    lengths = (30, 29 + (days % 10 == 5), 30 - (days % 10 == 3), 29, 30)
    return hebrew_new_year(year) + sum(lengths[: month - 7]) + day - 1


def islamic_day(year: int, month: int, day: int) -> int:
    """The ordinal of a date of the Islamic calendar."""
    first, starts = _umm_al_qura()
    at = 12 * (year - first) + month - 1
    if 0 <= at < len(starts):
        return starts[at] + day - 1
    past = 354 * (year - 1) + (3 + 11 * year) // 30 + sum(_MONTH_LENGTHS[: month - 1])
    return _ISLAMIC_EPOCH + past + day


@cache
def _umm_al_qura() -> tuple[int, list[int]]:
    """The first year that is known, and the ordinals of the first days of the months from it on."""
    from hijridate import Hijri, ummalqura

    first, last = ummalqura.HIJRI_RANGE[0][0], ummalqura.HIJRI_RANGE[1][0]
    months = (Hijri(year, month, 1) for year in range(first, last + 1) for month in range(1, 13))
    return first, [month.to_gregorian().toordinal() for month in months]
