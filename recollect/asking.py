"""How a question is understood: as several in one, each with the times that it speaks of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

import msgspec

from projections.recall import MOST_PARTS, Query, Recaller
from schemas.times import parse_time
from schemas.wire import Result
from streams.language import (
    anchor,
    beside,
    completed,
    date_references,
    days,
    local_day,
    questions,
)

_DAY_MS = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()
#: An event that scores less may be another one, or none.
_SURE = 0.5


def parted(query: Query, recaller: Recaller) -> list[tuple[str | None, Query]]:
    """Return the questions that a text consists of, each as it was put and as it is asked.

    A single one is asked as it stands, and its words are None. Of more than the budget allows,
    the last takes the rest.
    """
    parts = questions(query.text)
    if len(parts) == 1:
        return [(None, query)]
    last = MOST_PARTS[query.budget] - 1
    parts[last:] = [" ".join(parts[last:])] if parts[last:] else []
    return [
        (part, msgspec.structs.replace(query, text=text))
        for part, text in zip(parts, completed(parts, recaller.names), strict=True)
    ]


def in_time(query: Query, recaller: Recaller) -> Query:
    """Return a question with the times that its words speak of, where it gives none itself.

    They are reckoned from when it is asked where it says so, else from the zone's last event, in
    whose sender's zone of time: a memory of last year is asked about as it was then.
    """
    latest = None if query.spans else recaller.latest()
    if latest is None:
        return query
    at, utc_offset = latest
    if query.asked_at is not None:
        at = query.asked_at
    spans = []
    for reference in date_references(query.text, at_ms=at, utc_offset_minutes=utc_offset):
        first, last = map(date.fromisoformat, (reference.first, reference.last))
        if told := beside(query.text[: reference.start]):
            first, last = days(told, first, last)
        spans.append(_span((first, last), utc_offset))
    return msgspec.structs.replace(query, spans=tuple(spans))


def by_event(query: Query, recaller: Recaller, ask: Callable[[Query], Sequence[Result]]) -> Query:
    """Return a question with the time that it tells by an event, where one is surely meant.

    "The week before the move": `ask` finds where the move was told, and the day that is named
    there, or on which it was told, is taken for the move's.
    """
    told = None if query.spans else anchor(query.text)
    latest = None if told is None else recaller.latest()
    if latest is None or told is None:
        return query
    # Whose wedding "the wedding" is, the question says elsewhere.
    rest = query.text[: told.start] + query.text[told.end :]
    named = [] if recaller.names(told.event) else recaller.names(rest)
    event = msgspec.structs.replace(
        query,
        text=" ".join((*named, told.event)),
        scope=("events",),
        max_results=1,
        min_score=_SURE,
        entity=None,
        time_after=None,
        time_before=None,
    )
    for result in ask(event):
        at, utc_offset = parse_time(result.as_of)[0], latest[1]
        dates = {
            (reference.first, reference.last)
            for reference in date_references(result.text, at_ms=at, utc_offset_minutes=utc_offset)
        }
        first = last = date.fromordinal(local_day(at, utc_offset))
        if len(dates) == 1:
            first, last = map(date.fromisoformat, dates.pop())
        return msgspec.structs.replace(query, spans=(_span(days(told, first, last), utc_offset),))
    return query


def _span(told: tuple[date, date], utc_offset: int) -> tuple[int, int]:
    """Return the first and the last unix ms of days where clocks are so many minutes ahead."""
    first, last = ((day.toordinal() - _EPOCH) * _DAY_MS - utc_offset * 60_000 for day in told)
    return first, last + _DAY_MS - 1
