"""Positions of moon and sun, for lunisolar feasts: new moons, tithis, solar terms.

Longitudes are those of Meeus, as PyMeeus computes them (a few seconds of arc for the sun, ten for
the moon: half a minute of time in a tithi). Times are Julian days of universal time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date
from functools import cache

from pymeeus.Coordinates import true_obliquity
from pymeeus.Epoch import Epoch
from pymeeus.Moon import Moon
from pymeeus.Sun import Sun

#: The Julian day at which ordinal 0 would begin, at Greenwich.
_ORDINAL_ZERO = 1721424.5
_SYNODIC, _TROPICAL = 29.530588861, 365.24219
#: The altitude of the sun's centre at sunrise in degrees: refraction and half of its disc.
_HORIZON = -0.833
#: The longitude and latitude of Ujjain, in degrees.
UJJAIN = (75.77, 23.18)


def midnight(day: int) -> float:
    """Return the time at which a day begins at Greenwich."""
    return day + _ORDINAL_ZERO


def day_at(moment: float, hours: float) -> int:
    """Return the day of a time where clocks are this many hours ahead of Greenwich."""
    return math.floor(moment + hours / 24 - _ORDINAL_ZERO)


@cache
def _epoch(moment: float) -> Epoch:
    here = date.fromordinal(int(moment - _ORDINAL_ZERO))
    return Epoch(moment + Epoch.tt2ut(here.year, here.month) / 86_400)


@cache
def sun(moment: float) -> float:
    """Return the longitude of the sun, in degrees."""
    return float(Sun.apparent_geocentric_position(_epoch(moment))[0]) % 360


@cache
def moon(moment: float) -> float:
    """Return the longitude of the moon, in degrees."""
    return float(Moon.apparent_ecliptical_pos(_epoch(moment))[0]) % 360


def elongation(moment: float) -> float:
    """Return the elongation of the moon from the sun, in degrees."""
    return (moon(moment) - sun(moment)) % 360


def ayanamsa(moment: float) -> float:
    """Return the ayanamsa (Lahiri), from the tropical to the sidereal zodiac, in degrees."""
    years = (moment - 2451545.0) / 365.25
    return 23.85318 + 1.396604 * years / 100 + 0.000309 * (years / 100) ** 2


def sidereal_sun(moment: float) -> float:
    """Return the sidereal longitude of the sun, in degrees."""
    return (sun(moment) - ayanamsa(moment)) % 360


def sidereal_moon(moment: float) -> float:
    """Return the sidereal longitude of the moon, in degrees."""
    return (moon(moment) - ayanamsa(moment)) % 360


def moment_of(
    angle: Callable[[float], float], goal: float, near: float, degrees_a_day: float
) -> float:
    """Return the time nearest to `near` at which an angle with this growth rate reaches `goal`."""
    moment = near
    for _ in range(50):
        off = (goal - angle(moment) + 180) % 360 - 180
        moment += off / degrees_a_day
        if abs(off) < 1e-5:
            return moment
    raise ArithmeticError(f"no moment near {near} has {goal} degrees")


def elongated(goal: float, near: float) -> float:
    """Return the time nearest to `near` at which the moon has an elongation."""
    return moment_of(elongation, goal, near, 360 / _SYNODIC)


def sun_at(goal: float, near: float, *, sidereal: bool = False) -> float:
    """Return the time nearest to `near` at which the sun has a longitude."""
    return moment_of(sidereal_sun if sidereal else sun, goal, near, 360 / _TROPICAL)


@cache
def new_moons(first_year: int, last_year: int) -> tuple[float, ...]:
    """Return the new moons of some years, and one more at either end."""
    moment = elongated(0, midnight(date(first_year, 1, 1).toordinal()) - 20)
    found = [moment]
    while moment < midnight(date(last_year, 12, 31).toordinal()) + 1:
        moment = elongated(0, moment + _SYNODIC)
        found.append(moment)
    return tuple(found)


@cache
def sunrise_and_sunset(day: int) -> tuple[float, float]:
    """Return the times of sunrise and sunset in Ujjain."""
    longitude, latitude = UJJAIN
    noon = midnight(day) + 0.5 - longitude / 360
    tilt = math.radians(float(true_obliquity(_epoch(noon))))
    place = math.radians(sun(noon))
    declination = math.asin(math.sin(tilt) * math.sin(place))
    right = math.degrees(math.atan2(math.cos(tilt) * math.sin(place), math.cos(place)))
    mean = 280.46646 + 0.98564736 * (noon - 2451545.0)
    equation = ((mean - 0.0057183 - right + 180) % 360 - 180) / 360
    here = math.radians(latitude)
    half = math.acos(
        (math.sin(math.radians(_HORIZON)) - math.sin(here) * math.sin(declination))
        / (math.cos(here) * math.cos(declination))
    )
    return noon - equation - half / math.tau, noon - equation + half / math.tau


def moonrise(day: int) -> float:
    """Return the time of moonrise in Ujjain after the sunset of a day."""
    low = sunrise_and_sunset(day)[1]
    step = 1 / 48
    while not _altitude(low) < 0 <= _altitude(low + step):
        low += step
    high = low + step
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if _altitude(middle) < 0 else (low, middle)
    return high


def _altitude(moment: float) -> float:
    """Return the altitude of the moon in Ujjain in degrees, to about a quarter of a degree."""
    longitude, latitude = UJJAIN
    right, declination = (
        math.radians(float(angle)) for angle in Moon.apparent_equatorial_pos(_epoch(moment))[:2]
    )
    turned = 280.46061837 + 360.98564736629 * (moment - 2451545.0) + longitude
    hour = math.radians(turned) - right
    here = math.radians(latitude)
    sine = math.sin(here) * math.sin(declination)
    return math.degrees(math.asin(sine + math.cos(here) * math.cos(declination) * math.cos(hour)))
