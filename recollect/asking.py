"""How a question is understood: as several in one, each with the times that it speaks of."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import msgspec

from projections.recall import MOST_PARTS, Query, Recaller
from streams.language import completed, date_references, questions

_DAY = timedelta(days=1)
_UNITS = {"day": 1, "weekend": 7, "week": 7, "fortnight": 14, "month": 31, "year": 366}
# "The week before" and then a date.
_BESIDE = re.compile(
    rf"\b({'|'.join(_UNITS)})\s+(before|after|following|prior\s+to)\s+(?:the\s+)?$", re.IGNORECASE
)
_SINCE = re.compile(r"\b(?:since|after)\s+(?:the\s+)?$", re.IGNORECASE)


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
        first, last = (
            datetime.fromisoformat(day).replace(tzinfo=UTC) - timedelta(minutes=utc_offset)
            for day in (reference.first, reference.last)
        )
        end = last + _DAY
        before = query.text[: reference.start]
        if beside := _BESIDE.search(before):
            length = _UNITS[beside[1].lower()] * _DAY
            after = beside[2].lower() in ("after", "following")
            first, end = (end, end + length) if after else (first - length, first)
        elif _SINCE.search(before):
            end = max(end, datetime.fromtimestamp(at / 1000, UTC) + _DAY)
        spans.append((_ms(first), _ms(end) - 1))
    return msgspec.structs.replace(query, spans=tuple(spans))


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
