"""Dates expressed in words, resolved to days relative to the local date of the message.

Weeks begin on Monday. Seasons are the northern meteorological ones (summer is June to August).
Vague expressions ("a few days ago"), recurrences ("every Friday") and durations ("over the last
week") have no day.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from recollect.text.addresses import AddressSpan, addresses
from recollect.text.dates.calendar_days import Days, calendar_unit, clip
from recollect.text.dates.chosen_days import chosen
from recollect.text.dates.clause_tense import direction_of
from recollect.text.dates.date_tokens import tokens_of, word_at
from recollect.text.dates.found_dates import (
    DAY_MINUTES,
    DateReference,
    Found,
    as_reference,
    local_day,
    local_minute,
)
from recollect.text.dates.time_grammar import expressions
from recollect.text.dates.time_values import Now, When
from recollect.text.tokenizer import Tokens, tokenise

#: In characters: how far back the day may be to which a later "the 18th" or "at 8" belongs.
_REACH = 160
#: 24-hour times, such as 13:45, 0:10 and 3h18; not 3:18 or 1:01pm.
_IN_24_HOURS = re.compile(r"(?:0|[01]\d|2[0-3]):[0-5]\d|\d{1,2}h\d\d")
#: In minutes: a time up to this far ahead may be called past, because of rounding.
_SOON = 10


def date_references(
    text: str,
    *,
    at_ms: int,
    utc_offset_minutes: int = 0,
    every: bool = False,
    of_past: bool = False,
) -> list[DateReference]:
    """Return the date references of `text`, written at `at_ms` (unix milliseconds).

    With `every`, the result includes less certain dates ("the 15th", "5/7/2026") and times of day,
    on the day to which they belong; and "two weeks ago" is that day, not its week. `of_past`: the
    text asks about the past unless a clause says otherwise: "in May" is the last May that has
    begun, and a bare season ("in spring") counts.
    """
    tokens = tokenise(text)
    today = local_day(at_ms, utc_offset_minutes)
    minute = local_minute(at_ms, utc_offset_minutes)
    references = find_dates(
        tokens, today, addresses(text), every=every, minute=minute, of_past=of_past
    )
    return [as_reference(tokens, item) for item in references]


def find_dates(
    tokens: Tokens,
    today: int,
    places: list[AddressSpan],
    *,
    every: bool = False,
    minute: int = DAY_MINUTES,
    of_past: bool = False,
) -> list[Found]:
    """Return the references outside of `places`, in order and without overlap.

    `every` and `of_past` are as in `date_references`. A day and its time of day are two references.
    `minute` is the minute of the day at which the text was written; if it is not given, no time of
    that day is in the future.
    """
    now = Now(today, minute, tokens)
    references: list[Found] = []
    timed: list[int] = []  # the indices of times without a day
    for whole in expressions(tokens, now):
        day, time = whole.day(), whole.time() if every else None
        when, start, end = day.when, day.start, day.end
        if when.kind not in ("day", "time"):
            continue
        if not every and (when.kind == "time" or not (when.certain or when.grain == "season")):
            continue
        if places and _is_inside(whole.start, whole.end, places):
            continue
        if (opened := tokens.text.find("(", start, end)) >= 0:
            end = opened  # "15 May (Friday)"
        left, right = tokens_of(tokens, start, end)
        if references and left < references[-1].right:
            continue
        if not (every or when.certain or of_past or _is_one(tokens, left, right)):
            continue
        meant = when._replace(clock=whole.when.clock)
        days = _days(meant, now, left, right, references, every=every, of_past=of_past)
        if days is None:
            continue
        alone = when.kind == "time"
        if alone:
            timed.append(len(references))
        ends = clip(days[0]), clip(max(days))
        read_by = day.match.trace()
        item = Found(left, right, *ends, not when.stated, alone, _clock(when), _said(when), read_by)
        references.append(item)
        if time is not None:
            # Midnight is the end of a day.
            ends = clip(ends[0] + _over(whole.when, when)), clip(ends[1] + _over(whole.when, when))
            place = tokens_of(tokens, time.start, time.end)
            if place[0] < right and left < place[1]:
                continue  # "7.5.2026noon": the two share a word, which counts as the day's
            clock = _clock(time.when)
            references.append(Found(*place, *ends, True, True, clock, rules=time.match.trace()))
            references[-2:] = sorted(references[-2:])
    for index in timed:
        references[index] = _on_its_day(tokens, references, index, now)
    return references


def _is_one(tokens: Tokens, left: int, right: int) -> bool:
    """Whether a bare season is that of one year: not in "the garden is lovely in spring".

    "I got a job from the autumn": the past is only that of the arrangement.
    """
    direction = direction_of(tokens, left, right)
    bounds = {"from", "until", "till", "til"}
    return direction > 0 or (direction < 0 and bounds.isdisjoint(tokens.lowers[left - 2 : left]))


def _clock(when: When) -> str | None:
    return None if when.clock is None else f"{when.clock // 60:02}:{when.clock % 60:02}"


def _over(whole: When, day: When) -> int:
    """Return the offset of a time from its day: 1 for the midnight that ends it, else 0."""
    return whole.spans[0][0] - day.spans[0][0]


def _days(
    when: When,
    now: Now,
    left: int,
    right: int,
    references: list[Found],
    *,
    every: bool,
    of_past: bool,
) -> Days | None:
    if every and when.exact is not None:
        return when.exact
    if when.pick == "number" and references and len(when.spans) > 1:
        near = references[-1]
        between = now.tokens.text[now.tokens.ends[near.right - 1] : now.tokens.starts[left]]
        one_sentence = not any(mark in between for mark in ".!?")
        past = near.last < now.today and direction_of(now.tokens, left, right) >= 0
        close = len(between) <= _REACH and "\n" not in between
        named = one_sentence or near.first == near.last or near.last - near.first > 26
        if close and not near.is_time and not past and named:
            middle = (near.first + near.last) // 2
            return min(when.spans, key=lambda span: abs(span[0] - middle))
    if when.pick == "beside":
        return _beside(when, now, left, right, references)
    return chosen(when, now, left, right, of_past=of_past)


def _beside(when: When, now: Now, left: int, right: int, references: list[Found]) -> Days | None:
    """Return the unit after or before the last named day: "the week after".

    If no day is named and the clause is not past, "the following week" is counted from today.
    """
    (span,) = when.spans
    named = [item for item in references[-2:] if not item.is_time]
    if not named:
        ahead = when.certain and direction_of(now.tokens, left, right) >= 0
        return span if ahead and span[0] > now.today else None
    base = named[-1].last if span[0] > now.today else named[-1].first
    unit = "day" if when.grain in ("night", "morning") else when.grain
    return calendar_unit(unit, 1 if span[0] > now.today else -1, base)


def _said(when: When) -> str:
    """Return how the day is expressed: by its weekday, its number, a holiday, or otherwise."""
    numbered = when.pick == "number" or (when.pick == "near" and len(when.spans) > 1)
    if when.stated or numbered or when.pick == "dated":
        return "number"
    return when.pick if when.pick in ("weekday", "feast") else ""


def _on_its_day(tokens: Tokens, references: list[Found], index: int, now: Now) -> Found:
    """Return a time on the day that its sentence names, or else on the day of the message.

    A time that has passed, in a clause about the future, is on the next day.
    """
    time = references[index]
    if time.first != now.today or time.time is None:
        return time  # "in an hour", "at midnight"
    for other in (
        *reversed(references[max(index - 3, 0) : index]),
        *references[index + 1 : index + 3],
    ):
        if other.is_time or other.first != other.last:
            continue
        one, two = sorted((time, other), key=lambda item: item.left)
        between = tokens.text[tokens.ends[one.right - 1] : tokens.starts[two.left]]
        if len(between) <= _REACH and not any(mark in between for mark in ".!?\n"):
            return time._replace(first=other.first, last=other.last)
    hour, minute = time.time.split(":")
    past = 60 * int(hour) + int(minute) < now.minute
    direction = direction_of(tokens, time.left, time.right)
    later = 60 * int(hour) + int(minute) > now.minute + _SOON
    if later and (direction < 0 or word_at(tokens, time.left - 1) == "since"):
        return time._replace(first=clip(time.first - 1), last=clip(time.last - 1))
    ahead = direction > 0 and word_at(tokens, time.left - 1) in ("at", "by", "@")
    # A text that is just "at 3am" is in the future, as in a timetable; "3am" may be from a diary.
    alone = time.right - time.left + (word_at(tokens, 0) == "at") == len(tokens.words)
    written = tokens.text[tokens.starts[time.left] : tokens.ends[time.right - 1]]
    ahead = ahead or (alone and (time.left > 0 or _IN_24_HOURS.fullmatch(written) is not None))
    if past and ahead:
        return time._replace(first=clip(time.first + 1), last=clip(time.last + 1))
    return time


def _is_inside(start: int, end: int, places: list[AddressSpan]) -> bool:
    """Whether a reference overlaps an address."""
    at = bisect_left(places, (end,)) - 1
    return at >= 0 and places[at][1] > start
