"""Periods that end today: "over the last two months", "in the past week". English only."""

from __future__ import annotations

import re
from datetime import date
from typing import NamedTuple

from recollect.projections.recall.question.times.event_times import UNIT_DAYS
from recollect.text.lexicon import COUNTS

# "Last week" alone is the week before this one, and a date.
_PERIOD = re.compile(
    r"\b(?:(?:in|over|during|for|within)\s+)?(?:the|these)\s+(?:last|past)\s+"
    rf"(?:(?P<count>\d{{1,3}}|few|couple\s+of|{'|'.join(COUNTS)})\s+)?"
    rf"(?P<unit>{'|'.join(UNIT_DAYS)})s?\b(?!\s+of\b)",
    re.IGNORECASE,
)
# What "a few" and "a couple of" mean at most.
_VAGUE = {"few": 5, "couple": 2}


class Period(NamedTuple):
    """A period: its first and last day, and its span in the text."""

    days: tuple[date, date]
    start: int
    end: int


def last_period(text: str, today: int) -> Period | None:
    """Return the period up to today (an ordinal day) that a text names, or None."""
    found = _PERIOD.search(text)
    if found is None:
        return None
    word = (found["count"] or "1").lower().split()[0]
    count = int(word) if word.isdecimal() else _VAGUE.get(word) or COUNTS[word]
    length = count * UNIT_DAYS[found["unit"].lower()]
    first = date.fromordinal(max(today - length + 1, 1))
    return Period((first, date.fromordinal(today)), found.start(), found.end())
