"""The meaning of a time expression: its candidate days, and its minute of the day."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date
from typing import Literal, NamedTuple

from recollect.text.dates.calendar_days import Days, clip, day_of, days
from recollect.text.tokenizer import Tokens

#: How one of several candidate days is chosen; see the module `chosen_days`.
Pick = Literal["near", "number", "weekday", "this", "dated", "month", "feast", "weekend", "beside"]
Kind = Literal["day", "time", "recurrence", "duration", "none"]


class Now(NamedTuple):
    """When a text was written (ordinal day and minute of the day), and its tokens."""

    today: int
    minute: int
    tokens: Tokens

    @property
    def here(self) -> date:
        """Today."""
        return date.fromordinal(self.today)


class Clock(NamedTuple):
    """A minute of the day; 1440 is the midnight that ends it.

    `sure`: it is a time in any context. `half`: whether a.m. or p.m. is known. `bare`: it is just a
    number of hours.
    """

    minute: int
    sure: bool = True
    half: bool = True
    bare: bool = False

    def within(self, half: str | None) -> Clock:
        """Return the time in a half of the day ("am", "pm"), unless its half is already known."""
        if self.half or half is None:
            return self if self.half or self.minute >= 780 else guessed(self)
        minute = self.minute % 720 + 720 * (half == "pm")
        if half == "night":
            # "Tonight at 1" is after midnight, "tonight at 9" before it.
            minute = self.minute % 720 + 720 * (self.minute % 720 >= 300)
        return Clock(minute)


def guessed(clock: Clock) -> Clock:
    """Resolve a time without a.m. or p.m.: from 1:00 to 7:59 it is taken as p.m."""
    early = clock.minute % 720 < 480 and clock.minute >= 60
    return clock._replace(minute=clock.minute % 720 + 720 * (early or clock.minute >= 720))


class When(NamedTuple):
    """The meaning of an expression.

    `spans` are the candidate days, in time order, and `pick` how one of them is chosen. `exact`:
    the exact day, if `spans` are whole units counted from today. `stated`: the text alone
    determines the days. `slip`: the weekday given with a date may be wrong. `clock` is a minute of
    the day, `half` the part of the day that is named ("am", "pm", "night"), `rule` the recurrence
    rule (RRULE of iCalendar).
    """

    spans: tuple[Days, ...] = ()
    grain: str = "day"
    stated: bool = False
    pick: Pick = "near"
    clock: int | None = None
    half: str | None = None
    certain: bool = True
    exact: Days | None = None
    kind: Kind = "day"
    rule: str = ""
    slip: bool = False

    def map(self, change: Callable[[Days], Days | None]) -> When | None:
        """Return this with each span changed; None if no span remains."""
        spans = tuple(made for span in self.spans if (made := change(span)) is not None)
        exact = change(self.exact) if self.exact is not None else None
        return self._replace(spans=spans, exact=exact) if spans else None


class Yearly(NamedTuple):
    """What occurs about once a year: a month, a season, a holiday; `of` gives its days in a year.

    `pick` and `certain` apply if nothing else qualifies the expression.
    """

    of: Callable[[int], tuple[Days, ...]]
    grain: str
    pick: Pick = "month"
    certain: bool = True
    reach: int = 2

    def near(self, now: Now) -> When | None:
        """Return its occurrences in the surrounding years."""
        return self.when(in_years(now, self.of, self.reach), certain=self.certain)

    def in_year(self, year: int, *, stated: bool = False) -> When | None:
        """Return its occurrence in a year."""
        spans = self.of(year)
        return self.when(spans[:1], stated=stated) if spans else None

    def shifted(self, now: Now, step: int) -> When | None:
        """Return the last (-1), this (0) or the next (1); one in progress can only be "this"."""
        spans = in_years(now, self.of, max(self.reach, 2))
        behind = [span for span in spans if span[1] < now.today]
        ahead = [span for span in spans if span[0] > now.today]
        running = [span for span in spans if span[0] <= now.today <= span[1]]
        if step == 0:
            this_year = ahead if self.grain == "feast" else self.of(now.here.year)
            return self.when(tuple(running or this_year)[:1])
        return self.when(tuple(behind[-1:] if step < 0 else ahead[:1]))

    def when(
        self, spans: tuple[Days, ...], *, stated: bool = False, certain: bool = True
    ) -> When | None:
        """Return some of its occurrences as a meaning; None if there are none."""
        if not spans:
            return None
        single = self.grain == "feast" and spans[0][0] == spans[0][1]
        grain = "day" if single else self.grain
        return When(spans, grain, stated=stated, pick=self.pick, certain=certain)


NOTHING = When(kind="none")
LASTING = When(kind="duration")


def one_day(day: int) -> When:
    """Return a single day."""
    return When((days(day, day),))


def in_years(now: Now, of: Callable[[int], tuple[Days, ...]], reach: int = 2) -> tuple[Days, ...]:
    """Return the occurrences in each of the surrounding years."""
    years = range(max(now.here.year - reach, 1), min(now.here.year + reach, 9_998) + 1)
    return tuple(span for year in years for span in of(year))


def month_days(year: int, month: int, first: int, last: int) -> tuple[Days, ...]:
    """Return a span of days of a month; empty if the month does not have them."""
    one, other = day_of(year, month, first), day_of(year, month, last)
    return () if one is None or other is None or one > other else ((one, other),)


def agreeing(spans: Iterable[Days], weekday: int) -> tuple[Days, ...]:
    """Return the single days that fall on a weekday."""
    return tuple(span for span in spans if (span[0] - 1) % 7 == weekday and span[0] == span[1])


def moved(day: int, count: int) -> Days:
    """Return the day `count` days after another."""
    return clip(day + count), clip(day + count)
