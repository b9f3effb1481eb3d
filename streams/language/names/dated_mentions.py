"""All mentions of a message, with dates and times resolved relative to its time."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from datetime import date

from msgspec.structs import replace

from recollect.streams.language.grammar.analysis import Mention
from recollect.streams.language.grammar.named_weekdays import all_dates
from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.language.names.mentions import CERTAIN_DATE, DATE, mentions
from recollect.text.dates.found_dates import DateReference, local_day

# Words between a time and its day: "9:30 to 11:00 on Thursday".
_BESIDE = re.compile(r"[^.!?;\n]{0,12}")


def dated_mentions(
    text: str,
    reading: TextReading | None,
    meant: Sequence[DateReference],
    *,
    at_ms: int,
    utc_offset_minutes: int = 0,
) -> list[Mention]:
    """Return the mentions in `text`, written at `at_ms` (unix ms), in order.

    The day of a time is the day next to it or, if there is none, the day of the message. Only
    events, such as holidays, overlap dates. `reading`: as in `mentions`; `meant`: the certain dates
    of the text, as `dates_meant` gives them.
    """
    certain = {each.start for each in meant} | {each.end for each in meant}
    dates = all_dates(text, at_ms=at_ms, utc_offset_minutes=utc_offset_minutes, meant=meant)
    found = [_dated(each, certain=each.start in certain or each.end in certain) for each in dates]
    starts = [each.start for each in dates]
    for mention in mentions(text, reading, at_ms=at_ms, utc_offset_minutes=utc_offset_minutes):
        before = bisect_left(starts, mention.end) - 1
        if before < 0 or dates[before].end <= mention.start or mention.type == "EVENT":
            found.append(mention)
    found.sort(key=lambda mention: (mention.start, mention.end))
    today = date.fromordinal(local_day(at_ms, utc_offset_minutes)).isoformat()
    return _with_days(text, found, today)


def _with_days(text: str, found: list[Mention], today: str) -> list[Mention]:
    """Return mentions in which each time has the adjacent day, or the message's day."""
    dated = list(found)
    for place in reversed(range(len(dated))):
        mention = dated[place]
        if mention.type == "TIME" and mention.first is None:
            near = (*dated[place + 1 : place + 2], *dated[max(place - 1, 0) : place])
            day = next((each for each in near if each.first and _beside(text, mention, each)), None)
            dated[place] = replace(
                mention,
                first=day.first if day else today,
                last=day.last if day else today,
            )
    return dated


def _beside(text: str, one: Mention, other: Mention) -> bool:
    first, second = sorted((one, other), key=lambda mention: mention.start)
    return _BESIDE.fullmatch(text, first.end, second.start) is not None


def _dated(reference: DateReference, *, certain: bool) -> Mention:
    return Mention(
        reference.start,
        reference.end,
        reference.text,
        "DATE" if reference.time is None else "TIME",
        1.0 if reference.is_time else CERTAIN_DATE if certain else DATE,
        reference.first,
        reference.last,
        reference.time,
    )
