"""Dates expressed in words, followed by the days that they mean."""

from __future__ import annotations

import re
from calendar import month_name, monthrange
from collections.abc import Callable, Sequence
from datetime import date

from recollect.text.dates.found_dates import DateReference

_IN_BRACKETS = re.compile(
    r"\((?P<first>\d{4}-\d\d-\d\d)(?: to (?P<last>\d{4}-\d\d-\d\d))?\)", re.ASCII
)
_MONTHS = {name.lower(): number for number, name in enumerate(month_name) if number}
_MONTH = rf"(?:{'|'.join(month_name[1:])})"
#: Whole months and years, and days of one month, in the format of facts.
_PERIOD_IN_BRACKETS = re.compile(
    rf"\((?:(?P<from>\d{{1,2}})-(?P<until>\d{{1,2}}) )?(?:(?P<one>{_MONTH}) to )?"
    rf"(?P<month>{_MONTH}) (?P<year>\d{{4}})\)|\((?P<years>\d{{4}}(?:-\d{{4}})?)\)",
    re.ASCII,
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
    """Return the days of a reference as facts have them.

    Days are in numbers: 2026-05-07, 2026-04-27 to 2026-05-03; whole months and years, and several
    days of one month, in words: May 2026, 2026, 4-10 May 2026.
    """
    first, last = date.fromisoformat(reference.first), date.fromisoformat(reference.last)
    if first == last:
        return reference.first
    if first.year == last.year and (first.month == last.month or _is_whole(first, last)):
        return _written(first, last)
    return f"{reference.first} to {reference.last}"


def periods_in_numbers(text: str) -> str:
    """Return a text with its bracketed months, years and days of one month in numbers.

    >>> periods_in_numbers("Ada sailed in May (May 2026), and last week (4-10 May 2026).")
    'Ada sailed in May (2026-05-01 to 2026-05-31), and last week (2026-05-04 to 2026-05-10).'
    """
    return _PERIOD_IN_BRACKETS.sub(_in_numbers_too, text)


def _in_numbers_too(found: re.Match[str]) -> str:
    try:
        first, last = _period_of(found)
    except ValueError:
        return found[0]
    return f"({first.isoformat()} to {last.isoformat()})" if first < last else found[0]


def _period_of(found: re.Match[str]) -> tuple[date, date]:
    if found["years"]:
        years = [int(each) for each in found["years"].split("-")]
        return date(years[0], 1, 1), date(years[-1], 12, 31)
    year, month = int(found["year"]), _MONTHS[found["month"].lower()]
    if found["from"]:
        return date(year, month, int(found["from"])), date(year, month, int(found["until"]))
    begin = _MONTHS[found["one"].lower()] if found["one"] else month
    return date(year, begin, 1), date(year, month, monthrange(year, month)[1])


def in_words(reference: DateReference) -> str:
    """Return the days of a reference in words: 7 May 2026, May 2026, 4-10 May 2026."""
    return _written(date.fromisoformat(reference.first), date.fromisoformat(reference.last))


def _written(first: date, last: date) -> str:
    if first == last:
        return day_in_words(first)
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        return str(first.year) if first.year == last.year else f"{first.year}-{last.year}"
    if _is_whole(first, last):
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


def _is_whole(first: date, last: date) -> bool:
    """Whether the days from `first` to `last` are whole months."""
    return first.day == 1 and last.day == monthrange(last.year, last.month)[1]


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
