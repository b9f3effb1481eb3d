"""A date found in a text, by tokens and by characters."""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from msgspec import Struct

from recollect.text.dates.calendar_days import clip
from recollect.text.tokenizer import Tokens

_UNIX_EPOCH = date(1970, 1, 1).toordinal()
_DAY_MS = 86_400_000
DAY_MINUTES = 1_440


class DateReference(Struct, frozen=True):
    """A stretch of text that means the days from `first` to `last` (ISO dates, both included).

    `relative`: the text alone does not determine the days; the year, or more, is missing.
    `is_time`: it is only a time of day, and the days are those to which it belongs. `time`: the
    time of day ("18:30"). `rules`: ids of the declared rules that matched it, the last one applied
    first.
    """

    start: int
    end: int
    text: str
    first: str
    last: str
    relative: bool
    is_time: bool = False
    time: str | None = None
    rules: tuple[str, ...] = ()


class Found(NamedTuple):
    """A reference by token indices (last one excluded) and ordinal days (last one included)."""

    left: int
    right: int
    first: int
    last: int
    relative: bool  # the text alone does not determine the days: the year, or more, is missing
    is_time: bool = False  # only a time of day
    time: str | None = None  # the time of day, such as "18:30"
    said: str = ""  # "number", "weekday" or "feast", if that gives the day
    rules: tuple[str, ...] = ()  # the ids of the rules that matched


def local_day(at_ms: int, utc_offset_minutes: int) -> int:
    """The ordinal of the local date at a moment, within the years 1 to 9999."""
    return clip((at_ms + utc_offset_minutes * 60_000) // _DAY_MS + _UNIX_EPOCH)


def start_of_day(day: str, utc_offset_minutes: int) -> int:
    """When a local day (ISO date) begins, in unix ms."""
    days = date.fromisoformat(day).toordinal() - _UNIX_EPOCH
    return days * _DAY_MS - utc_offset_minutes * 60_000


def local_minute(at_ms: int, utc_offset_minutes: int) -> int:
    """The local minute of the day at a moment."""
    return (at_ms // 60_000 + utc_offset_minutes) % DAY_MINUTES


def as_reference(tokens: Tokens, found: Found) -> DateReference:
    """Return a date that was found, with its offsets; a genitive "'s" is left out."""
    start = tokens.starts[found.left]
    end = tokens.ends[found.right - 1]
    if tokens.lowers[found.right - 1].endswith("'s"):
        end -= 2
    return DateReference(
        start,
        end,
        tokens.text[start:end],
        date.fromordinal(found.first).isoformat(),
        date.fromordinal(found.last).isoformat(),
        found.relative,
        found.is_time,
        found.time,
        found.rules,
    )
