"""Days as people write them: 7 May 2023, 19 to 25 Jun 2023, Jul 2023, 2022."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, date, datetime

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_ISO = re.compile(r"\((\d{4}-\d\d-\d\d)(?: to (\d{4}-\d\d-\d\d))?\)")


def day_of(at: int) -> str:
    """Return the day of a time (unix ms) in UTC, as YYYY-MM-DD."""
    return datetime.fromtimestamp(at / 1_000, UTC).date().isoformat()


def named_days(first: date, last: date) -> str:
    """Return the days from `first` to `last`, both included, in words."""
    if first == last:
        return f"{first.day} {_month(first)}"
    starts, ends = first.day == 1, last.day == monthrange(last.year, last.month)[1]
    if starts and ends and first.year == last.year:
        if (first.month, last.month) == (1, 12):
            return str(first.year)
        if first.month == last.month:
            return _month(first)
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day} to {last.day} {_month(last)}"
    if first.year == last.year:
        return f"{first.day} {_MONTHS[first.month - 1]} to {last.day} {_month(last)}"
    return f"{first.day} {_month(first)} to {last.day} {_month(last)}"


def with_named_days(text: str) -> str:
    """Return a text with its resolved dates, such as (2023-05-07), in words."""
    return _ISO.sub(_named, text)


def _named(found: re.Match[str]) -> str:
    try:
        first = date.fromisoformat(found[1])
        last = date.fromisoformat(found[2]) if found[2] else first
    except ValueError:
        return found[0]
    return f"({named_days(first, last)})"


def _month(day: date) -> str:
    return f"{_MONTHS[day.month - 1]} {day.year}"
