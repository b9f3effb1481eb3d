"""The times that a question speaks of: days in its words, or those of an event that it names."""

from __future__ import annotations

from datetime import date

from recollect.projections.recall.question.times.event_times import Anchor, before_date, days
from recollect.text.dates.dates_in_text import date_references
from recollect.text.dates.found_dates import local_day

_DAY_MS = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()

#: The first and the last unix ms of a time.
Span = tuple[int, int]


def spans_in(text: str, at: int, utc_offset: int) -> tuple[Span, ...]:
    """Return the times in a text that was written at a time (unix ms) in a time zone.

    `utc_offset`: how many minutes its clocks are ahead of UTC.
    """
    spans = []
    for reference in date_references(text, at_ms=at, utc_offset_minutes=utc_offset):
        first, last = map(date.fromisoformat, (reference.first, reference.last))
        if anchor := before_date(text[: reference.start]):
            first, last = days(anchor, first, last)
        spans.append(_span((first, last), utc_offset))
    return tuple(spans)


def span_of_event(anchor: Anchor, text: str, at: int, utc_offset: int) -> Span:
    """Return the time that an anchor means, given a turn about its event and when it was written.

    The event took place on the day that the turn names, else on the day that it was written.
    """
    dates = {
        (reference.first, reference.last)
        for reference in date_references(text, at_ms=at, utc_offset_minutes=utc_offset)
    }
    first = last = date.fromordinal(local_day(at, utc_offset))
    if len(dates) == 1:
        first, last = map(date.fromisoformat, dates.pop())
    return _span(days(anchor, first, last), utc_offset)


def _span(both: tuple[date, date], utc_offset: int) -> Span:
    """Return the time from the begin of a day to the end of another."""
    first, last = ((day.toordinal() - _EPOCH) * _DAY_MS - utc_offset * 60_000 for day in both)
    return first, last + _DAY_MS - 1
