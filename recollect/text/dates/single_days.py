"""Single days, read from the lexemes of a text: whole dates, days of months, weekdays."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from recollect.text.dates.calendar_days import Days, day_of, days, month, month_index, week_of
from recollect.text.dates.date_lexemes import RANGE_WORDS, Kind, Part
from recollect.text.dates.holiday_days import Holidays
from recollect.text.dates.periods import SHORT_WORDS, UNSURE
from recollect.text.dates.times_of_day import DAYTIMES
from recollect.text.lexicon import DAY_WORDS, MONTHS, WEEKDAYS

# A weekday with its date lies no further away, in days.
_NEAR = 190


class DaysOfMonths(Holidays):
    """The rules for single days: of a month, of a week."""

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
            return self._ides(at) if self._is(at, "ides") else None
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

    def _ides(self, place: int) -> Part | None:
        """Return the ides of a month: of four the 15th, of the others the 13th."""
        place = self._skip(place + 1, "of")
        number = MONTHS.get(self._lower(place))
        if number is None:
            return None
        day = 15 if number in (3, 5, 7, 10) else 13
        found = self._in_a_year(self._skip(place + 1, ","), place + 1, number, day, day)
        return found and found._replace(kind="composed")

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
        sure = step is not None or self._lower(at) not in UNSURE
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
        if self._written(place - 1) in SHORT_WORDS:
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
        """Read today, tomorrow, the day after tomorrow, the day before Easter, now."""
        at = self._skip(place, "the")
        if self._is(at, "day") and self._is(at + 1, "after", "before"):
            step = 1 if self._is(at + 1, "after") else -1
            moved = DAY_WORDS.get(self._lower(at + 2))
            if moved is not None and moved * step > 0:
                day = self._today + moved + step
                return Part(at + 3, days(day, day), kind="plain")
            if moved is None and self._is(at - 1, "the"):
                return self._beside(at + 2, step)
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

    def _beside(self, place: int, step: int) -> Part | None:
        """Return the day after or before a holiday or a date: the day after Thanksgiving."""
        part = self._longest(place, self._holiday, self._month_and_day, self._day_and_month)
        if part is None:
            return None
        day = part.days[1] + 1 if step > 0 else part.days[0] - 1
        return Part(part.right, days(day, day))

    def _week_of(self, place: int) -> Part | None:
        """Read the week of October 6th."""
        at = self._skip(place, "the")
        if not (self._is(at, "week") and self._is(at + 1, "of")):
            return None
        day = self._longest(self._skip(at + 2, "the"), self._month_and_day, self._day_and_month)
        return None if day is None else Part(day.right, week_of(day.days[0]), "week")

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
