"""The times that a question refers to: dates in it, or a time relative to an event."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date

from recollect.projections.recall.question.times.event_times import (
    Anchor,
    before_date,
    days_of_anchor,
)
from recollect.text.dates.dates_in_text import date_references
from recollect.text.dates.found_dates import local_day

_DAY_MS = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()

#: The first and the last moment of a time, in unix ms.
Span = tuple[int, int]


def spans_in(text: str, at: int, utc_offset: int) -> tuple[Span, ...]:
    """Return the times in a text written at `at` (unix ms); `utc_offset` is in minutes."""
    spans = []
    for reference in date_references(text, at_ms=at, utc_offset_minutes=utc_offset):
        first, last = map(date.fromisoformat, (reference.first, reference.last))
        if anchor := before_date(text[: reference.start]):
            first, last = days_of_anchor(anchor, first, last)
        spans.append(_span((first, last), utc_offset))
    return tuple(spans)


def span_of_event(
    anchor: Anchor, dates: Collection[tuple[str, str]], at: int, utc_offset: int
) -> Span:
    """Return the time that an anchor means, given the dates and time of a memory of its event.

    The event is assumed to be on the only date, given by its first and last day, or else on the day
    of the memory.
    """
    first = last = date.fromordinal(local_day(at, utc_offset))
    if len(dates) == 1:
        first, last = map(date.fromisoformat, next(iter(dates)))
    return _span(days_of_anchor(anchor, first, last), utc_offset)


def _span(both: tuple[date, date], utc_offset: int) -> Span:
    """Return the time from the beginning of the first day to the end of the last."""
    first, last = ((day.toordinal() - _EPOCH) * _DAY_MS - utc_offset * 60_000 for day in both)
    return first, last + _DAY_MS - 1
