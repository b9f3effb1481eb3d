"""Weeks, months, seasons, quarters and years, read from the lexemes of a text."""

from __future__ import annotations

from collections.abc import Container, Mapping

from recollect.text.dates.calendar_days import (
    Days,
    calendar_unit,
    days,
    month,
    month_index,
    season_of,
    year_days,
)
from recollect.text.dates.date_lexemes import Part
from recollect.text.dates.times_of_day import TimesOfDay
from recollect.text.lexicon import MONTHS, SEASONS, WEEKDAYS, word_set

UNITS = {
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
LAST = word_set("last past previous")
NEXT = word_set("next upcoming coming following")
THIS = word_set("this current")
# "The next few days" are so many.
_FEW = 3
_QUALIFIERS = LAST | NEXT | THIS
# After one of these a period says how long something lasted.
_LASTING = ("over", "for", "within", "during", "throughout", "of")
# Month and day names that are also other words: alone they are no date.
SHORT_WORDS = word_set("sat sun mon wed")
UNSURE = word_set("may march mar second sec sat sun mon wed fri thu tue jan dec april june august")


class Periods(TimesOfDay):
    """The rules for weeks, months, seasons, quarters and years."""

    def __init__(
        self, text: str, today: int, months: Mapping[int, Days], behind: Container[int]
    ) -> None:
        super().__init__(text, today)
        self._months = months
        self._behind = behind

    def _month_name(self, place: int) -> Part | None:
        """Read May, May 2026, next May."""
        at, step = self._qualifier(place)
        number = MONTHS.get(self._lower(at))
        if number is None:
            return None
        dot = self._skip(at + 1, ".", ",")
        year = self._year_number(self._skip(dot, "of")) if step is None else None
        year = self._counted_year(at + 1) if year is None and step is None else year
        if year is not None:
            return Part(year[0], month(year[1] * 12 + number - 1), "month")
        index = self._here.year * 12 + number - 1
        now = month_index(self._today)
        if step is None and self._is(at + 1, "after") and self._is(at + 2, "next"):
            return Part(at + 3, month(index + 12 + 12 * (index <= now)), "month")
        if step == -1:
            index -= 12 * (index >= now)
        elif step == 1:
            index += 12 * (index <= now)
        else:
            index += 12 * (index < now)
        sure = step is not None or self._lower(at) not in UNSURE
        sure = sure or self._is(place - 1, "in", "since", "until", "of", "by", "during")
        # "This may be" asks for a capital.
        sure = sure and self._written(at) not in ("may", "march")
        found = self._months.get(self._lexemes[at].end) if step is None else None
        found = found or month(index)
        return Part(at + 1, found, "month", open=True, sure=sure, kind="guarded")

    def _counted_year(self, place: int) -> tuple[int, int] | None:
        """Read the year of "in five years", "six years ago", "a year from now"."""
        inside = self._is(place, "in")
        counted = self._number(place + inside)
        if counted is None or not self._is(counted[0], "year", "years"):
            return None
        right, count = counted[0] + 1, counted[1]
        if self._is(right, "ago", "back"):
            return right + 1, self._here.year - count
        if self._is(right, "hence"):
            return right + 1, self._here.year + count
        if self._is(right, "from") and self._is(right + 1, "now"):
            return right + 2, self._here.year + count
        return (right, self._here.year + count) if inside else None

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
        for words, step in ((LAST, -1), (NEXT, 1), (THIS, 0)):
            if lower in words:
                return at + 1, step
        return place, None

    def _unit(self, place: int) -> Part | None:
        """Read this week, last 3 months, two upcoming years; not how long something lasts."""
        at = self._skip(place, "the", "in")
        lasting = self._is(place - 1, *_LASTING) or self._is(place - 2, *_LASTING)
        counted = self._count_of_units(at)
        if counted is not None and self._lower(counted[0]) in NEXT:
            at, step, count = counted[0] + 1, 1, counted[1]
        elif self._lower(at) in _QUALIFIERS or self._is(at, "all"):
            step = -1 if self._lower(at) in LAST else 1 if self._lower(at) in NEXT else 0
            after = self._count_of_units(at + 1)
            if step == 1 and self._is(at + 1, "few") and self._is(at + 2, "days", "weeks"):
                after = at + 2, _FEW
            at, count = (at + 1, 0) if after is None else after
        else:
            return self._bare_unit(place)
        word = self._lower(at).removesuffix("'s")
        unit = UNITS.get(word)
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
        if weekday is not None and self._lower(at + 1) not in SHORT_WORDS:
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
        unit = UNITS.get(self._lower(at))
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
        if lower.isdecimal() and len(lower) == 2 and self._is(at + 1, "q"):
            which, close = self._lower(at + 2), self._lexemes[at + 1 : at + 3]
            if which in ("1", "2", "3", "4") and not any(each.spaced for each in close):
                found = month((2000 + int(lower)) * 12 + 3 * (int(which) - 1), 3)
                return Part(at + 3, found, "quarter")
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
