"""The times that a question refers to: dates in it, or a time relative to an event."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from recollect.projections.recall.question.times.event_times import (
    Anchor,
    before_date,
    days_of_anchor,
)
from recollect.projections.recall.question.times.periods import last_period
from recollect.text.dates.dates_in_text import date_references
from recollect.text.dates.found_dates import DateReference, local_day

_DAY_MS = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()
# "Between 20 and 24 March" is the same time as "from 20 to 24 March".
_BETWEEN = re.compile(r"\bbetween\s+([\w.,' ]{1,24}?)\s+and\s+", re.IGNORECASE)
# "On which Friday" asks for a time, and names none.
_ASKED_FOR = re.compile(r"\b(?:which|what)\s+\Z", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"(?:\b(?:in|on|at|of|for|from|by|during|over|within|since|until|throughout)\s+)?(?:\bthe\s+)?\Z",
    re.IGNORECASE,
)

#: The first and the last moment of a time, in unix ms.
Span = tuple[int, int]


class Times(NamedTuple):
    """The times that a text names, and `topic`, the text without them."""

    spans: tuple[Span, ...]
    topic: str


@lru_cache(maxsize=64)
def times_in(text: str, at: int, utc_offset: int) -> Times:
    """Return the times in a question asked at `at` (unix ms); `utc_offset` is in minutes.

    A time without a year means its latest occurrence that has begun, unless the question is about
    the future.
    """
    text, references = _references(text, at, utc_offset)
    spans = []
    for reference in references:
        first, last = map(date.fromisoformat, (reference.first, reference.last))
        if anchor := before_date(text[: reference.start]):
            first, last = days_of_anchor(anchor, first, last)
        spans.append(_span((first, last), utc_offset))
    topic = text
    for reference in reversed(references):
        topic = _PREPOSITION.sub("", topic[: reference.start]) + topic[reference.end :]
    if period := last_period(topic, local_day(at, utc_offset)):
        spans.append(_span(period.days, utc_offset))
        topic = topic[: period.start] + topic[period.end :]
    return Times(tuple(spans), topic if spans else text)


def _references(text: str, at: int, utc_offset: int) -> tuple[str, list[DateReference]]:
    """Return the dates in a text, and the text with "from … to" for a "between … and" of dates."""

    def dates(of: str) -> list[DateReference]:
        found = date_references(of, at_ms=at, utc_offset_minutes=utc_offset, of_past=True)
        return [item for item in found if not _ASKED_FOR.search(of[: item.start])]

    for between in _BETWEEN.finditer(text):
        # The span of dates begins where "between" did, or a word later.
        replaced = f"{text[: between.start()]}from {between[1]} to {text[between.end() :]}"
        joint = between.start() + len(f"from {between[1]}")
        replaced_dates = dates(replaced)
        if any(item.start < joint < item.end for item in replaced_dates):
            return replaced, replaced_dates
    return text, dates(text)


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


def _span(both: Sequence[date], utc_offset: int) -> Span:
    """Return the time from the beginning of the first day to the end of the last."""
    first, last = ((day.toordinal() - _EPOCH) * _DAY_MS - utc_offset * 60_000 for day in both)
    return first, last + _DAY_MS - 1
