"""Dates said in words, resolved to days against the local date of the message.

Weeks begin on Monday. Seasons are the northern meteorological ones (summer is June to August).
What is vague ("a few days ago"), recurring ("every Friday") or a duration ("over the last week") is
left alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from datetime import date
from typing import NamedTuple

from msgspec import Struct

from projections.text.addresses import AddressSpan, addresses
from projections.text.calendar_days import (
    LAST_ORDINAL,
    calendar_unit,
    clip,
    day_of,
    season_of,
    week_of,
    year_days,
)
from projections.text.calendar_days import month as month_days
from projections.text.date_grammar import Reading, readings
from projections.text.date_lexemes import Kind
from projections.text.lexicon import (
    BE_PRESENT,
    COUNTS,
    DAY_WORDS,
    FUTURE,
    MONTHS,
    NOT_PAST,
    ORDINALS,
    PAST,
    SEASONS,
    WEEKDAYS,
    word_set,
)
from projections.text.tokenizer import Tokens, bare, tokenise

_UNIX_EPOCH = date(1970, 1, 1).toordinal()
_DAY_MS = 86_400_000

_UNITS = {
    name: unit
    for unit, names in {
        "hour": "minute minutes min mins hour hours hr hrs",
        "day": "day days",
        "week": "week weeks wk wks",
        "month": "month months",
        "year": "year years yr yrs",
    }.items()
    for name in names.split()
}
_CALENDAR_UNITS = frozenset({"week", "month", "year", "weekend", "quarter"})
_DAYTIMES = frozenset({"morning", "afternoon", "evening", "night"})
_PLURAL_DAYTIMES = frozenset({"mornings", "afternoons", "evenings", "nights"})
_RECURRING = frozenset({"every", "each", "most", "some", "any", "all", "many", "alternate"})
#: "A Monday lockout", "the Monday physio", "that Friday", "the first Monday": no certain day.
_UNCERTAIN_DAY = frozenset({"a", "an", "the", "that", "these", "those"}) | frozenset(ORDINALS)
_NAMED_DAYS = frozenset({"black", "good", "ash", "cyber", "easter", "palm", "boxing", "shrove"})
#: What follows one of these is another clause.
_CONTRAST = frozenset({"but", "because", "although", "though", "so", "whereas", "while"})
_RANGE_WORDS = frozenset({"to", "through", "thru", "till"})
_MONTH_OPENERS = word_set(
    """in since until till during through around early late mid last this next of by before
    after"""
)
_YEAR_OPENERS = word_set(
    "in since until till during of by from before after around circa summer spring autumn fall "
    "winter early late mid"
)
#: Month names that are also words or given names: alone they need an opener, and the first two
#: also a capital.
_UNSURE_MONTHS = frozenset({"may", "march", "april", "june", "august", "jan", "mar", "sep", "dec"})
_SHORT_DAYS = frozenset({"mon", "tue", "tues", "wed", "thu", "thur", "thurs", "fri", "sat", "sun"})
_DAY_OPENERS = frozenset({"on", "by", "until", "till", "since", "this", "last", "next"})
_AFTER_DAY_OF_MONTH = word_set(
    "at and with for but so we i because when if to or as then it he she they will was is not "
    "instead from"
)
_DAY_OF_MONTH_OPENERS = frozenset({"on", "by", "until", "till", "since", "from", "to"})
#: After "11 to 22 may" one of these shows that the month is meant.
_AFTER_LOWER_MAY = word_set("at and with for but so we i because when if to or as then in from")

# Rescheduling: "moved to Monday" says when it will be, whenever it was moved.
_RESCHEDULING = frozenset(
    stem + ending
    for stems, endings in (
        ("slip", ("", "s", "ped", "ping")),
        ("push shift delay bump extend prolong defer adjourn switch", ("", "s", "ed", "ing")),
        ("mov reschedul postpon rearrang chang advanc", ("e", "es", "ed", "ing")),
        ("defer", ("red", "ring")),
        ("switch push", ("es",)),
        ("rebook", ("", "s", "ed", "ing")),
    )
    for stem in stems.split()
    for ending in endings
)
#: These reschedule only together with a word of direction ("brought forward", "put off").
_RESCHEDULING_PAIRED = word_set(
    "bring brings brought bringing put puts putting pull pulls pulled set"
)
_RESCHEDULING_WAYS = frozenset({"forward", "forwards", "back", "off", "up", "out", "in"})
#: Between "to" and the day.
_ABOUT = frozenset({"the", "around", "about", "approximately", "roughly", "early", "late", "mid"})
#: Before a day that tells when something was moved, not where to.
_WHEN = word_set("on in since at during after before by last this around over")
_PLANNED = word_set("scheduled planned booked rescheduled arranged slated postponed set confirmed")
#: With one of these a past form tells of a plan, whose day may be ahead.
_PLAN_WORDS = word_set("deadline due supposed originally scheduled planned expected slated target")
#: "We stayed until Sunday" is over; "the office closed until Monday" is not.
_LASTED = word_set("was were stayed waited worked lasted had ran lived slept kept sat")
#: The clause is surely, or perhaps, in the past. A future clause is 1, an unknown one 0.
_SURELY, _PERHAPS = -2, -1
#: How far a weekday with a day of the month may lie, alone and with its month.
_NEAR, _NEAR_IN_MONTH = 62, 190
#: A year's day that far back is not meant where the past is only likely.
_LONG_AGO = 150
_STATED_YEAR = re.compile(r"\d{4}")

_WORD_TRIGGERS = (
    frozenset(DAY_WORDS)
    | frozenset(MONTHS)
    | frozenset(WEEKDAYS)
    | frozenset(SEASONS)
    | {"ago", "now", "last", "next", "this", "in", "day", "week", "month", "year", "weekend"}
    | {"mid-" + month for month in MONTHS}
)
#: A word that can be part of a date reference.
TRIGGERS = _WORD_TRIGGERS | {word + "'s" for word in _WORD_TRIGGERS}
_DIGITS = frozenset("0123456789")


class DateReference(Struct, frozen=True):
    """A stretch of text that means the days from `first` to `last` (ISO dates, both included)."""

    start: int
    end: int
    text: str
    first: str
    last: str


class Found(NamedTuple):
    """A reference by token indices (last one excluded) and ordinal days (last one included)."""

    left: int
    right: int
    first: int
    last: int
    relative: bool  # the text alone does not say which days: it lacks the year, or more

    @property
    def known(self) -> bool:
        """False for a weekday with a day of the month that agree in no near month."""
        return self.first > 0


def date_references(
    text: str, *, at_ms: int, utc_offset_minutes: int = 0, every: bool = False
) -> list[DateReference]:
    """Return the date references of `text`, written at `at_ms` (unix milliseconds).

    With `every` also what is less certain: a time of the day, for the day of the message; "the
    15th", "5/7/2026"; and two weeks ago is that day, not its week.
    """
    tokens = tokenise(text)
    today = local_day(at_ms, utc_offset_minutes)
    found = find_dates(tokens, today, addresses(text), every=every)
    return [as_reference(tokens, item) for item in found]


def local_day(at_ms: int, utc_offset_minutes: int) -> int:
    """The ordinal of the local date at that moment, within the years 1 to 9999."""
    return clip((at_ms + utc_offset_minutes * 60_000) // _DAY_MS + _UNIX_EPOCH)


def as_reference(tokens: Tokens, found: Found) -> DateReference:
    """Return a date that was found, with its offsets; the "'s" of a genitive is left out."""
    start = tokens.starts[found.left]
    end = tokens.ends[found.right - 1]
    if tokens.lowers[found.right - 1].endswith("'s"):
        end -= 2
    return DateReference(
        start,
        end,
        tokens.text[start:end],
        date.fromordinal(found.first).isoformat(),
        date.fromordinal(found.last).isoformat(),
    )


def find_dates(
    tokens: Tokens, today: int, places: list[AddressSpan], *, every: bool = False
) -> list[Found]:
    """Return the references outside of `places`, in order and without overlap.

    `every` is that of `date_references`.
    """
    found: list[Found] = []
    used = 0  # tokens before this index belong to the reference found last
    near: Found | None = None  # the last certain day
    for index, lower in enumerate(tokens.lowers):
        if index < used:
            continue
        if lower[0] in _DIGITS:
            item = _at_number(tokens, index, today)
        elif lower in TRIGGERS:
            item = _at_word(tokens, index, today)
        else:
            continue
        if item is None or item.left < used:
            continue
        used = item.right
        if item.known:
            item = _near(tokens, item, near)
            found.append(item)
            if item.first == item.last:
                near = item
    found = _with_composed(tokens, found, today, every=every)
    if places:
        found = [item for item in found if not _is_inside(tokens, item, places)]
    return found


def _with_composed(tokens: Tokens, found: list[Found], today: int, *, every: bool) -> list[Found]:
    """Add what is put together from several parts, in place of the parts.

    A plain date is left to the rules here, which know the tense and what is no certain day, where
    they have read it.
    """
    added: list[Found] = []
    replaced: set[Found] = set()
    rights = [item.right for item in found]
    for reading in _composed(tokens, today):
        left = bisect_left(tokens.starts, reading.start)
        right = bisect_left(tokens.starts, reading.end)
        parts = found[bisect_right(rights, left) : bisect_left(found, (right,))]
        if left >= right or any(item.left < left or item.right > right for item in parts):
            continue
        # A text of nothing but a date has no tense that other rules could know better.
        alone = every and right - left == len(tokens.words)
        if not _is_wanted(reading.kind, parts, alone=alone, every=every):
            continue
        if len(parts) > 1 and _is_rescheduled(tokens, left):
            # "Moved from Monday to Wednesday" names two days and no span.
            continue
        first, length = reading.first, reading.last - reading.first
        if parts and reading.kind == "plain" and not alone:
            if parts[0].last - parts[0].first >= length:
                continue
            if parts[0].left == left and _is_day_of(parts[0].first, reading.first):
                first = parts[0].first
            elif _is_day_of(parts[-1].last, reading.last):
                first = parts[-1].last - length  # "the 13th to the 15th of July"
            else:
                continue
        replaced.update(parts)
        stated = _states_year(tokens, reading)
        added.append(Found(left, right, first, clip(first + length), not stated))
    return sorted([*(item for item in found if item not in replaced), *added])


def _composed(tokens: Tokens, today: int) -> list[Reading]:
    """Return what is put together from parts, each month without a year in the year it means."""
    found = readings(tokens.text, today, {})
    months: dict[int, tuple[int, int]] = {}
    for reading in found:
        if reading.kind != "composed" or _states_year(tokens, reading):
            continue
        left = bisect_left(tokens.starts, reading.start)
        right = bisect_left(tokens.starts, reading.end)
        for index in range(left, right):
            name = bare(tokens.lowers[index]).removeprefix("mid-")
            if name in MONTHS:
                direction = _direction(tokens, left, right)
                months[tokens.ends[index]] = _month_by_tense(MONTHS[name], today, direction)
    return readings(tokens.text, today, months) if months else found


def _states_year(tokens: Tokens, reading: Reading) -> bool:
    return _STATED_YEAR.search(tokens.text, reading.start, reading.end) is not None


def _month_by_tense(month: int, today: int, direction: int) -> tuple[int, int]:
    """Return the days of the month that the tense means, or of the nearest."""
    here = date.fromordinal(today)
    spans = [
        month_days(year * 12 + month - 1) for year in range(max(here.year - 1, 1), here.year + 2)
    ]
    return _choose_or_nearest(spans, today, direction)


def _is_day_of(day: int, other: int) -> bool:
    """Whether two days are the same of the same month, in whatever year."""
    read, own = date.fromordinal(day), date.fromordinal(other)
    return (read.month, read.day) == (own.month, own.day)


def _is_wanted(kind: Kind, parts: list[Found], *, alone: bool, every: bool) -> bool:
    """Whether a reading counts, in place of the parts of it that were found, if any."""
    if kind == "time":
        return every and not parts
    if kind == "guarded":
        return every and (alone or not parts)
    return kind != "counted" or every or not parts


def _near(tokens: Tokens, item: Found, day: Found | None) -> Found:
    """Put "the 18th" next to the day that the same sentence named just before."""
    if day is None or item.right - item.left != 2 or _day_ordinal(_word(tokens, item.left + 1)) < 1:
        return item
    if tokens.lowers[item.left] != "the":
        return item
    between = tokens.text[tokens.ends[day.right - 1] : tokens.starts[item.left]]
    if len(between) > 120 or any(mark in ".!?\n" for mark in between):
        return item
    days = _days_of_month(day.first, _day_ordinal(tokens.lowers[item.left + 1]))
    if not days:
        return item
    nearest = min(days, key=lambda ordinal: abs(ordinal - day.first))
    return item._replace(first=nearest, last=nearest)


def _is_inside(tokens: Tokens, item: Found, places: list[AddressSpan]) -> bool:
    """Whether the reference touches an address."""
    at = bisect_left(places, (tokens.ends[item.right - 1],)) - 1
    return at >= 0 and places[at][1] > tokens.starts[item.left]


# Reading the words around a place.


def _joined(tokens: Tokens, index: int, allowed: str = "") -> bool:
    """Whether only a little white space (and `allowed`) stands between `index` and the next."""
    if not 0 <= index < len(tokens.words) - 1:
        return False
    gap = tokens.gap(index)
    return len(gap) <= 4 and not gap.strip(" \t\n\r" + allowed)


def _word(tokens: Tokens, index: int) -> str:
    return tokens.lowers[index] if 0 <= index < len(tokens.lowers) else ""


def _before(tokens: Tokens, index: int) -> str:
    """The word just before, within the same phrase."""
    return tokens.lowers[index - 1] if index > 0 and _joined(tokens, index - 1) else ""


def _after(tokens: Tokens, index: int) -> str:
    return tokens.lowers[index + 1] if _joined(tokens, index) else ""


def _count(tokens: Tokens, index: int) -> int | None:
    """The number that token `index` says, up to 9999."""
    lower = _word(tokens, index)
    if lower.isdecimal() and len(lower) <= 4:
        return int(lower)
    return COUNTS.get(lower)


def _day_number(lower: str) -> int | None:
    """The day of a month: 3, 3rd, 21st."""
    digits = lower[:-2] if lower[-2:] in ("st", "nd", "rd", "th") else lower
    if digits.isdecimal() and len(digits) <= 2 and 1 <= int(digits) <= 31:
        return int(digits)
    return None


def _day_ordinal(lower: str) -> int:
    """The day of a month said as an ordinal (3rd, third), or 0."""
    if lower[-2:] in ("st", "nd", "rd", "th") and lower[:1] in _DIGITS:
        return _day_number(lower) or 0
    return ORDINALS.get(lower, 0)


def _year_number(lower: str) -> int | None:
    if len(lower) == 4 and lower.isdecimal() and 1000 <= int(lower) <= 2199:
        return int(lower)
    return None


def _direction(tokens: Tokens, left: int, right: int) -> int:
    """Negative if the clause around speaks of the past, 1 of the future, 0 if it does not say.

    The nearest verb before the reference decides, else the nearest after it.
    """
    lowers = tokens.lowers
    before = "" if lowers[left].endswith("'s") else _before(tokens, left)
    goal = _goal(tokens, left)
    apart = False  # a comma stands between
    for index in range(left - 1, max(left - 15, -1), -1):
        gap = tokens.gap(index)
        if any(mark in ".!?\n" for mark in gap):
            break
        lower = lowers[index]
        if goal and (lower in _RESCHEDULING or _moves_with(lowers, index, left)):
            return 1
        if before == "for" and lower in _PLANNED:
            again = lower in _RESCHEDULING
            was = _word(tokens, index - 1) in ("was", "were", "been")
            return _PERHAPS if was and not again else 1
        if (
            before in ("until", "till", "til")
            and lower not in _LASTED
            and _tense(lowers, index) < 0
        ):
            return 1
        apart = apart or "," in gap
        if lower in BE_PRESENT:
            return 0
        tense = _tense(lowers, index)
        if tense < 0 and lower in _RESCHEDULING and before not in _WHEN | {lower}:
            return 0  # "moved the talk of Monday": the day it was to be
        if tense < 0 and (apart or _is_plan(lowers, index, left)):
            return _PERHAPS
        if tense:
            return tense
    for index in range(right, min(right + 11, len(lowers))):
        gap = tokens.gap(index - 1)
        if any(mark in ".!?\n" for mark in gap) or lowers[index] in _CONTRAST:
            break
        if lowers[index] == "got" and gap != " " and _word(tokens, index + 1) in ("it", "that"):
            break  # "Monday, got it."
        if tense := _tense(lowers, index):
            return tense
    return 0


def _goal(tokens: Tokens, left: int) -> bool:
    """Whether "to" or "until" leads to the reference."""
    at = left - 1
    while at > left - 4 and _word(tokens, at) in _ABOUT:
        at -= 1
    return _word(tokens, at) in ("to", "until", "till", "til")


def _moves_with(lowers: list[str], index: int, left: int) -> bool:
    """Brought forward, put off."""
    return lowers[index] in _RESCHEDULING_PAIRED and not _RESCHEDULING_WAYS.isdisjoint(
        lowers[index + 1 : left]
    )


def _is_plan(lowers: list[str], index: int, left: int) -> bool:
    return not _PLAN_WORDS.isdisjoint(lowers[max(index - 6, 0) : left])


def _tense(lowers: list[str], index: int) -> int:
    lower = lowers[index]
    if lower in FUTURE or lower.endswith("'ll"):
        return 1
    if lower in PAST:
        return 0 if _is_passive(lowers, index) else _SURELY
    if lower.endswith("ed") and len(lower) > 3 and lower not in NOT_PAST:
        return 0 if _is_passive(lowers, index) else _SURELY
    if lower.endswith("ing") and index and lowers[index - 1] in BE_PRESENT:
        return 1
    return 0


def _is_passive(lowers: list[str], index: int) -> bool:
    """Is closed, to be returned, will be officially opened: the auxiliary says when."""
    at = index - 1
    if at > 0 and (
        lowers[at] in ("now", "also", "only", "still", "not") or lowers[at][-2:] == "ly"
    ):
        at -= 1
    return at >= 0 and (lowers[at] in ("be", "get", "being") or lowers[at] in BE_PRESENT)


def _choose(candidates: list[tuple[int, int]], today: int, direction: int) -> tuple[int, int]:
    """Of spans in time order: the last begun, the first not over, or the nearest."""
    if direction < 0:
        begun = [span for span in candidates if span[0] <= today][-1]
        if direction == _SURELY or begun[1] >= today - _LONG_AGO:
            return begun
        direction = 0
    if direction > 0:
        return next(span for span in candidates if span[1] >= today)
    return min(candidates, key=lambda span: max(span[0] - today, today - span[1], 0))


# One function for each kind of place at which a reference can be recognised.


def _at_word(tokens: Tokens, index: int, today: int) -> Found | None:
    lower = bare(tokens.lowers[index])
    if lower in DAY_WORDS:
        day = clip(today + DAY_WORDS[lower])
        return Found(index, index + 1, day, day, True)
    if lower == "ago":
        return _ago(tokens, index, today)
    if lower in ("last", "next", "this"):
        return _qualified(tokens, index, today, lower)
    if lower == "in":
        return _in(tokens, index, today)
    if lower == "now":
        return _from_now(tokens, index, today)
    if lower == "weekend":
        return _weekend(tokens, index, today)
    if lower in WEEKDAYS:
        return _weekday(tokens, index, today)
    if lower in SEASONS:
        return _season_with_year(tokens, index)
    if lower in MONTHS or lower.startswith("mid-"):
        return _month_name(tokens, index, today)
    return _unit_before(tokens, index, today, lower)


def _ago(tokens: Tokens, index: int, today: int) -> Found | None:
    """Two weeks ago, a year ago."""
    unit = _UNITS.get(_before(tokens, index))
    count = _count(tokens, index - 2) if unit and _before(tokens, index - 1) else None
    if unit is None or count is None:
        return None
    span = calendar_unit(unit, -count, today)
    return Found(index - 2, index + 1, *span, True) if span else None


def _from_now(tokens: Tokens, index: int, today: int) -> Found | None:
    """Two weeks from now."""
    if _before(tokens, index) != "from":
        return None
    unit = _UNITS.get(_before(tokens, index - 1))
    count = _count(tokens, index - 3) if unit and _before(tokens, index - 2) else None
    span = calendar_unit(unit, count, today) if unit and count is not None else None
    return Found(index - 3, index + 1, *span, True) if span else None


def _in(tokens: Tokens, index: int, today: int) -> Found | None:
    """In two weeks; in May and in 2016 are found at the month and the year."""
    count = _count(tokens, index + 1) if _joined(tokens, index) else None
    unit = _UNITS.get(bare(_after(tokens, index + 1))) if count is not None else None
    if unit is None or count is None or _after(tokens, index + 2) in ("of", "ago"):
        return None
    # "I read it in two days" says how long, not when.
    if _direction(tokens, index, index + 3) < 0:
        return None
    span = calendar_unit(unit, count, today)
    return Found(index, index + 3, *span, True) if span else None


def _qualified(tokens: Tokens, index: int, today: int, which: str) -> Found | None:
    """Last Friday, next month, this summer, this past weekend."""
    head = index + 1
    step = {"last": -1, "this": 0, "next": 1}[which]
    word = bare(_after(tokens, index))
    if word in ("past", "coming") and which == "this":
        step = -1 if word == "past" else 1
        which = word
        word = bare(_after(tokens, head))
        head += 1
    if not word:
        return None
    before = _before(tokens, index)
    if word in _DAYTIMES:
        if which == "this" or (which == "last" and word in ("night", "evening")):
            return _day(index, head, today + step)
        return None
    if word in _CALENDAR_UNITS:
        # "Over the last week" is a duration, "the next week" counts from another day.
        if before in ("the", "a", "these") and word != "weekend" and which in ("last", "next"):
            return None
        if _after(tokens, head) == "of":
            return None
        return _unit(tokens, index, head, today, word, step, which)
    if word in WEEKDAYS:
        dated = _weekday_and_day(tokens, head, WEEKDAYS[word], today)
        if dated is not None:
            return dated._replace(left=index)
        return _day(index, head, _weekday_of(WEEKDAYS[word], today, which, tokens, index, head))
    if word in MONTHS and (len(word) > 3 or word == "may") and which != "coming":
        if word in ("may", "march") and tokens.words[head].islower():
            return None
        if _day_number(_after(tokens, head)) is not None:
            return None
        here = date.fromordinal(today)
        year = _qualified_year(here.year, here.month, MONTHS[word], step)
        return Found(index, head + 1, *month_days(year * 12 + MONTHS[word] - 1), True)
    if word in SEASONS:
        return _qualified_season(index, head, today, SEASONS[word], step)
    return None


def _day(left: int, last_token: int, ordinal: int) -> Found:
    day = clip(ordinal)
    return Found(left, last_token + 1, day, day, True)


def _unit(
    tokens: Tokens, left: int, head: int, today: int, unit: str, step: int, which: str
) -> Found | None:
    if unit == "weekend":
        weekday = (today - 1) % 7
        past = _direction(tokens, left, head + 1) < 0
        if which == "last":
            # On a Sunday the weekend that is not over is not the last one.
            step = -1
        elif which == "past":
            step = -1 if weekday < 5 else 0
        elif which == "this" and weekday < 5 and past:
            step = -1
        elif which == "coming":
            step = 0 if weekday < 5 else 1
    span = calendar_unit(unit, step, today)
    return Found(left, head + 1, *span, True) if span else None


def _weekday_of(weekday: int, today: int, which: str, tokens: Tokens, left: int, head: int) -> int:
    ahead = (weekday - (today - 1)) % 7  # 0 if today is that weekday
    if which in ("last", "past"):
        return today - (7 - ahead)
    if which == "next":
        return week_of(today)[0] + 7 + weekday
    if which == "coming":
        return today + (ahead or 7)
    if ahead and _direction(tokens, left, head + 1) < 0:
        return today - (7 - ahead)
    return today + ahead


def _qualified_year(year: int, month: int, wanted: int, step: int) -> int:
    """Last June in July is this year's, in June or before it is the year before's."""
    if step < 0:
        return year if wanted < month else year - 1
    if step > 0:
        return year if wanted > month else year + 1
    return year


def _qualified_season(left: int, head: int, today: int, month: int, step: int) -> Found:
    here = date.fromordinal(today)
    spans = [season_of(month, year) for year in range(here.year - 2, here.year + 3)]
    if step < 0:
        span = [item for item in spans if item[1] < today or item[1] == 1][-1]
    elif step > 0:
        span = next(item for item in spans if item[0] > today or item[1] == LAST_ORDINAL)
    else:
        # January's "this winter" began last year; any other "this" is of the running year.
        began = here.year - 1 if month == 12 and here.month < 3 else here.year
        span = season_of(month, began)
    return Found(left, head + 1, *span, True)


def _weekend(tokens: Tokens, index: int, today: int) -> Found | None:
    """Over the weekend: the one just gone in a past clause, the one to come in a future one."""
    if _before(tokens, index) != "the":
        return None
    direction = _direction(tokens, index - 1, index + 1)
    if direction == 0 or _after(tokens, index) in ("of", "before", "after"):
        return None
    weekday = (today - 1) % 7
    span = calendar_unit("weekend", -1 if direction < 0 and weekday < 5 else 0, today)
    return Found(index - 1, index + 1, *span, True) if span else None


def _weekday(tokens: Tokens, index: int, today: int) -> Found | None:
    """Friday, on Friday, Friday 8 May; not every Friday, Monday to Friday, Black Friday."""
    word = tokens.lowers[index]
    weekday = WEEKDAYS[bare(word)]
    before = _before(tokens, index)
    dated = _weekday_and_day(tokens, index, weekday, today)
    if dated is not None:
        return dated
    if before in _RECURRING or before in _NAMED_DAYS or before in _UNCERTAIN_DAY:
        return None
    if word in _SHORT_DAYS and before not in _DAY_OPENERS:
        return None
    after = _after(tokens, index)
    if after in _PLURAL_DAYTIMES or (after in ("in", "of") and _word(tokens, index + 2) in MONTHS):
        return None
    ranged = (after in _RANGE_WORDS and bare(_word(tokens, index + 2)) in WEEKDAYS) or (
        before in _RANGE_WORDS and bare(_word(tokens, index - 2)) in WEEKDAYS
    )
    if ranged and not _is_rescheduled(tokens, index):
        return None
    ahead_days = (weekday - (today - 1)) % 7
    direction = _direction(tokens, index, index + 1)
    if direction < 0:
        day = today - (7 - ahead_days)
    elif direction > 0:
        day = today + (ahead_days or 7)
    else:
        day = today + ahead_days
    return _day(index, index, day)


def _weekday_and_day(tokens: Tokens, index: int, weekday: int, today: int) -> Found | None:
    """Friday 8 May, Friday the 8th, Fri 8th: the near day that both agree with.

    Where they agree in none, the reference is one that is not known.
    """
    if not _joined(tokens, index, ",.(") or index + 1 >= len(tokens.lowers):
        return None
    ahead = index + 1
    if _word(tokens, ahead) == "the" and _joined(tokens, ahead):
        ahead += 1
    following = _word(tokens, ahead)
    if len(following) >= 8 and following[0] in _DIGITS and (whole := _whole_date(following)):
        return Found(index, ahead + 1, whole, whole, False)
    dated = _day_and_month(tokens, ahead, today)
    if dated is None and bare(_word(tokens, ahead)) in MONTHS:
        dated = _month_name(tokens, ahead, today)
        if dated is not None and dated.right - dated.left == 1:
            return None  # "Friday May": no day
    if dated is not None:
        if dated.first != dated.last or not dated.known:
            return None
        dated = dated._replace(left=index)
        if not dated.relative:
            return dated
        here = date.fromordinal(dated.first)
        year = date.fromordinal(today).year
        near = (day_of(other, here.month, here.day) for other in (year - 1, year, year + 1))
        days = [day for day in near if day is not None]
        return _agreeing(tokens, dated, days, weekday, today, _NEAR_IN_MONTH)
    day = _day_ordinal(_word(tokens, ahead))
    if not day or (_word(tokens, ahead)[0] not in _DIGITS and ahead == index + 1):
        return None
    after = _after(tokens, ahead)
    # "We sat 3rd", "Monday the second shift".
    unsure = _word(tokens, ahead)[0] not in _DIGITS or tokens.lowers[index] in _SHORT_DAYS
    if unsure and after and after not in _AFTER_DAY_OF_MONTH and after[0] not in _DIGITS:
        return None
    both = Found(index, ahead + 1, 0, 0, True)
    if after == "of":
        # Of a month that has no such day, or of something else.
        return both._replace(right=ahead + 3) if _word(tokens, ahead + 2) in MONTHS else both
    return _agreeing(tokens, both, _days_of_month(today, day), weekday, today, _NEAR)


def _agreeing(
    tokens: Tokens, item: Found, days: list[int], weekday: int, today: int, reach: int
) -> Found:
    """`item` as the one of `days` that is this weekday, near, and fits the tense best."""
    direction = _direction(tokens, item.left, item.right)
    far = 366 if direction and reach == _NEAR_IN_MONTH else reach
    spans = [(day, day) for day in days if (day - 1) % 7 == weekday and abs(day - today) <= far]
    if not spans:
        return item._replace(first=0, last=0)
    coming = [span for span in spans if today <= span[0] <= today + 31]
    if direction == 0 and coming:
        return item._replace(first=coming[0][0], last=coming[0][0])
    day = _choose_or_nearest(spans, today, direction)[0]
    return item._replace(first=day, last=day)


def _days_of_month(around: int, day: int) -> list[int]:
    """The days with that number, from three months before `around` to three after."""
    here = date.fromordinal(around)
    days = []
    for month in range(here.year * 12 + here.month - 4, here.year * 12 + here.month + 3):
        ordinal = day_of(month // 12, month % 12 + 1, day) if 12 <= month < 120_000 else None
        if ordinal is not None:
            days.append(ordinal)
    return days


def _season_with_year(tokens: Tokens, index: int) -> Found | None:
    """Summer 2022, the summer of 2022; a season alone says no year."""
    right = index + 1
    if _after(tokens, index) == "of":
        right += 1
    year = _year_number(_word(tokens, right)) if _joined(tokens, right - 1) else None
    if year is None:
        return None
    month = SEASONS.get(tokens.lowers[index], 0)
    return Found(index, right + 1, *season_of(month, year), False) if month else None


def _unit_before(tokens: Tokens, index: int, today: int, unit: str) -> Found | None:
    """The day before yesterday, the day after tomorrow, the week before last."""
    side = _after(tokens, index)
    anchor = bare(_after(tokens, index + 1)) if side in ("before", "after") else ""
    left = index - 1 if _before(tokens, index) == "the" else index
    if unit == "day" and (side, anchor) in (("before", "yesterday"), ("after", "tomorrow")):
        return _day(left, index + 2, today + (2 if side == "after" else -2))
    if unit != "day" and (side, anchor) in (("before", "last"), ("after", "next")):
        span = calendar_unit(unit, 2 if side == "after" else -2, today)
        following = _after(tokens, index + 2)
        # "The week before last Christmas" is about Christmas.
        if span and (not following or following not in TRIGGERS):
            return Found(left, index + 3, *span, True)
    return None


def _month_name(tokens: Tokens, index: int, today: int) -> Found | None:
    """May 3, May 3-5, May 3rd, 2026, May 2026, in May, mid-June."""
    word = bare(tokens.lowers[index])
    name = word.removeprefix("mid-")
    month = MONTHS[name]
    if _joined(tokens, index, "."):
        following = _word(tokens, index + 1)
        year = _year_number(following)
        if year is not None:
            return Found(index, index + 2, *month_days(year * 12 + month - 1), False)
        if following == "of" and _joined(tokens, index + 1):
            year = _year_number(_word(tokens, index + 2))
            if year is not None:
                return Found(index, index + 3, *month_days(year * 12 + month - 1), False)
        if name not in ("may", "march") or tokens.words[index][0].isupper():
            dated = _month_then_day(tokens, index, month, today)
            if dated is not None:
                return dated
    before = _before(tokens, index)
    if before == "of" and (day := ORDINALS.get(_before(tokens, index - 1), 0)):
        left = index - 3 if _before(tokens, index - 2) == "the" else index - 2
        return _yearless(tokens, left, index + 1, month, day, day, today)
    if word.startswith("mid-"):
        before = "mid"
    if before not in _MONTH_OPENERS:
        return None
    if name in ("may", "march") and tokens.words[index].islower():
        if before not in ("in", "since", "until", "of"):
            return None
    elif name in _UNSURE_MONTHS and before in ("by", "before", "after", "of", "around", "this"):
        return None
    span = _month_by_tense(month, today, _direction(tokens, index, index + 1))
    return Found(index, index + 1, *span, True)


def _choose_or_nearest(spans: list[tuple[int, int]], today: int, direction: int) -> tuple[int, int]:
    """`_choose`, or the nearest where the calendar ends before a fitting one."""
    fits = (direction < 0 and spans[0][0] > today) or (direction > 0 and spans[-1][1] < today)
    return _choose(spans, today, 0 if fits else direction)


def _month_then_day(tokens: Tokens, index: int, month: int, today: int) -> Found | None:
    following = _word(tokens, index + 1)
    first_text, _, last_text = following.partition("-")
    first = _day_number(first_text)
    if first is None:
        return None
    last = _day_number(last_text) if last_text else first
    if last is None or last < first:
        return None
    right = index + 2
    year = _year_number(_word(tokens, right)) if _joined(tokens, right - 1, ",") else None
    if year is not None:
        return _dated(index, right + 1, year, month, first, last)
    return _yearless(tokens, index, right, month, first, last, today)


def _dated(left: int, right: int, year: int, month: int, first: int, last: int) -> Found | None:
    first_day = day_of(year, month, first)
    last_day = day_of(year, month, last)
    if first_day is None or last_day is None:
        return None
    return Found(left, right, first_day, last_day, False)


def _yearless(
    tokens: Tokens, left: int, right: int, month: int, first: int, last: int, today: int
) -> Found | None:
    here = date.fromordinal(today).year
    # Eight years either way reach the next 29 February, whatever the century.
    reach = 8 if (month, last) == (2, 29) else 1
    spans = []
    for year in range(max(here - reach, 1), min(here + reach, 9999) + 1):
        first_day, last_day = day_of(year, month, first), day_of(year, month, last)
        if first_day is not None and last_day is not None:
            spans.append((first_day, last_day))
    if not spans:
        return None
    span = _choose_or_nearest(spans, today, _direction(tokens, left, right))
    return Found(left, right, *span, True)


def _at_number(tokens: Tokens, index: int, today: int) -> Found | None:
    lower = _word(tokens, index)
    if not lower or lower[0] not in _DIGITS:
        return None
    if len(lower) >= 8 and (whole := _whole_date(lower)) is not None:
        return Found(index, index + 1, whole, whole, False)
    year = _year_number(lower)
    if year is not None:
        if _before(tokens, index) in _YEAR_OPENERS and _after(tokens, index) not in _UNITS:
            return Found(index, index + 1, *year_days(year), False)
        return None
    dated = _day_and_month(tokens, index, today)
    if dated is not None:
        return dated
    day = _day_number(lower)
    return None if day is None else _day_of_month(tokens, index, today, lower, day)


def _day_and_month(tokens: Tokens, index: int, today: int) -> Found | None:
    """3 May, 3rd of May 1990, 3-5 May, 3 to 5 May."""
    lower = _word(tokens, index)
    if not lower or lower[0] not in _DIGITS:
        return None
    first_text, _, last_text = lower.partition("-")
    first = _day_number(first_text)
    last = _day_number(last_text) if last_text else first
    end = index
    if not last_text and (later := _range_end(tokens, index)) is not None:
        end, last = later
    if first is None or last is None or last < first:
        return None
    named = end + 1
    if _after(tokens, end) == "of":
        named += 1
    name = bare(_word(tokens, named))
    if name not in MONTHS or not _joined(tokens, named - 1, "."):
        return None
    if name in ("may", "march", "mar") and tokens.words[named].islower():
        after = _after(tokens, named)
        opened = _before(tokens, index) in _DAY_OPENERS | {"from", "to"} | frozenset(WEEKDAYS)
        if not opened or (after and after not in _AFTER_LOWER_MAY):
            return None
    right = named + 1
    year = _year_number(_word(tokens, right)) if _joined(tokens, named, ",.") else None
    if year is not None:
        return _dated(index, right + 1, year, MONTHS[name], first, last)
    return _yearless(tokens, index, right, MONTHS[name], first, last, today)


def _range_end(tokens: Tokens, index: int) -> tuple[int, int] | None:
    """The token and day of the end of "11 to 22 May" or "11–22 May"."""
    end = index + 2 if _after(tokens, index) in _RANGE_WORDS else index + 1
    if end == index + 1 and (end >= len(tokens.words) or tokens.gap(index).strip() != "–"):
        return None
    day = _day_number(_word(tokens, end)) if _word(tokens, end) else None
    return None if day is None or _word(tokens, end)[0] not in _DIGITS else (end, day)


def _day_of_month(tokens: Tokens, index: int, today: int, lower: str, day: int) -> Found | None:
    """On the 15th, where nothing follows that it could count."""
    if lower.isdecimal() or _before(tokens, index) != "the":
        return None
    opener = _before(tokens, index - 1)
    if opener not in _DAY_OF_MONTH_OPENERS:
        return None
    if opener in ("from", "to") and not _is_rescheduled(tokens, index - 1):
        return None
    after = _after(tokens, index)
    if after and after not in _AFTER_DAY_OF_MONTH:
        return None
    spans = [(ordinal, ordinal) for ordinal in _days_of_month(today, day)]
    if not spans:
        return None
    span = _choose_or_nearest(spans, today, _direction(tokens, index - 1, index + 1))
    return Found(index - 1, index + 1, *span, True)


def _is_rescheduled(tokens: Tokens, left: int) -> bool:
    """Whether a verb of rescheduling stands before, in the same sentence."""
    for index in range(left - 1, max(left - 15, -1), -1):
        if any(mark in ".!?\n" for mark in tokens.gap(index)):
            return False
        if tokens.lowers[index] in _RESCHEDULING or _moves_with(tokens.lowers, index, left):
            return True
    return False


def _whole_date(lower: str) -> int | None:
    """2026-05-07, 2026/05/07, 2026-05-07t14:00, 07.05.2026; 5/25/2026 if one part is > 12."""
    if lower[10:11] in ("", "t") and (lower[4:5], lower[7:8]) in (("-", "-"), ("/", "/")):
        parts = lower[:4], lower[5:7], lower[8:10]
        if all(part.isdecimal() for part in parts):
            return day_of(int(parts[0]), int(parts[1]), int(parts[2]))
        return None
    for separator in "./":
        pieces = lower.split(separator)
        if len(pieces) == 3 and all(
            (piece.isdecimal() and len(piece) == width) or (len(piece) == 1 and piece.isdecimal())
            for piece, width in zip(pieces, (2, 2, 4), strict=True)
        ):
            one, two, year = (int(piece) for piece in pieces)
            if separator == "." or one > 12 or one == two:
                return day_of(year, two, one)
            # 5/7/2026 is one day in Boston and another in Berlin: only one reading may be valid.
            return day_of(year, one, two) if two > 12 else None
    return None
