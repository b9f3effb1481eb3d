"""Dates said in words, resolved to days against the local date of the message.

Weeks begin on Monday. Seasons are the northern meteorological ones (summer is June to August).
What is vague ("a few days ago"), recurring ("every Friday") or a duration ("over the last week") is
left alone.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from datetime import date

from recollect.text.addresses import AddressSpan, addresses
from recollect.text.dates.calendar_days import clip
from recollect.text.dates.clause_tense import direction_of, is_rescheduled
from recollect.text.dates.clock_times import in_24_hours, is_past
from recollect.text.dates.date_grammar import Reading, readings
from recollect.text.dates.date_lexemes import Kind
from recollect.text.dates.date_tokens import DIGITS, day_ordinal, word_at
from recollect.text.dates.dated_weekdays import with_weekday_after
from recollect.text.dates.days_in_numbers import at_number, days_with_number, month_by_tense
from recollect.text.dates.days_in_words import TRIGGERS, at_word
from recollect.text.dates.found_dates import DateReference, Found, as_reference, local_day
from recollect.text.dates.holiday_names import OPENS_HOLIDAY
from recollect.text.dates.named_days import without_named
from recollect.text.lexicon import MONTHS
from recollect.text.tokenizer import Tokens, bare, tokenise

# Without a tense the month that comes is meant, or one that is over for no more days.
_JUST_OVER = 31
_STATED_YEAR = re.compile(r"\d{4}")


def date_references(
    text: str, *, at_ms: int, utc_offset_minutes: int = 0, every: bool = False
) -> list[DateReference]:
    """Return the date references of `text`, written at `at_ms` (unix milliseconds).

    With `every` also what is less certain: a time of the day, for the day of the message, or the
    next for one that is past and yet to come; "the 15th", "5/7/2026"; and two weeks ago is that
    day, not its week.
    """
    tokens = tokenise(text)
    today = local_day(at_ms, utc_offset_minutes)
    minute = (at_ms // 60_000 + utc_offset_minutes) % 1_440
    found = find_dates(tokens, today, addresses(text), every=every, minute=minute)
    return [as_reference(tokens, item) for item in found]


def find_dates(
    tokens: Tokens,
    today: int,
    places: list[AddressSpan],
    *,
    every: bool = False,
    minute: int = 0,
) -> list[Found]:
    """Return the references outside of `places`, in order and without overlap.

    `every` is that of `date_references`, `minute` the minute of the day at which it was written.
    """
    found: list[Found] = []
    doubtful: list[Found] = []
    used = 0  # tokens before this index belong to the reference found last
    near: Found | None = None  # the last certain day
    for index, lower in enumerate(tokens.lowers):
        if index < used:
            continue
        if lower[0] in DIGITS:
            item = at_number(tokens, index, today)
        elif lower in TRIGGERS:
            if found and (day := with_weekday_after(tokens, found[-1], index, today)) is not None:
                doubtful.append(Found(index, index + 1, 0, 0, True))
                if day.known:
                    found[-1] = near = day
                else:
                    doubtful.append(found.pop())
                    near = None
                continue
            item = at_word(tokens, index, today)
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
        else:
            doubtful.append(item)
    found = without_named(tokens, found)
    found = _with_composed(tokens, found, doubtful, today, every=every, minute=minute)
    if places:
        found = [item for item in found if not _is_inside(tokens, item, places)]
    return without_named(tokens, found)


def _with_composed(
    tokens: Tokens,
    found: list[Found],
    doubtful: list[Found],
    today: int,
    *,
    every: bool,
    minute: int,
) -> list[Found]:
    """Add what is put together from several parts, in place of the parts.

    A plain date is left to the rules here, which know the tense and what is no certain day, where
    they have read it; nothing is put together with what is `doubtful`.
    """
    added: list[Found] = []
    replaced: set[Found] = set()
    rights = [item.right for item in found]
    for reading in _composed(tokens, today, every=every):
        left = bisect_left(tokens.starts, reading.start)
        right = bisect_left(tokens.starts, reading.end)
        parts = found[bisect_right(rights, left) : bisect_left(found, (right,))]
        if left >= right or any(item.left < left or item.right > right for item in parts):
            continue
        # A text of nothing but a date has no tense that other rules could know better.
        alone = every and right - left == len(tokens.words)
        if not alone and any(item.left < right and left < item.right for item in doubtful):
            continue
        if not _is_wanted(reading.kind, parts, alone=alone, every=every):
            continue
        if reading.kind == "time" and reading.first == today:
            reading = _coming_time(tokens, reading, left, right, minute)
        spans = parts and reading.first <= parts[0].first and parts[-1].last <= reading.last
        if len(parts) > 1 and spans and is_rescheduled(tokens, left):
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
        last, is_time = clip(first + length), reading.kind == "time"
        added.append(Found(left, right, first, last, not stated, is_time))
    return sorted([*(item for item in found if item not in replaced), *added])


def _coming_time(tokens: Tokens, time: Reading, left: int, right: int, minute: int) -> Reading:
    """Return a time of today on the next day where it is past and yet is to come."""
    written = tokens.text[time.start : time.end]
    opened = word_at(tokens, left - 1) in ("at", "by")
    if not opened or direction_of(tokens, left, right) <= 0:
        # "At 3am" alone names one that is to come, as a timetable does; "3am" may be of a diary.
        alone = right == len(tokens.words) and left == (word_at(tokens, 0) == "at")
        if not alone or not (left or in_24_hours(written)):
            return time
    past = is_past(written, minute)
    return time._replace(first=time.first + past, last=time.last + past)


def _composed(tokens: Tokens, today: int, *, every: bool) -> list[Reading]:
    """Return what is put together from parts, each month and holiday without a year
    in the year it means."""
    found = readings(tokens, today, {})
    months: dict[int, tuple[int, int]] = {}
    behind: set[int] = set()
    for reading in found:
        wanted = reading.kind == "composed" or (every and reading.kind == "guarded")
        if not wanted or _states_year(tokens, reading):
            continue
        left = bisect_left(tokens.starts, reading.start)
        right = bisect_left(tokens.starts, reading.end)
        holiday = any(OPENS_HOLIDAY[lower] for lower in tokens.lowers[left:right])
        if holiday and direction_of(tokens, left, right) < 0:
            behind.add(reading.end)
        if reading.kind != "composed":
            continue
        for index in range(left, right):
            name = bare(tokens.lowers[index]).removeprefix("mid-")
            if name in MONTHS:
                direction = direction_of(tokens, left, right)
                days = month_by_tense(MONTHS[name], today, direction)
                if direction or days[1] >= today - _JUST_OVER:
                    months[tokens.ends[index]] = days
    return readings(tokens, today, months, behind) if months or behind else found


def _states_year(tokens: Tokens, reading: Reading) -> bool:
    return _STATED_YEAR.search(tokens.text, reading.start, reading.end) is not None


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
    if (
        day is None
        or item.right - item.left != 2
        or day_ordinal(word_at(tokens, item.left + 1)) < 1
    ):
        return item
    if tokens.lowers[item.left] != "the":
        return item
    between = tokens.text[tokens.ends[day.right - 1] : tokens.starts[item.left]]
    if len(between) > 120 or any(mark in ".!?\n" for mark in between):
        return item
    days = days_with_number(day.first, day_ordinal(tokens.lowers[item.left + 1]))
    if not days:
        return item
    nearest = min(days, key=lambda ordinal: abs(ordinal - day.first))
    return item._replace(first=nearest, last=nearest)


def _is_inside(tokens: Tokens, item: Found, places: list[AddressSpan]) -> bool:
    """Whether the reference touches an address."""
    at = bisect_left(places, (tokens.ends[item.right - 1],)) - 1
    return at >= 0 and places[at][1] > tokens.starts[item.left]
