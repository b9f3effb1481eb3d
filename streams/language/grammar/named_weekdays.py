"""The day that a bare weekday means if the conversation has just named that day in full.

In "My last day is Friday the 3rd. Friday is a holiday", the second Friday is the 3rd, not the next
Friday; and so is the one in the answer "Friday suits me better".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from msgspec.structs import replace

from recollect.text.addresses import addresses
from recollect.text.dates.dates_in_text import date_references, find_dates
from recollect.text.dates.found_dates import (
    DateReference,
    Found,
    as_reference,
    local_day,
    local_minute,
)
from recollect.text.lexicon import WEEKDAYS
from recollect.text.tokenizer import Tokens, tokenise
from recollect.text.word_patterns import any_of

#: A day further ahead than this is not meant by its weekday alone.
FURTHEST_DAYS = 62

_BINS = (
    r"(?:garbage|trash|rubbish|refuse|recycling|compost|(?:\w+ )?bins?|(?:yard|food|green) waste|"
    r"waste|litter)(?: (?:day|collection|pick-?up|truck))?"
)
#: "From 1 April" gives the beginning of a period, not a day on which something happens.
_BOUNDS = [[word] for word in ("from", "since", "until", "till", "by", "before", "after")]
_DAYS = rf"(?:{'|'.join(sorted(WEEKDAYS))})\b"
#: Waste that is collected, directly followed by a weekday.
_WEEKLY = re.compile(
    rf"\b{_BINS}(?:['’]s| is| are| on| goes out| go out| (?:is|are) collected)*:? (?:on )?"
    rf"{_DAYS}(?! (?:the )?\d)",
    re.IGNORECASE,
)
_CLOCK = r"(?:\d{1,2}(?:[:.h]\d{2})?(?: ?[ap]\.?m\.?)?|noon|midnight)"
#: Opening times: "The Mill: Friday & Saturday, 7 AM - 10 PM", "its Friday hours".
_OPENING = re.compile(
    rf"\b{_DAYS}(?:(?: ?[&,/–-] ?| and | or )\b{_DAYS})* (?:times|hours|opening|schedules)\b|"
    rf"(?:\b(?:open|opens|opening|closed|closes|hours)\b[^.!?\n]{{0,30}}?|:[^\w\n]{{0,4}})"
    rf"\b{_DAYS}(?:(?: ?[&,/–-] ?| and | to | through | till | until )\b{_DAYS})*"
    rf"[:,]? (?:closed\b|(?:from |between )?{_CLOCK} ?(?:-|–|to|till|until|and) ?{_CLOCK})",
    re.IGNORECASE,
)
_SATURDAY, _SUNDAY = 5, 6
_SENTENCE_END = re.compile(r"[.!?…]+(?=\s)|\n+")
_WEEKDAY = re.compile(any_of("|".join(sorted(WEEKDAYS))) + r"\b")


def names_weekday(text: str) -> bool:
    """Whether a text contains a weekday."""
    return _WEEKDAY.search(text.lower()) is not None


def days_named(text: str, at_ms: int, utc_offset_minutes: int = 0) -> list[int]:
    """Return the single days that a text, written at `at_ms` (unix ms), names by number.

    They are ordinals, as `date.toordinal` gives them.
    """
    tokens = tokenise(text)
    found = find_dates(tokens, local_day(at_ms, utc_offset_minutes), addresses(text))
    return [item.first for item in found if _is_numbered(tokens, item)]


def dates_meant(
    text: str, at_ms: int, utc_offset_minutes: int, named: Sequence[int]
) -> tuple[list[DateReference], frozenset[int]]:
    """Return the dates of a message, written at `at_ms` (unix ms), resolved as by `as_named`."""
    tokens = tokenise(text)
    today = local_day(at_ms, utc_offset_minutes)
    minute = local_minute(at_ms, utc_offset_minutes)
    found = find_dates(tokens, today, addresses(text), minute=minute)
    dates, used = as_named(tokens, found, today, named)
    return [as_reference(tokens, item) for item in dates], used


def all_dates(
    text: str, *, at_ms: int, utc_offset_minutes: int, meant: Sequence[DateReference]
) -> list[DateReference]:
    """Return every date of a message, less certain ones too, as `date_references` does.

    `meant` are its dates as `dates_meant` gives them; they take precedence for single days.
    """
    days = [one for one in meant if one.first == one.last]
    found = date_references(text, at_ms=at_ms, utc_offset_minutes=utc_offset_minutes, every=True)
    at = 0
    for index, one in enumerate(found):
        while at < len(days) and days[at].end <= one.start:
            at += 1
        if one.first == one.last and not one.is_time and at < len(days):
            day = days[at]
            if one.start <= day.start < one.end:
                found[index] = replace(one, first=day.first, last=day.last)
                for beside in (index - 1, index + 1):
                    # A time belongs to the day that it accompanies.
                    time = found[beside] if 0 <= beside < len(found) else one
                    if time.is_time and time.first == one.first:
                        found[beside] = replace(time, first=day.first, last=day.last)
    return found


def dates_about(
    sentence: str, *, at_ms: int, utc_offset_minutes: int, meant: Sequence[DateReference]
) -> list[DateReference]:
    """Return the dates of a sentence that somebody derived from a message.

    `meant` are the dates of the message: a date in its words means the same days.
    """
    worded = {one.text.casefold(): one for one in meant}
    return [
        replace(one, first=same.first, last=same.last) if same is not None else one
        for one in date_references(
            sentence, at_ms=at_ms, utc_offset_minutes=utc_offset_minutes, every=True
        )
        for same in (worded.get(one.text.casefold()),)
    ]


def collection_days(tokens: Tokens) -> list[tuple[int, int]]:
    """Return the spans (first and last character) that give a weekday on which waste is collected.

    Such a weekday recurs, and is worth keeping.
    """
    return _with_weekdays(tokens, _WEEKLY)


def _opening_days(tokens: Tokens) -> list[tuple[int, int]]:
    """Return the spans that give weekdays on which something is open, which recur too."""
    return _with_weekdays(tokens, _OPENING)


def _with_weekdays(tokens: Tokens, form: re.Pattern[str]) -> list[tuple[int, int]]:
    if WEEKDAYS.keys().isdisjoint(tokens.lowers):
        return []
    return [match.span() for match in form.finditer(tokens.text)]


def as_named(
    tokens: Tokens, dates: Sequence[Found], today: int, named: Sequence[int]
) -> tuple[list[Found], frozenset[int]]:
    """Return the dates of a text, with each bare weekday resolved to the previously named day.

    `named` are the days that the conversation named, as ordinals; the days of the text itself count
    from their position on. Only a future day is meant, and only if a single one matches. If one day
    of a weekend was resolved so, the other means the same weekend. The second value are those of
    `named` that affected the result.
    """
    if collection_days(tokens):
        # "Garbage Tuesday, recycling Thursday": every week.
        dates = [item for item in dates if not _is_bare_weekday(tokens, item)]
    elif open_on := _opening_days(tokens):
        dates = [item for item in dates if not _is_within(tokens, item, open_on)]
    here: list[int] = []
    settled: list[Found] = []
    used: set[int] = set()
    weekend: Found | None = None  # the preceding Saturday or Sunday, if it was named
    for item in dates:
        if _is_numbered(tokens, item):
            if tokens.lowers[item.left - 1 : item.left] not in _BOUNDS:
                here.append(item.first)
                weekend = item
        elif _is_bare_weekday(tokens, item) and item.first >= today:
            day = _only(here, item, today)
            if day is None and (day := _only(named, item, today)) is not None:
                used.add(day)
            if day is None and weekend is not None:
                day = _of_weekend(tokens, weekend, item, [*here, *named], today)
            if day is not None:
                item = item._replace(first=day, last=day)
                weekend = item
        settled.append(item)
    return settled, frozenset(used)


def _of_weekend(
    tokens: Tokens, before: Found, item: Found, named: Sequence[int], today: int
) -> int | None:
    """Return the day of a bare "Sunday" after a resolved Saturday, or the reverse; None if unclear.

    A day named in full determines its own sentence; a weekday alone also the next sentence, which
    compares the two. No other future weekend may have been named.
    """
    one, other = (date.fromordinal(day).weekday() for day in (before.first, item.first))
    if {one, other} != {_SATURDAY, _SUNDAY} or before.first <= today:
        return None
    between = tokens.text[tokens.ends[before.right - 1] : tokens.starts[item.left]]
    ends = len(_SENTENCE_END.findall(between))
    if ends > (0 if _is_numbered(tokens, before) else 1):
        return None
    day = before.first + other - one
    monday = day - other
    weekends = {each - date.fromordinal(each).weekday() for each in named if _is_ahead(each, today)}
    return day if weekends == {monday} else None


def _is_ahead(day: int, today: int) -> bool:
    """Whether a day is on a future weekend."""
    return today < day and date.fromordinal(day).weekday() in (_SATURDAY, _SUNDAY)


def _only(named: Sequence[int], item: Found, today: int) -> int | None:
    """Return the named future day on the same weekday as `item`, if there is exactly one."""
    weekday = date.fromordinal(item.first).weekday()
    agree = {
        day
        for day in named
        if today < day <= today + FURTHEST_DAYS and date.fromordinal(day).weekday() == weekday
    }
    return agree.pop() if len(agree) == 1 else None


def _is_numbered(tokens: Tokens, item: Found) -> bool:
    """Whether a date is a single day given by its number: "Friday the 3rd", "3 April"."""
    return item.first == item.last and item.said == "number"


def _is_within(tokens: Tokens, item: Found, spans: Sequence[tuple[int, int]]) -> bool:
    place = tokens.starts[item.left]
    return _is_bare_weekday(tokens, item) and any(start <= place < end for start, end in spans)


def _is_bare_weekday(tokens: Tokens, item: Found) -> bool:
    return item.said == "weekday"
