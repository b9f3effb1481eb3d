"""The days of feasts that go by moon and sun, from the positions of these.

It needs PyMeeus 0.5.12. Almanacs differ in the rules of Indian feasts. The variants here were
chosen to agree with the dates that were actually celebrated: see
tests/language/dates/test_feasts.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from training.calendars.moon_and_sun import (
    day_at,
    elongated,
    midnight,
    moment_of,
    moonrise,
    new_moons,
    sidereal_moon,
    sidereal_sun,
    sun,
    sun_at,
    sunrise_and_sunset,
)

FIRST_YEAR, LAST_YEAR = 1900, 2100
_INDIA, _IRAN = 5.5, 3.5
#: The length of a tithi in degrees: a thirtieth of the moon's way from one new moon to the next.
_TITHI = 12.0
_MANSION = 360 / 27
#: The sidereal month in days: the time in which the moon returns to the same star.
_MOON_TURN = 27.32166

Window = tuple[float, float]


def _part_of_day(first: float, last: float) -> Callable[[int], Window]:
    def window(day: int) -> Window:
        rise, fall = sunrise_and_sunset(day)
        return rise + first * (fall - rise), rise + last * (fall - rise)

    return window


def _part_of_night(first: float, last: float) -> Callable[[int], Window]:
    def window(day: int) -> Window:
        fall, rise = sunrise_and_sunset(day)[1], sunrise_and_sunset(day + 1)[0]
        return fall + first * (rise - fall), fall + last * (rise - fall)

    return window


def _at_moonrise(day: int) -> Window:
    moment = moonrise(day)
    return moment, moment + 1e-4


def _before_sunrise(day: int) -> Window:
    rise = sunrise_and_sunset(day)[0]
    return rise - 96 / 1440, rise


#: The part of the day in which the tithi of a feast must fall.
_WINDOWS: dict[str, Callable[[int], Window]] = {
    "dawn": _before_sunrise,
    "sunrise": _part_of_day(0, 1e-4),
    "forenoon": _part_of_day(0, 0.4),
    "day": _part_of_day(0.2, 1),
    "noon": _part_of_day(0.45, 1),
    "midday": _part_of_day(0.4, 0.6),
    "afternoon": _part_of_day(0.6, 0.8),
    "evening": _part_of_day(0.875, 1),
    "dusk": _part_of_night(0, 0.2),
    "midnight": _part_of_night(7 / 15, 8 / 15),
    "moonrise": _at_moonrise,
}


class Tithi(NamedTuple):
    """A feast on a tithi (1 to 30, from the new moon) of a month (1 to 12, from Chaitra).

    If the tithi is in the window on two days, the feast is on the first, the last, or the one with
    `more` of it.
    """

    month: int
    tithi: int
    window: str = "sunrise"
    of_two: str = "first"


class Sankranti(NamedTuple):
    """A feast on the day on which the sun enters a sign (0 to 11, from Aries).

    If it enters later than `late`, as a share of the time from sunrise to sunset, it is on the next
    day.
    """

    sign: int
    late: float


class Mansion(NamedTuple):
    """A feast while the moon is in a lunar mansion (1 to 27) and the sun in a sign."""

    sign: int
    mansion: int


class Chinese(NamedTuple):
    """A feast on a day of a month of the Chinese calendar."""

    month: int
    day: int


class Term(NamedTuple):
    """A feast on the day, in China, on which the sun reaches a longitude (degrees)."""

    longitude: float


class Equinox(NamedTuple):
    """A feast on the day of the vernal equinox, or the next day if it is after noon in Iran."""


Rule = Tithi | Sankranti | Mansion | Chinese | Term | Equinox

RULES: dict[str, Rule] = {
    "ugadi": Tithi(1, 1),
    "cheti chand": Tithi(1, 2, "dusk"),
    "rama navami": Tithi(1, 9, "midday", "last"),
    "mahavir jayanti": Tithi(1, 13),
    "hanuman jayanti": Tithi(1, 15),
    "akshaya tritiya": Tithi(2, 3, "forenoon"),
    "buddha purnima": Tithi(2, 15),
    "vesak": Tithi(2, 15, "noon", "last"),
    "ratha yatra": Tithi(4, 2, "sunrise"),
    "guru purnima": Tithi(4, 15),
    "nag panchami": Tithi(5, 5),
    "hariyali teej": Tithi(5, 3),
    "raksha bandhan": Tithi(5, 15, "day", "last"),
    "janmashtami": Tithi(5, 23, "midnight", "last"),
    "hartalika teej": Tithi(6, 3),
    "ganesh chaturthi": Tithi(6, 4, "midday"),
    "anant chaturdashi": Tithi(6, 14),
    "mahalaya": Tithi(6, 30, "afternoon", "more"),
    "navaratri": Tithi(7, 1),
    "durga saptami": Tithi(7, 7),
    "durga ashtami": Tithi(7, 8),
    "durga navami": Tithi(7, 9),
    "dussehra": Tithi(7, 10, "noon", "last"),
    "sharad purnima": Tithi(7, 15, "midnight"),
    "valmiki jayanti": Tithi(7, 15),
    "karva chauth": Tithi(7, 19, "moonrise"),
    "dhanteras": Tithi(7, 28, "dusk"),
    "kali chaudas": Tithi(7, 29, "midnight"),
    "naraka chaturdashi": Tithi(7, 29, "dawn"),
    "diwali": Tithi(7, 30, "dusk", "more"),
    "govardhan puja": Tithi(8, 1, "day", "last"),
    "bhai dooj": Tithi(8, 2, "afternoon", "last"),
    "chhath": Tithi(8, 6),
    "guru nanak jayanti": Tithi(8, 15),
    "guru gobind singh jayanti": Tithi(10, 7),
    "vasant panchami": Tithi(11, 5, "forenoon"),
    "guru ravidas jayanti": Tithi(11, 15),
    "maha shivaratri": Tithi(11, 29, "midnight"),
    "holika dahan": Tithi(12, 15, "evening", "last"),
    "makar sankranti": Sankranti(9, 1.0),
    "vaisakhi": Sankranti(0, 2.0),
    "puthandu": Sankranti(0, 1.0),
    "vishu": Sankranti(0, 0.0),
    "onam": Mansion(4, 22),
    "chinese new year": Chinese(1, 1),
    "lantern festival": Chinese(1, 15),
    "dragon boat festival": Chinese(5, 5),
    "qixi": Chinese(7, 7),
    "ghost festival": Chinese(7, 15),
    "mid autumn festival": Chinese(8, 15),
    "double ninth festival": Chinese(9, 9),
    "qingming": Term(15),
    "dongzhi": Term(270),
    "nowruz": Equinox(),
}


@cache
def days_of_feast(name: str) -> list[int]:
    """Return the days of one of `RULES` as ordinals, in order."""
    return days_of(RULES[name])


def days_of(rule: Rule) -> list[int]:
    """Return the days of a feast as ordinals, in order."""
    if isinstance(rule, Tithi):
        return [_tithi_day(moon, rule) for month, moon in _indian_months() if month == rule.month]
    if isinstance(rule, Chinese):
        return [day + rule.day - 1 for month, day in _chinese_months() if month == rule.month]
    years = range(FIRST_YEAR - 1, LAST_YEAR + 2)
    if isinstance(rule, Sankranti):
        return [_sankranti_day(year, rule) for year in years]
    if isinstance(rule, Mansion):
        return [_mansion_day(year, rule) for year in years]
    if isinstance(rule, Equinox):
        return [day_at(sun_at(0, _near(year, 0)), _IRAN + 12) for year in years]
    return [_day_in_china(sun_at(rule.longitude, _near(year, rule.longitude))) for year in years]


def _day_in_china(moment: float) -> int:
    """Return the day in China: until 1929, when time zones came, by Beijing's meridian."""
    day = day_at(moment, 8)
    return day if day >= date(1929, 1, 1).toordinal() else day_at(moment, 116.42 / 15)


def _near(year: int, longitude: float) -> float:
    """Return the approximate time of a year at which the sun has a longitude."""
    return midnight(date(year, 1, 1).toordinal()) + ((longitude - 280) % 360) / 360 * 365.24


def _indian_months() -> Iterator[tuple[int, float]]:
    """Yield the months of the Indian calendar, without leap months, each with its new moon."""
    moons = new_moons(FIRST_YEAR - 1, LAST_YEAR + 1)
    signs = [int(sidereal_sun(moon) // 30) for moon in moons]
    for moon, sign, following in zip(moons, signs, signs[1:], strict=False):
        # A month in which the sun enters two signs has two names.
        for passed in range((following - sign) % 12):
            yield (sign + passed + 1) % 12 + 1, moon


def _tithi_day(moon: float, rule: Tithi) -> int:
    """Return the day of a feast in the month that begins with a new moon."""
    begin, end = (
        elongated(_TITHI * tithi % 360, moon + tithi * 29.53 / 30)
        for tithi in (rule.tithi - 1, rule.tithi)
    )
    window = _WINDOWS[rule.window]
    first = day_at(begin, _INDIA) - 1
    shares = {day: _shared((begin, end), window(day)) for day in range(first, first + 4)}
    days = [day for day, share in shares.items() if share > 0]
    if not days:
        # The tithi lies between the windows of two days.
        return day_at(end if rule.window == "moonrise" else begin, _INDIA)
    if rule.of_two == "more":
        return max(days, key=lambda day: shares[day])
    return days[0] if rule.of_two == "first" else days[-1]


def _shared(one: Window, other: Window) -> float:
    return min(one[1], other[1]) - max(one[0], other[0])


def _sankranti_day(year: int, rule: Sankranti) -> int:
    moment = sun_at(30 * rule.sign, _near(year, 30 * rule.sign + 24), sidereal=True)
    day = day_at(moment, _INDIA)
    rise, fall = sunrise_and_sunset(day)
    return day + (moment > rise + rule.late * (fall - rise))


def _mansion_day(year: int, rule: Mansion) -> int:
    """Return the last day of a solar month with the moon in a mansion at sunrise, or later."""
    start = sun_at(30 * rule.sign, _near(year, 30 * rule.sign + 24), sidereal=True)
    end = sun_at(30 * rule.sign + 30, start + 30.5, sidereal=True)
    edges = (_MANSION * (rule.mansion - 1), _MANSION * rule.mansion)
    near = end - 0.5
    while True:
        enters, leaves = (moment_of(sidereal_moon, edge, near, 360 / _MOON_TURN) for edge in edges)
        first = day_at(enters, _INDIA)
        rises = {day: sunrise_and_sunset(day)[0] for day in (first, first + 1)}
        day = next((day for day in rises if enters <= rises[day] < leaves), first)
        if rises[day] < end:
            return day
        near -= _MOON_TURN


def _chinese_months() -> Iterator[tuple[int, int]]:
    """Yield the months of the Chinese calendar, without leap months, each with its first day."""
    moons = [_day_in_china(moon) for moon in new_moons(FIRST_YEAR - 2, LAST_YEAR + 2)]
    # The month of the winter solstice is the eleventh.
    at = []
    for year in range(FIRST_YEAR - 2, LAST_YEAR + 2):
        solstice = _day_in_china(sun_at(270, _near(year, 270)))
        at.append(max(index for index, day in enumerate(moons) if day <= solstice))
    for left, right in pairwise(at):
        leap = right - left == 13
        number = 11
        for index in range(left, right):
            if leap and index > left and _same_sign(moons[index], moons[index + 1]):
                leap = False
                continue
            yield (number - 1) % 12 + 1, moons[index]
            number += 1


def _same_sign(first: int, after: int) -> bool:
    """Return whether the sun enters no sign between one new moon and the next, in China."""
    signs = [int(sun(midnight(day) - 8 / 24) // 30) for day in (first, after)]
    return signs[0] == signs[1]
