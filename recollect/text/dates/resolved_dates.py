"""Dates expressed in words, followed by the days that they mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date

from recollect.text.dates.found_dates import DateReference

_IN_BRACKETS = re.compile(
    r"\((?P<first>\d{4}-\d\d-\d\d)(?: to (?P<last>\d{4}-\d\d-\d\d))?\)", re.ASCII
)

Write = Callable[[DateReference], str]


def with_days(text: str, start: int, end: int, dates: Sequence[DateReference], write: Write) -> str:
    """Return part of a text with the days after each date that does not give them itself.

    White space is folded. `dates` are those of the text, in order; `write` formats the days of one.
    """
    pieces: list[str] = []
    position, written = start, ""
    for reference in dates:
        if not reference.relative or not (position <= reference.start and reference.end <= end):
            continue
        place = reference.end
        if text[place : place + 2] in ("'s", "’s"):
            place += 2
        days = write(reference)
        if days == written and not text[position : reference.start].strip(" ,("):
            continue  # "tomorrow (Thursday)" is one day
        pieces += (text[position:place], f" ({days})")
        position, written = place, days
    pieces.append(text[position:end])
    return " ".join("".join(pieces).split())


def in_numbers(reference: DateReference) -> str:
    """Return the days of a reference as facts have them: 2026-05-07, 2026-05-04 to 2026-05-10."""
    if reference.last == reference.first:
        return reference.first
    return f"{reference.first} to {reference.last}"


def in_words(reference: DateReference) -> str:
    """Return the days of a reference in words: 7 May 2026, May 2026, 4-10 May 2026."""
    return _written(date.fromisoformat(reference.first), date.fromisoformat(reference.last))


def _written(first: date, last: date) -> str:
    if first == last:
        return day_in_words(first)
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        return str(first.year) if first.year == last.year else f"{first.year}-{last.year}"
    next_day = date.fromordinal(min(last.toordinal() + 1, date.max.toordinal()))
    if first.day == 1 and next_day.day == 1:
        if (first.year, first.month) == (last.year, last.month):
            return f"{first:%B} {first.year}"
        if first.year == last.year:
            return f"{first:%B} to {last:%B} {last.year}"
        return f"{first:%B} {first.year} to {last:%B} {last.year}"
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}-{day_in_words(last)}"
    if first.year == last.year:
        return f"{first.day} {first:%B} to {day_in_words(last)}"
    return f"{day_in_words(first)} to {day_in_words(last)}"


def days_in_words(text: str) -> str:
    """Return a text with its bracketed days, in the format of facts, in words instead.

    >>> days_in_words("Ada moved last week (2026-05-25 to 2026-05-31).")
    'Ada moved last week (25-31 May 2026).'
    """
    return _IN_BRACKETS.sub(_in_words_too, text)


def _in_words_too(found: re.Match[str]) -> str:
    try:
        first = date.fromisoformat(found["first"])
        last = date.fromisoformat(found["last"]) if found["last"] else first
    except ValueError:
        return found[0]
    return f"({_written(first, last)})"


def day_in_words(day: date) -> str:
    """Return a day in words: 7 May 2026."""
    return f"{day.day} {day:%B} {day.year}"
