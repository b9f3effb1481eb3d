"""Dates that are put together from parts: "the third Tuesday after Christmas", "May 4 to June 2".

Each method of the parser tries one rule at a place and returns what it reads there, or None; of
several readings the longest counts. What a text leaves open is settled by conventions: without a
tense the first day that is not past; a weekday that is today is the one in seven days; "next" of a
week, month or year is the calendar's next; two weeks ago is that day; a bare time is on the day of
the message; parts of a month are days 1 to 10, 11 to 20 and from 21 on. What is vague ("a few days
ago") or recurs ("every Friday") is no date.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import NamedTuple

from projections.text.calendar_days import (
    Days,
    calendar_unit,
    day_of,
    days,
    month,
    month_index,
    season_of,
    shifted,
    week_of,
    year_days,
)
from projections.text.date_lexemes import RANGE_WORDS, TENS, Kind, Part, lowers_of
from projections.text.holidays import HOLIDAYS
from projections.text.lexicon import (
    DAY_WORDS,
    MONTHS,
    NUMBER_WORDS,
    ORDINALS,
    SEASONS,
    WEEKDAYS,
    word_set,
)
from projections.text.times_of_day import DAYTIMES, TimesOfDay

_UNITS = {
    word: unit
    for unit, words in {
        "time": "second seconds sec secs minute minutes min mins hour hours hr hrs h hs",
        "day": "day days",
        "week": "week weeks wk wks",
        "fortnight": "fortnight fortnights",
        "weekend": "weekend weekends",
        "month": "month months",
        "quarter": "quarter quarters qtr qtrs",
        "year": "year years yr yrs",
    }.items()
    for word in words.split()
}
_LAST = word_set("last past previous")
_NEXT = word_set("next upcoming coming following")
_THIS = word_set("this current")
_QUALIFIERS = _LAST | _NEXT | _THIS
_NAMED_TIMES = word_set("noon midday midnight lunch lunchtime eod")
_CLOCK_OPENERS = word_set("at by from until till untill before after around @ about")
_HOLIDAY_OPENERS = ("on", "by", "before", "after", "until", "till", "since", "at", "for", "from")
# After one of these a period says how long something lasted.
_LASTING = ("over", "for", "within", "during", "throughout", "of")
# What may open a reference and is no part of it.
_OPENERS = word_set("from between on at by for around @")
_PARTS = {
    **dict.fromkeys(("beginning", "start", "early", "bo"), "early"),
    **dict.fromkeys(("mid", "middle"), "mid"),
    **dict.fromkeys(("end", "late", "eo"), "late"),
}
_LOOSE = frozenset({"time", "year"})
_SHORT_PARTS = {
    "eom": ("late", "month"),
    "bom": ("early", "month"),
    "eoy": ("late", "year"),
    "boy": ("early", "year"),
    "eow": ("late", "week"),
}
# Month and day names that are also other words: alone they are no date.
_SHORT_WORDS = word_set("sat sun mon wed")
_UNSURE = word_set("may march mar second sec sat sun mon wed fri thu tue jan dec april june august")


class Reading(NamedTuple):
    """What stands in a text from character `start` to `end`: the days from `first` to `last`."""

    start: int
    end: int
    first: int
    last: int
    kind: Kind


def readings(text: str, today: int, months: Mapping[int, Days]) -> list[Reading]:
    """Return what can be read in a text that was written on day `today`, without overlap.

    `months` are the days of months without a year whose year is known, by where their names end.
    """
    return list(_Parser(text, today, months).all()) if tells_dates(text) else []


# So many words before the first word that tells a date a reference may begin.
_AHEAD = 5
# A weekday with its date lies no further away, in days.
_NEAR = 190


def tells_dates(text: str) -> bool:
    """Whether a text has a number or a word without which there is no date in it."""
    return any(map(_tells, lowers_of(text)))


def _tells(lower: str) -> bool:
    return lower.isdecimal() or lower.removesuffix("'s") in _TELLING


class _Parser(TimesOfDay):
    def __init__(self, text: str, today: int, months: Mapping[int, Days]) -> None:
        super().__init__(text, today)
        self._telling = [place for place, each in enumerate(self._lexemes) if _tells(each.lower)]
        self._months = months

    def all(self) -> Iterator[Reading]:
        """Yield the readings in order."""
        place = 0
        while place < len(self._lexemes):
            at = bisect_left(self._telling, place)
            if at == len(self._telling):
                return
            # Nothing begins further from what tells a date.
            place = max(place, self._telling[at] - _AHEAD)
            found = self._reference(place) if self._may_begin(place) else None
            if found is None or not self._stands(place, found):
                place += 1
                continue
            opening = place
            while opening < found.right - 1 and self._lower(opening) in _OPENERS:
                opening += 1
            first, last = self._lexemes[opening], self._lexemes[found.right - 1]
            if found.days[0] > 1:
                kind: Kind = "time" if found.grain == "time" else found.kind
                yield Reading(first.start, last.end, *found.days, kind)
            place = found.right

    # Where a date may stand

    def _may_begin(self, place: int) -> bool:
        word = self._lexemes[place]
        if place and not word.spaced:
            before = self._lexemes[place - 1].lower
            if before not in "(\"'\u201c\u2018[,;\u2013\u2014-" and not before.isalpha():
                return False
            if before in "-–—" and word.lower.isdecimal():
                return False
        if word.lower.isdecimal():
            return len(word.lower) <= 4 and not self._is(place - 1, "#$€£", "v", "room", "no")
        return word.lower in _BEGINNINGS

    def _stands(self, place: int, found: Part) -> bool:
        """Whether a reading is meant as a date: a number or "may" alone is not."""
        if found.right < len(self._lexemes):
            after = self._lexemes[found.right]
            if not after.spaced and (after.lower[0].isalnum() or after.lower in "-/%$€£°'’+*="):
                return False
        if found.kind == "guarded" and self._is(place - 1, "a", "an"):
            return False
        recurring = ("every", "each", "any", "some", "most", "alternate")
        if self._is(place - 1, *recurring) or self._is(place - 2, "every", "each"):
            return False
        whole = place == 0 and all(
            not lexeme.lower.isalnum() for lexeme in self._lexemes[found.right :]
        )
        return found.sure or whole

    # Whole days

    def _whole_date(self, place: int) -> Part | None:
        """Read 2026-05-04, 4.5.2026, 2026/5, 5/4/26."""
        first = self._lower(place)
        mark = self._lower(place + 1)
        second = self._lower(place + 2)
        if mark not in ("-", "/", ".") or not (first.isdecimal() and second.isdecimal()):
            return None
        if any(self._lexemes[place + step].spaced for step in (1, 2)):
            return None
        third = ""
        if (
            self._is(place + 3, mark)
            and self._lower(place + 4).isdecimal()
            and not self._lexemes[place + 4].spaced
        ):
            third = self._lower(place + 4)
        if len(first) == 4:
            if third:
                return self._of_numbers(place + 5, int(first), int(second), int(third))
            if (
                mark != "."
                and 1 <= int(second) <= 12
                and len(second) <= 2
                and 1000 <= int(first) < 2200
            ):
                return Part(place + 3, month(int(first) * 12 + int(second) - 1), "month")
            return None
        if mark == "/" and len(second) == 4 and not third and 1 <= int(first) <= 12:
            found = month(int(second) * 12 + int(first) - 1)
            return Part(place + 3, found, "month") if 1900 <= int(second) < 2200 else None
        if len(first) > 2 or len(second) > 2:
            return None
        one, two = int(first), int(second)
        if third and len(third) in (2, 4):
            year = int(third) + ((1900 if int(third) > 60 else 2000) if len(third) == 2 else 0)
            day_first = mark == "." or one > 12
            order = (two, one) if day_first else (one, two)
            dated = self._of_numbers(place + 5, year, *order)
            # Which of 5/7/2026 is the month, nobody can say.
            clear = mark == "." or one > 12 or two > 12 or one == two
            return dated if clear or dated is None else dated._replace(kind="guarded")
        if mark != "/" or third:
            return None
        coming = self._coming(*((two, one) if one > 12 else (one, two)))
        # "9/11", "3/3": a fraction or a name as likely as a day.
        sure = self._is(place - 1, "on", "by", "until", "from", "since", "before", "after")
        if coming is None:
            return None
        return Part(place + 3, coming, open=True, sure=sure, kind="guarded")

    def _of_numbers(self, right: int, year: int, month_number: int, day: int) -> Part | None:
        ordinal = day_of(year, month_number, day) if year else None
        return None if ordinal is None else Part(right, days(ordinal, ordinal))

    def _coming(self, month_number: int, day: int) -> Days | None:
        """Return the first such day that is not past."""
        for year in range(self._here.year, self._here.year + 9):
            ordinal = day_of(year, month_number, day)
            if ordinal is not None and ordinal >= self._today:
                return days(ordinal, ordinal)
        return None

    def _month_and_day(self, place: int) -> Part | None:
        """Read May 4, May 4th to 6th, May the fourth, 2026."""
        number = MONTHS.get(self._lower(place))
        if number is None:
            return None
        at = self._skip(place + 1, ".", ",", "-", "the", "/")
        return self._day_of_month(at, number, self._day_number(at))

    def _day_of_month(self, place: int, number: int, day: tuple[int, int] | None) -> Part | None:
        if day is None or (
            self._is(day[0], ":", "am", "pm", "h", "p") and not self._lexemes[day[0]].spaced
        ):
            return None
        right, first = day
        last = first
        to = self._skip(right, "the")
        if self._lower(to) in RANGE_WORDS or self._is(to, "and", "&"):
            follow = self._skip(to + 1, "the")
            end = self._day_number(follow)
            timed = end is not None and self._is(end[0], ":", "am", "pm", "h")
            if (
                end is not None
                and end[1] > first
                and not timed
                and self._lower(end[0]) not in MONTHS
            ):
                right, last = end
        return self._in_a_year(self._skip(right, ","), right, number, first, last)

    def _in_a_year(self, at: int, right: int, number: int, first: int, last: int) -> Part | None:
        """Return the days of a month, of the year that follows or of the coming one."""
        stated = self._year_number(self._skip(at, "of", "in"), short=at == right)
        if stated is None and at > right:
            stated = self._year_number(at)
        if stated is not None:
            ends = [day_of(stated[1], number, day) for day in (first, last)]
            if ends[0] is None or ends[1] is None:
                return None
            return Part(stated[0], days(ends[0], ends[1]), kind="plain")
        found = self._coming(number, first)
        if found is None or last - first > 31:
            return None
        return Part(right, days(found[0], found[0] + last - first), open=True, kind="plain")

    def _day_and_month(self, place: int) -> Part | None:
        """Read 4 May, the fourth of May, from 13 to 15 of July, 20th of next month."""
        at = self._skip(place, "from", "the", "on")
        day = self._day_number(at)
        if day is None:
            return None
        right, first = day
        last = first
        to = right
        ranges = self._lower(to) in RANGE_WORDS or self._is(to, "and")
        if ranges and self._lower(to + 1) not in MONTHS:
            end = self._day_number(self._skip(to + 1, "the"))
            if end is None or end[1] <= first:
                return None
            right, last = end
        named = self._skip(right, "of", "-", "the", "day")
        number = MONTHS.get(self._lower(named))
        if number is not None:
            if self._lexemes[named].lower in ("second", "sec"):
                return None
            after = self._skip(named + 1, ".", ",")
            part = self._in_a_year(after, named + 1, number, first, last)
            if part is not None and part.open and self._written(named) in ("may", "march"):
                # "5 may be enough"
                return part._replace(kind="guarded")
            return part
        of_month = self._is(right, "of") and self._period(named)
        if of_month and of_month.grain == "month":
            start = of_month.days[0]
            if start + last - 1 <= of_month.days[1]:
                return Part(of_month.right, days(start + first - 1, start + last - 1))
        return None

    def _day_alone(self, place: int) -> Part | None:
        """Read the 15th, first of all after "on"."""
        if not self._is(place, "the"):
            return None
        day = self._ordinal(place + 1)
        if day is None or not 1 <= day[1] <= 31:
            return None
        now = month_index(self._today)
        for year, index in (divmod(now + step, 12) for step in range(4)):
            ordinal = day_of(year, index + 1, day[1])
            if ordinal is not None and ordinal >= self._today:
                return Part(day[0], days(ordinal, ordinal), open=True, sure=False, kind="guarded")
        return None

    def _month_name(self, place: int) -> Part | None:
        """Read May, May 2026, next May."""
        at, step = self._qualifier(place)
        number = MONTHS.get(self._lower(at))
        if number is None:
            return None
        dot = self._skip(at + 1, ".", ",")
        year = self._year_number(self._skip(dot, "of")) if step is None else None
        if year is not None:
            return Part(year[0], month(year[1] * 12 + number - 1), "month")
        index = self._here.year * 12 + number - 1
        now = month_index(self._today)
        if step == -1:
            index -= 12 * (index >= now)
        elif step == 1:
            index += 12 * (index <= now)
        else:
            index += 12 * (index < now)
        sure = step is not None or self._lower(at) not in _UNSURE
        sure = sure or self._is(place - 1, "in", "since", "until", "of", "by", "during")
        # "This may be" asks for a capital.
        sure = sure and self._written(at) not in ("may", "march")
        found = self._months.get(self._lexemes[at].end) if step is None else None
        found = found or month(index)
        return Part(at + 1, found, "month", open=True, sure=sure, kind="guarded")

    def _season(self, place: int) -> Part | None:
        at, step = self._qualifier(place)
        first = SEASONS.get(self._lower(at))
        if first is None:
            return None
        year = self._year_number(self._skip(at + 1, "of"))
        if year is not None:
            return Part(year[0], season_of(first, year[1]), "quarter")
        if step is None:
            return None
        spans = [season_of(first, self._here.year + each) for each in (-2, -1, 0, 1, 2)]
        if step < 0:
            near = [each for each in reversed(spans) if each[1] < self._today]
        else:
            after = [each for each in spans if each[0] > self._today]
            near = after if step > 0 else [each for each in spans if each[1] >= self._today]
        # In the calendar's first and last year there may be none.
        return Part(at + 1, near[0], "quarter", kind="guarded") if near else None

    def _qualifier(self, place: int) -> tuple[int, int | None]:
        """Return the place after this, last or next, and -1, 0 or 1; None without one."""
        at = self._skip(place, "the")
        lower = self._lower(at)
        for words, step in ((_LAST, -1), (_NEXT, 1), (_THIS, 0)):
            if lower in words:
                return at + 1, step
        return place, None

    def _weekday(self, place: int) -> Part | None:
        """Read Friday, next Friday, Friday after next, Friday the 4th, Monday of next week."""
        at, step = self._qualifier(place)
        number = WEEKDAYS.get(self._lower(at))
        if number is None:
            return None
        right = at + 1 + (self._is(at + 1, ".") and len(self._lower(at)) <= 5)
        if step is None:
            dated = self._weekday_and_date(right, number)
            if dated is not None:
                return dated
            of_week = self._skip(right, "of", "from", "the")
            week = self._period(of_week)
            if week is not None and week.grain == "week" and week.right > of_week:
                day = week.days[0] + number
                return Part(week.right, days(day, day))
            if self._is(right, "after") and self._is(right + 1, "next"):
                day = self._ahead(number) + 7
                return Part(right + 2, days(day, day))
            if self._is(right, "week") and not self._is(right + 1, "of"):
                return None
        ahead = self._ahead(number)
        if step == -1:
            day = self._today - ((self._today - 1 - number) % 7 or 7)
        elif step == 1 and self._lower(at - 1) == "next":
            day = week_of(self._today)[0] + 7 + number
        else:
            day = ahead
        sure = step is not None or self._lower(at) not in _UNSURE
        return Part(right, days(day, day), open=True, sure=sure, kind="guarded")

    def _ahead(self, weekday: int) -> int:
        """Return the next such weekday; of today's the one in seven days."""
        return self._today + ((weekday - (self._today - 1)) % 7 or 7)

    def _weekday_and_date(self, place: int, weekday: int) -> Part | None:
        """Read what stands after a weekday: the date, or the day of the month."""
        at = self._skip(place, ",", "the", "-")
        found = self._longest(at, self._month_and_day, self._day_and_month, self._whole_date)
        if found is not None and found.grain == "day" and found.days[0] == found.days[1]:
            if found.open:
                here = date.fromordinal(found.days[0])
                years = (day_of(here.year + step, here.month, here.day) for step in (-2, -1, 0, 1))
                found = found._replace(days=self._agreeing(years, weekday))
            return found._replace(sure=True, kind=self._if_agreed(found.days, weekday))
        number = self._ordinal(at)
        if number is None or not 1 <= number[1] <= 31 or self._is(number[0], "of"):
            return None
        now = month_index(self._today)
        months = (divmod(now + step, 12) for step in (-2, -1, 0, 1, 2))
        near = (day_of(year, index + 1, number[1]) for year, index in months)
        found_days = self._agreeing(near, weekday)
        kind = self._if_agreed(found_days, weekday)
        if self._written(place - 1) in _SHORT_WORDS:
            # "We sat 3rd row left"
            kind = "guarded"
        return Part(number[0], found_days, kind=kind)

    def _agreeing(self, candidates: Iterable[int | None], weekday: int) -> Days:
        """Return the nearest of some days that is this weekday, else the nearest of all."""
        known = [day for day in candidates if day is not None]
        near = [day for day in known if (day - 1) % 7 == weekday] or known
        nearest = min(near, key=lambda day: (abs(day - self._today), -day))
        return days(nearest, nearest)

    def _if_agreed(self, found: Days, weekday: int) -> Kind:
        """Return how sure a weekday with a date is: not at all if the two do not agree."""
        agreed = (found[0] - 1) % 7 == weekday and abs(found[0] - self._today) <= _NEAR
        return "plain" if agreed else "guarded"

    def _near_day(self, place: int) -> Part | None:
        """Read today, tomorrow, the day after tomorrow, now."""
        at = self._skip(place, "the")
        if self._is(at, "day") and self._is(at + 1, "after", "before"):
            step = 1 if self._is(at + 1, "after") else -1
            moved = DAY_WORDS.get(self._lower(at + 2))
            if moved is not None and moved * step > 0:
                day = self._today + moved + step
                return Part(at + 3, days(day, day), kind="plain")
        now = self._skip(place, "right", "just")
        if self._is(now, "now") or (
            self._is(place, "at") and self._is(place + 2, "moment", "time")
        ):
            right = now + 1 if self._is(now, "now") else place + 3
            return Part(right, days(self._today, self._today), sure=False, kind="plain")
        moved = DAY_WORDS.get(self._lower(place).removesuffix("s"))
        moved = DAY_WORDS.get(self._lower(place)) if moved is None else moved
        if moved is None:
            return None
        day = self._today + moved
        right = place + 1
        if self._lower(right) in DAYTIMES or self._is(right, "night"):
            right += 1
        return Part(right, days(day, day), kind="plain")

    # Units

    def _period(self, place: int) -> Part | None:
        """Read this week, last 3 months, the next year, May, Q3 2026, the year, 2026, today."""
        return self._longest(
            place,
            self._unit,
            self._month_name,
            self._season,
            self._quarter,
            self._year,
            self._near_day,
            self._week_of,
        )

    def _unit(self, place: int) -> Part | None:
        """Read this week, last 3 months, two upcoming years; not how long something lasts."""
        at = self._skip(place, "the", "in")
        lasting = self._is(place - 1, *_LASTING) or self._is(place - 2, *_LASTING)
        counted = self._count_of_units(at)
        if counted is not None and self._lower(counted[0]) in _NEXT:
            at, step, count = counted[0] + 1, 1, counted[1]
        elif self._lower(at) in _QUALIFIERS or self._is(at, "all"):
            step = -1 if self._lower(at) in _LAST else 1 if self._lower(at) in _NEXT else 0
            after = self._count_of_units(at + 1)
            at, count = (at + 1, 0) if after is None else after
        else:
            return self._bare_unit(place)
        word = self._lower(at).removesuffix("'s")
        unit = _UNITS.get(word)
        if unit is None:
            return None
        if count:
            upcoming = "upcoming" in (self._lower(place), self._lower(at - 1), self._lower(at - 2))
            found = self._several(at + 1, unit, count * step, upcoming=upcoming)
            return found and found._replace(kind="guarded" if lasting else "composed")
        if unit == "time":
            return Part(at + 1, days(self._today, self._today), "time", sure=False)
        span = calendar_unit(unit, step, self._today)
        plural = word.endswith("s") or (unit == "day" and self._is(at - 1, "all"))
        if span is None or plural:
            return None
        weekday = WEEKDAYS.get(self._lower(at + 1)) if unit == "week" else None
        if weekday is not None and self._lower(at + 1) not in _SHORT_WORDS:
            return Part(at + 2, days(span[0] + weekday, span[0] + weekday))
        common = lasting or (self._is(at - 1, "this", "last", "next", "all") and word == unit)
        return Part(at + 1, span, unit, kind="guarded" if common else "plain")

    def _count_of_units(self, place: int) -> tuple[int, int] | None:
        return None if self._is(place, "a", "an") else self._number(place)

    def _several(self, right: int, unit: str, count: int, *, upcoming: bool) -> Part | None:
        """Return the next or last so many units: those that follow today's, or lie before it."""
        if unit == "time":
            return Part(right, days(self._today, self._today), "time")
        if unit in ("weekend", "fortnight") or not count or abs(count) > 999:
            return None
        if unit == "day":
            first = self._today + (1 if count > 0 else count)
            last = self._today + (count if count > 0 else -1)
            return Part(right, days(first, last), unit)
        if upcoming:
            found = calendar_unit(unit, count, self._today)
            return None if found is None else Part(right, found, unit)
        near = calendar_unit(unit, 1 if count > 0 else -1, self._today)
        far = calendar_unit(unit, count, self._today)
        if near is None or far is None:
            return None
        return Part(right, days(min(near[0], far[0]), max(near[1], far[1])), unit)

    def _bare_unit(self, place: int) -> Part | None:
        """Read the month, the year: the current one, after "of" or "end of"."""
        at = self._skip(place, "the")
        unit = _UNITS.get(self._lower(at))
        if unit not in ("week", "month", "year", "quarter") or self._is(
            at + 1, "of", "ago", "from"
        ):
            return None
        found = calendar_unit(unit, 0, self._today)
        return None if found is None else Part(at + 1, found, unit, sure=False)

    def _quarter(self, place: int) -> Part | None:
        """Read Q3, Q3 2026, third quarter of 2018, 4th qtr 2018."""
        at = self._skip(place, "the")
        before = self._year_number(at)
        if before is not None and self._is(before[0], "q") and not self._lexemes[before[0]].spaced:
            which = self._lower(before[0] + 1)
            if which in ("1", "2", "3", "4"):
                found = month(before[1] * 12 + 3 * (int(which) - 1), 3)
                return Part(before[0] + 2, found, "quarter")
        lower = self._lower(at)
        if (
            lower == "q"
            and self._lower(at + 1) in ("1", "2", "3", "4")
            and not self._lexemes[at + 1].spaced
        ):
            number, right = int(self._lower(at + 1)), at + 2
        else:
            nth = self._ordinal(at)
            if nth is None or not 1 <= nth[1] <= 4 or not self._is(nth[0], "quarter", "qtr"):
                return None
            number, right = nth[1], nth[0] + 1
        year = self._year_number(self._skip(right, "of", "in", ","))
        stated = self._here.year if year is None else year[1]
        found = month(stated * 12 + 3 * (number - 1), 3)
        return Part(right if year is None else year[0], found, "quarter")

    def _year(self, place: int) -> Part | None:
        found = self._year_number(place)
        if found is None or not 1800 <= found[1] < 2200:
            return None
        sure = self._is(place - 1, "in", "since", "until", "of", "by", "during", "before", "after")
        return Part(found[0], year_days(found[1]), "year", sure=sure, kind="guarded")

    def _year_first(self, place: int) -> Part | None:
        """Read 2009 May 22nd."""
        year = self._year_number(place)
        number = None if year is None else MONTHS.get(self._lower(year[0]))
        at = place if year is None else year[0] + 1
        digits = self._lower(at).isdecimal()
        day = self._day_number(at) if number is not None and digits else None
        if year is None or number is None or day is None:
            return None
        return self._of_numbers(day[0], year[1], number, day[1])

    def _week_of(self, place: int) -> Part | None:
        """Read the week of October 6th."""
        at = self._skip(place, "the")
        if not (self._is(at, "week") and self._is(at + 1, "of")):
            return None
        day = self._longest(self._skip(at + 2, "the"), self._month_and_day, self._day_and_month)
        return None if day is None else Part(day.right, week_of(day.days[0]), "week")

    def _ago(self, place: int) -> Part | None:
        """Read two weeks ago, 3 Thursdays ago, in five days, 2 days before May 4."""
        inside = self._is(place, "in", "within") and not self._is(place + 1, "the")
        at = self._skip(place + inside, "about", "around", "approximately", "exactly", "just")
        at = self._skip(at, "a", "three", "-") if self._quarters(at) else at
        half = self._is(at, "half", "quarter", "quarters") or (
            self._lower(at).isdecimal() and self._is(at + 1, "/")
        )
        if half:
            return self._part_of_hour(at, inside)
        counted = self._number(at)
        few = counted is not None and self._is(counted[0], "few")
        if counted is None:
            return None
        right, count = counted
        if self._is(right, ".") and self._lower(right + 1).isdecimal():
            right += 2
        right = self._skip(right, "more")
        if few:
            right += 1
        weekday = WEEKDAYS.get(self._lower(right).removesuffix("s"))
        if weekday is not None and not few:
            return self._weekdays_away(right + 1, weekday, count)
        unit = _UNITS.get(self._lower(right))
        if unit is None:
            return None
        if few and unit != "time":
            return None
        named = right
        right += 1
        added = self._skip(right, "and", "a", "half")
        if added == right + 3:
            right = added
        more = self._more_units(right) if unit == "time" else right
        hours = unit == "time" and self._lower(named).startswith("h")
        late = hours and count >= 24
        right = more
        direction, right, start = self._towards(right, inside)
        if not direction:
            return None
        if unit == "time":
            day = start + direction * (count // 24 if late else 0)
            return Part(
                right, days(day, day), "time" if start == self._today and not late else "day"
            )
        if count > 5_000:
            return None
        base, many = ("week", 2 * count) if unit == "fortnight" else (unit, count)
        if base == "weekend":
            ahead = direction > 0 and start < week_of(start)[1] - 1
            found = calendar_unit("weekend", direction * many - ahead, start)
            return None if found is None else Part(right, found, "weekend")
        day = shifted(start, base, direction * many)
        kind: Kind = "counted" if start == self._today else "composed"
        if inside and kind == "counted":
            # "I finished it in two days" tells how long it took.
            kind = "guarded"
        return Part(right, days(day, day), kind=kind)

    def _quarters(self, at: int) -> bool:
        """Whether a quarter, or three-quarters, of an hour stands there."""
        at = self._skip(at, "a", "three", "-")
        return self._is(at, "quarter", "quarters") and self._is(at + 1, "of")

    def _more_units(self, right: int) -> int:
        """Return the place after "and 20 minutes"."""
        at = self._skip(right, "and", ",")
        more = self._number(at)
        if more is not None and _UNITS.get(self._lower(more[0])) == "time":
            return more[0] + 1
        return right

    def _part_of_hour(self, at: int, inside: bool) -> Part | None:
        """Read in half an hour, in 3/4h, 1/2 hour from now."""
        right = at + 3 if self._lower(at).isdecimal() else at + 1
        right = self._skip(right, "of", "a", "an")
        if _UNITS.get(self._lower(right)) != "time":
            return None
        direction, right, start = self._towards(right + 1, inside)
        return Part(right, days(start, start), "time") if direction else None

    def _towards(self, right: int, inside: bool) -> tuple[int, int, int]:
        """Return -1 or 1, the place after, and the day from which is counted; 0: neither."""
        if self._is(right, "ago", "back"):
            start = self._longest(right + 1, self._near_day, self._weekday)
            if self._is(right, "ago") and start is not None and start.sure:
                return -1, start.right, start.days[0]
            return -1, right + 1, self._today
        if self._is(right, "hence"):
            return 1, right + 1, self._today
        if self._is(right, "from", "after", "before"):
            direction = -1 if self._is(right, "before") else 1
            if self._is(right + 1, "now") or (
                self._is(right + 1, "this", "that") and _UNITS.get(self._lower(right + 2))
            ):
                after = right + 2 if self._is(right + 1, "now") else right + 3
                return direction, after, self._today
            start = self._longest(
                right + 1,
                self._near_day,
                self._clock,
                self._weekday,
                self._month_and_day,
                self._day_and_month,
                self._whole_date,
                self._holiday,
            )
            if start is not None and start.days[0] == start.days[1]:
                return direction, start.right, start.days[0]
            return 0, right, self._today
        return (1, right, self._today) if inside else (0, right, self._today)

    def _weekdays_away(self, right: int, weekday: int, count: int) -> Part | None:
        if self._is(right, "ago", "back"):
            day = self._today - ((self._today - 1 - weekday) % 7 or 7) - 7 * (count - 1)
            return Part(right + 1, days(day, day))
        if self._is(right, "from") and self._is(right + 1, "now"):
            day = self._ahead(weekday) + 7 * (count - 1)
            return Part(right + 2, days(day, day))
        return None

    # Parts of a period

    def _nth(self, place: int) -> Part | None:
        """Read first Monday of May, last day of the year, third last week of 2018."""
        at = self._skip(place, "the")
        nth = self._ordinal(at)
        right, count = (nth[0], nth[1]) if nth is not None else (at, 1)
        backwards = self._is(right, "last")
        if backwards:
            right += 1
        elif nth is None:
            return None
        weekday = WEEKDAYS.get(self._lower(right))
        unit = _UNITS.get(self._lower(right))
        if weekday is None and unit not in ("day", "week", "weekend", "quarter", "month"):
            return None
        past = right + 1
        joined = self._skip(past, "of", "in", "the")
        if self._is(past, "after", "before") and weekday is not None and not backwards:
            return self._weekday_after(past, weekday, count)
        if self._is(joined - 1, "the"):
            joined -= 1
        if joined == past and not self._is(joined, *_LAST, *_NEXT, *_THIS):
            return None
        period = self._longest(joined, self._period, self._holiday)
        if period is None or period.grain in ("day", "time", "weekend"):
            return None
        found = self._nth_of(period, weekday, unit, -count if backwards else count)
        return None if found is None else Part(period.right, found, unit or "day")

    def _weekday_after(self, place: int, weekday: int, count: int) -> Part | None:
        start = self._longest(place + 1, self._holiday, self._month_and_day, self._day_and_month)
        if start is None:
            return None
        if self._is(place, "after"):
            day = start.days[1] + ((weekday - (start.days[1] - 1)) % 7 or 7) + 7 * (count - 1)
        else:
            day = start.days[0] - ((start.days[0] - 1 - weekday) % 7 or 7) - 7 * (count - 1)
        return Part(start.right, days(day, day))

    def _nth_of(self, period: Part, weekday: int | None, unit: str | None, nth: int) -> Days | None:
        """Return the nth weekday, day or week of a period, from its end if negative."""
        first, last = period.days
        if weekday is not None:
            if nth > 0:
                day = first + (weekday - (first - 1)) % 7 + 7 * (nth - 1)
            else:
                day = last - ((last - 1) - weekday) % 7 + 7 * (nth + 1)
            return days(day, day) if first <= day <= last else None
        if unit == "day":
            day = first + nth - 1 if nth > 0 else last + nth + 1
            return days(day, day) if first <= day <= last else None
        if unit == "week":
            # Weeks that lie in the period as a whole.
            monday = week_of(first + 6)[0] if nth > 0 else week_of(last - 6)[0]
            monday += 7 * (nth - 1 if nth > 0 else nth + 1)
            return days(monday, monday + 6)
        if unit in ("quarter", "month"):
            size = 3 if unit == "quarter" else 1
            index = (
                month_index(first) + size * (nth - 1)
                if nth > 0
                else month_index(last) + 1 + size * nth
            )
            return month(index, size)
        return None

    def _some_of(self, place: int) -> Part | None:
        """Read end of the month, mid March, early 2017, late next week, EOM."""
        at = self._skip(place, "at", "by", "in", "the", "around")
        short = _SHORT_PARTS.get(self._lower(at))
        if short is not None and self._is_short_part(at):
            found = calendar_unit(short[1], 0, self._today)
            return None if found is None else Part(at + 1, _part(found, *short), sure=False)
        which = _PARTS.get(self._lower(at))
        if which is None:
            return None
        right = self._skip(at + 1, "-", "of", "in", "around", "about")
        joined = right > at + 1 and self._is(right - 1, "of", "-", "around", "about", "in")
        if self._lower(at) in ("beginning", "start", "end", "middle") and not joined:
            return None
        period = self._period(right)
        if period is None:
            return None
        grain = period.grain
        if grain == "day":
            return Part(period.right, period.days, kind="plain")
        if grain not in ("week", "month", "year", "quarter"):
            return None
        return Part(period.right, _part(period.days, which, grain), grain)

    def _is_short_part(self, at: int) -> bool:
        return self._written(at).isupper()

    def _holiday(self, place: int) -> Part | None:
        """Read Christmas, next Thanksgiving, Easter 2010."""
        at, step = self._qualifier(place)
        for size in range(min(4, len(self._lexemes) - at), 0, -1):
            words = " ".join(self._lower(at + each) for each in range(size)).replace("'", "")
            rule = HOLIDAYS.get(words.replace(" .", ""))
            if rule is None:
                continue
            right = at + size
            year = self._year_stated(self._skip(right, "of", "in", ","))
            if year is not None:
                day = rule(year[1])
                return None if day is None else Part(year[0], days(day, day))
            near = [rule(self._here.year + each) for each in (-1, 0, 1)]
            known = [day for day in near if day is not None]
            if step == -1:
                past = [day for day in known if day < self._today]
                return Part(right, days(past[-1], past[-1])) if past else None
            ahead = [day for day in known if day >= self._today]
            if not ahead:
                return None
            # Easter eggs and Christmas crackers are of no day.
            sure = step is not None or self._is(place - 1, *_HOLIDAY_OPENERS)
            return Part(right, days(ahead[0], ahead[0]), open=True, sure=sure, kind="guarded")
        return None

    def _year_stated(self, place: int) -> tuple[int, int] | None:
        """Read 2010, last year, this year."""
        at, step = self._qualifier(place)
        if step is not None and self._is(at, "year"):
            return at + 1, self._here.year + step
        return self._year_number(place)

    # Together

    def _one(self, place: int) -> Part | None:
        """Read one date without a time."""
        return self._longest(
            place,
            self._whole_date,
            self._month_and_day,
            self._day_and_month,
            self._day_alone,
            self._year_first,
            self._weekday,
            self._near_day,
            self._ago,
            self._nth,
            self._some_of,
            self._holiday,
            self._unit,
            self._quarter,
            self._week_of,
            self._season,
            self._month_name,
            self._year,
        )

    def _reference(self, place: int) -> Part | None:
        """Read the longest reference: a date, a range of dates, a time, or a date with a time."""
        at = self._skip(place, "on")
        dated = self._dated(at)
        timed = self._times(at)
        best = dated
        if dated is not None:
            best = self._with_time(dated)
        if timed is not None:
            follow = self._skip(timed.right, "on", ",", "of")
            day = self._dated(follow)
            if day is not None and day.days[0] == day.days[1] and self._day_like(follow, day):
                merged = day._replace(sure=day.sure or timed.sure, open=False)
                timed = merged if timed.days[0] == self._today else _moved(merged, 1)
            if best is None or timed.right > best.right:
                best = timed
        return best

    def _day_like(self, place: int, day: Part) -> bool:
        """Whether what follows a time is a day: "at 7 May I ..." is none."""
        return day.grain == "day" and (day.sure or self._is(place - 1, "on", "of", ","))

    def _with_time(self, dated: Part) -> Part:
        """Return a date with the time that follows it."""
        if dated.days[0] != dated.days[1]:
            return dated
        follow = self._skip(dated.right, ",", "-", "in", "during")
        at = self._skip(follow, "the")
        if self._lower(at) in DAYTIMES and at > dated.right - 1:
            dated = dated._replace(right=at + 1, sure=True)
            follow = self._skip(dated.right, ",")
        timed = self._longest(follow, self._time_range, self._clock)
        if timed is None:
            return dated
        alone = self._lexemes[follow].lower.isdecimal() and timed.right == follow + 1
        if alone:
            return dated
        found = dated._replace(right=timed.right, sure=True)
        return found if timed.days[0] == self._today else _moved(found, 1)

    def _dated(self, place: int) -> Part | None:
        """Read a date or a range of them: May 4 to June 2, from Monday until Friday."""
        opened = self._is(place, "from", "between")
        first = self._one(place + opened)
        if first is None:
            return self._one(place) if opened else None
        lower = self._lower(first.right)
        if lower not in RANGE_WORDS and not (opened and lower == "and"):
            return first
        last = self._one(self._skip(first.right + 1, "the"))
        if last is None or (last.grain in _LOOSE) != (first.grain in _LOOSE):
            return first
        begin, end = first.days[0], last.days[1]
        if end < begin and last.open:
            end = shifted(
                end, "year" if last.grain == "month" or last.kind != "plain" else "week", 1
            )
        if not begin < end < begin + 3_700:
            return first
        kinds = {first.kind, last.kind}
        kind: Kind = "guarded" if kinds == {"guarded"} else "composed"
        return Part(last.right, days(begin, end), sure=first.sure or last.sure, kind=kind)


def _moved(part: Part, count: int) -> Part:
    return part._replace(days=days(part.days[0] + count, part.days[1] + count))


def _part(span: Days, which: str, grain: str) -> Days:
    """Return the early, middle or late days of a week, month, quarter or year."""
    first, last = span
    if grain == "month":
        bounds = {"early": (0, 9), "mid": (10, 19), "late": (20, last - first)}
    elif grain == "week":
        bounds = {"early": (0, 2), "mid": (2, 4), "late": (4, 6)}
    else:
        start = month_index(first)
        size = 3 if grain == "year" else 1
        if which == "early":
            return month(start, size)
        if which == "mid":
            return month(start + (4 if grain == "year" else 1), 5 if grain == "year" else 1)
        return month(
            month_index(last) + 1 - (4 if grain == "year" else 1), 4 if grain == "year" else 1
        )
    left, right = bounds[which]
    # A month before the calendar's first is cut to one day.
    return days(min(first + left, last), min(first + right, last))


# A reference has one of these words, or a number in digits.
_TELLING = (
    frozenset(DAY_WORDS)
    | frozenset(MONTHS)
    | frozenset(WEEKDAYS)
    | {f"{day}s" for day in WEEKDAYS}
    | frozenset(SEASONS)
    | frozenset(_UNITS)
    | frozenset(_SHORT_PARTS)
    | frozenset(name.partition(" ")[0] for name in HOLIDAYS)
    | DAYTIMES
    | _NAMED_TIMES
    | word_set("tomorrows now moment am pm o'clock oclock q work school half quarter past")
)
#: Words with which a reference may begin.
_BEGINNINGS = (
    frozenset(DAY_WORDS)
    | {"tomorrows"}
    | frozenset(MONTHS)
    | frozenset(WEEKDAYS)
    | frozenset(SEASONS)
    | frozenset(ORDINALS)
    | frozenset(NUMBER_WORDS)
    | frozenset(TENS)
    | frozenset(_PARTS)
    | frozenset(_SHORT_PARTS)
    | frozenset(name.partition(" ")[0] for name in HOLIDAYS)
    | frozenset(name.partition(" ")[0] + "'s" for name in HOLIDAYS)
    | _LAST
    | _NEXT
    | _THIS
    | _NAMED_TIMES
    | _CLOCK_OPENERS
    | word_set(
        """the in on a an day week couple pair half quarter between q all over within for now right
        just mid during three"""
    )
    | word_set("valentine's mother's father's patrick's president's veteran's saint st new")
)
