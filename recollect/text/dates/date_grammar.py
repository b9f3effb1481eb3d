"""Dates that are put together from parts: "the third Tuesday after Christmas", "May 4 to June 2".

Each method of the parser tries one rule at a place and returns what it reads there, or None; of
several readings the longest counts. What a text leaves open is settled by conventions: without a
tense the first day that is not past; a weekday that is today is the one in seven days; "next" of a
week, month or year is the calendar's next; two weeks ago is that day; a bare time is on the day of
the message; parts of a month are days 1 to 10, 11 to 20 and from 21 on. What is vague ("a few days
ago") or recurs ("every Friday") is no date.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from recollect.text.dates.calendar_days import (
    Days,
    calendar_unit,
    days,
    month,
    month_index,
    shifted,
    week_of,
)
from recollect.text.dates.counted_days import CountedDays
from recollect.text.dates.date_lexemes import RANGE_WORDS, TENS, Kind, Part
from recollect.text.dates.holiday_names import OPENS_HOLIDAY, WordTest, tells_of_holiday
from recollect.text.dates.periods import LAST, NEXT, THIS, UNITS
from recollect.text.dates.times_of_day import DAYTIMES
from recollect.text.lexicon import (
    DAY_WORDS,
    MONTHS,
    NUMBER_WORDS,
    ORDINALS,
    SEASONS,
    WEEKDAYS,
    word_set,
)
from recollect.text.tokenizer import Tokens

_DIGIT = re.compile(r"\d")
_JOINT = re.compile(r"[-&_]")
_NAMED_TIMES = word_set("noon midday midnight lunch lunchtime eod")
_CLOCK_OPENERS = word_set("at by from until till untill before after around @ about")
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


class Reading(NamedTuple):
    """What stands in a text from character `start` to `end`: the days from `first` to `last`."""

    start: int
    end: int
    first: int
    last: int
    kind: Kind


def readings(
    tokens: Tokens, today: int, months: Mapping[int, Days], behind: Container[int] = ()
) -> list[Reading]:
    """Return what can be read in a text that was written on day `today`, without overlap.

    `months` are the days of months without a year whose year is known, by where their names end;
    where those of holidays without a year end that are past, is in `behind`.
    """
    return list(_Parser(tokens.text, today, months, behind).all()) if tells_dates(tokens) else []


# So many words before the first word that tells a date a reference may begin.
_AHEAD = 5


def tells_dates(tokens: Tokens) -> bool:
    """Whether a text has a number or a word without which there is no date in it."""
    if _DIGIT.search(tokens.text) is not None:
        return True
    lowers = tokens.lowers
    if _JOINT.search(tokens.text) is not None:
        lowers = [part for lower in lowers for part in _JOINT.split(lower)]
    if any(map(_TELLS.__getitem__, lowers)):
        return True
    return not _TELLING_AFTER.keys().isdisjoint(lowers) and any(
        _tells_after(*pair) for pair in pairwise(lowers)
    )


def _tells_after(before: str, lower: str) -> bool:
    return lower in _TELLING_AFTER and before in _TELLING_AFTER[lower]


class _Parser(CountedDays):
    def __init__(
        self, text: str, today: int, months: Mapping[int, Days], behind: Container[int]
    ) -> None:
        super().__init__(text, today, months, behind)
        self._telling = [
            place
            for place, (_, _, lower, _) in enumerate(self._lexemes)
            if _TELLS[lower]
            or (lower in _TELLING_AFTER and _tells_after(self._lower(place - 1), lower))
        ]

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
        if word.lower in _BEGINNINGS:
            return True
        return OPENS_HOLIDAY[word.lower] and self._named_holiday(place) is not None

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
        if any(self._is(at, "following") for at in range(place, found.right)):
            return whole  # "The following quarter" of a story is not the next one from today.
        return found.sure or whole

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
        unit = UNITS.get(self._lower(right))
        if weekday is None and unit not in ("day", "week", "weekend", "quarter", "month"):
            return None
        past = right + 1
        joined = self._skip(past, "of", "in", "the")
        if self._is(past, "after", "before") and weekday is not None and not backwards:
            return self._weekday_after(past, weekday, count)
        if self._is(joined - 1, "the"):
            joined -= 1
        if joined == past and not self._is(joined, *LAST, *NEXT, *THIS):
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
        lower = self._lower(at)
        if lower in ("rest", "remainder") and self._is(at + 1, "of"):
            return self._rest(self._skip(at + 2, "the", "this"))
        short = _SHORT_PARTS.get(lower)
        if short is not None and self._is_short_part(at):
            found = calendar_unit(short[1], 0, self._today)
            return None if found is None else Part(at + 1, _part(found, *short), sure=False)
        which = _PARTS.get(lower)
        if which is None:
            return None
        right = self._skip(at + 1, "-", "of", "in", "around", "about")
        joined = right > at + 1 and self._is(right - 1, "of", "-", "around", "about", "in")
        if lower in ("beginning", "start", "end", "middle") and not joined:
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

    def _rest(self, at: int) -> Part | None:
        """Return the days of the week, month or year from today on."""
        unit = UNITS.get(self._lower(at))
        found = calendar_unit(unit, 0, self._today) if unit in ("week", "month", "year") else None
        return found and Part(at + 1, (self._today, found[1]), unit or "", kind="guarded")

    def _is_short_part(self, at: int) -> bool:
        return self._written(at).isupper()

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
        if date.fromordinal(begin).timetuple()[1:3] == date.fromordinal(end).timetuple()[1:3]:
            # "Waitangi Day - February 6" is one day.
            return first._replace(right=last.right) if last.open else last
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
_TELLING_WORDS = (
    frozenset(DAY_WORDS)
    | frozenset(MONTHS)
    | frozenset(WEEKDAYS)
    | {f"{day}s" for day in WEEKDAYS}
    | frozenset(SEASONS)
    | frozenset(UNITS)
    | frozenset(_SHORT_PARTS)
    | DAYTIMES
    | _NAMED_TIMES
    | word_set("tomorrows now moment pm o'clock oclock q half quarter past p.m a.m p.m. a.m.")
)
_TELLING = _TELLING_WORDS | {f"{word}'s" for word in _TELLING_WORDS}
_TELLS = WordTest(lambda lower: lower in _TELLING or lower.isdecimal() or tells_of_holiday(lower))
# Words that tell a date only after certain others: "after work", "at five am".
_TELLING_AFTER = {
    **dict.fromkeys(("work", "school"), frozenset({"after"})),
    "am": frozenset(NUMBER_WORDS) | frozenset(TENS),
    "m": frozenset({"a", "p", "."}),
}
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
    | LAST
    | NEXT
    | THIS
    | _NAMED_TIMES
    | _CLOCK_OPENERS
    | word_set(
        """the in on a an day week couple pair half quarter between q all over within for now right
        just mid during three morning afternoon evening rest remainder ides"""
    )
)
