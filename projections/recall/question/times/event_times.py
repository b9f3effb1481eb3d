"""Parse times relative to an event: "the week before the move", "the summer we met".

English only. An event is a noun with an article or an owner, or a clause with its subject.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Literal, NamedTuple

from recollect.text.dates.calendar_days import calendar_unit, season_of
from recollect.text.lexicon import COUNTS, SEASONS

Relation = Literal["before", "after", "in"]

_COUNT = "|".join(COUNTS)
#: The number of days that a unit of time means before or after an event.
UNIT_DAYS = {"day": 1, "weekend": 7, "week": 7, "fortnight": 14, "month": 31, "year": 366}
_UNIT = "|".join(UNIT_DAYS)
_EVENT = (
    r"(?P<event>(?:(?:the|a|an|my|your|his|her|their|our|its|this|that)\s+"
    r"|(?:i|we|you|he|she|they|it)\s+|(?-i:[A-Z])[\w.-]*(?:['’]s)?\s+|\w{2,}ing\b)[^,;?!]*?)"
    r"(?=\s*(?:[,;?!]|\.?\Z|\s(?:what|where|who|whom|whose|when|why|how|which|did|does|do)\s))"
)
# "Look after", "named after" and the like are not times.
_NOT_IDIOM = (
    r"(?<!look )(?<!looks )(?<!looked )(?<!looking )(?<!named )(?<!take )(?<!takes )(?<!took )"
)
_TIME = (
    rf"\b(?:(?:(?P<count>\d{{1,3}}|{_COUNT})\s+)?(?P<unit>{_UNIT})s?\s+|{_NOT_IDIOM})"
    r"(?:(?:right|just|soon|shortly)\s+)?"
    r"(?P<relation>before|prior\s+to|until|after|since|following)\s+"
)
_RELATIVE_TO_EVENT = re.compile(_TIME + _EVENT, re.IGNORECASE)
_RELATIVE_TO_DATE = re.compile(_TIME + r"(?:the\s+)?\Z", re.IGNORECASE)
_IN_EVENT = re.compile(
    rf"\bthe\s+(?:same\s+)?(?P<unit>{_UNIT}|{'|'.join(SEASONS)})\s+(?:(?:that|when|of|in\s+which)\s+)?"
    rf"{_EVENT}",
    re.IGNORECASE,
)
_BEFORE = frozenset({"before", "prior", "until"})


Days = tuple[date, date]


class Anchor(NamedTuple):
    """A time relative to an event or a date; `event` is the event's wording, text[start:end].

    The time is `unit_count` units long. For "in", `unit` is the day, week, month, season or year
    of the event. `unit` None: everything before or after the event.
    """

    relation: Relation
    unit: str | None
    unit_count: int
    event: str = ""
    start: int = 0
    end: int = 0


def find_anchor(text: str) -> Anchor | None:
    """Return the time that a question gives relative to an event, or None."""
    if found := _RELATIVE_TO_EVENT.search(text):
        return _anchor_of(found)._replace(
            event=found["event"].strip(), start=found.start("event"), end=found.end("event")
        )
    if found := _IN_EVENT.search(text):
        start, end = found.span("event")
        return Anchor("in", found["unit"].lower(), 1, found["event"].strip(), start, end)
    return None


def before_date(text: str) -> Anchor | None:
    """Return the relation that the words before a date express, as "two weeks before" or "since".

    A bare "before" is ignored (None), since the date itself is likely to be meant.
    """
    found = _RELATIVE_TO_DATE.search(text)
    anchor = None if found is None else _anchor_of(found)
    return None if anchor is None or (anchor.relation, anchor.unit) == ("before", None) else anchor


def _anchor_of(found: re.Match[str]) -> Anchor:
    relation: Relation = "before" if found["relation"].lower().split()[0] in _BEFORE else "after"
    digits_or_word = (found["count"] or "1").lower()
    count = int(digits_or_word) if digits_or_word.isdecimal() else COUNTS[digits_or_word]
    return Anchor(
        relation, found["unit"] and found["unit"].lower(), count, "", found.end(), found.end()
    )


def days_of_anchor(anchor: Anchor, first: date, last: date) -> Days:
    """Return the first and last day of a time relative to an event from `first` to `last`."""
    if anchor.relation == "in":
        return _around(anchor.unit or "day", first, last)
    begin, end = first.toordinal(), last.toordinal()
    length = anchor.unit_count * UNIT_DAYS[anchor.unit] if anchor.unit else None
    if anchor.relation == "before":
        # The days of the event itself belong to both sides: messages on them are about either.
        return (date.min, first) if length is None else (_date(begin - length), _date(begin - 1))
    return (first, date.max) if length is None else (_date(end + 1), _date(end + length))


def _around(unit: str, first: date, last: date) -> Days:
    """Return the day, week, month, nearest season or year of an event."""
    if unit in SEASONS:
        seasons = [season_of(SEASONS[unit], first.year + step) for step in (-1, 0, 1)]
        day = first.toordinal()
        begin, end = min(seasons, key=lambda span: max(span[0] - day, day - span[1]))
        return _date(begin), _date(end)
    period = calendar_unit(unit, 0, first.toordinal())
    if unit == "day" or period is None:
        return first, last
    return _date(period[0]), _date(period[1])


def _date(ordinal: int) -> date:
    return date.fromordinal(min(max(ordinal, 1), date.max.toordinal()))
