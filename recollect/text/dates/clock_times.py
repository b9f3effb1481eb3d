"""Whether a time of the day that stands in a text is past at a minute of the day: "at 3am"."""

from __future__ import annotations

import re

from recollect.text.lexicon import NUMBER_WORDS

# Minutes before or after another time ("ten past 3") are left out.
_CLOCK = re.compile(
    r"(?:at |@ ?|around |about |by )?(?P<hour>\d{1,2}|[a-z]+)"
    r"(?:[:.h](?P<minute>\d\d))?(?P<clock> ?o'?clock)?"
    r" ?(?:in the )?(?P<half>a\.? ?m?\.?|p\.? ?m?\.?|morning|afternoon|evening)?"
)
_IN_24_HOURS = re.compile(r"(?:0|[01]\d|2[0-3]):[0-5]\d|(?:[01]?\d|2[0-3])h[0-5]\d")


def is_past(written: str, minute: int) -> bool:
    """Whether a time is past at a minute of the day.

    False where it does not say which half of the day it is of.
    """
    found = _CLOCK.fullmatch(" ".join(written.lower().replace("\u2019", "'").split()))
    if found is None:
        return False
    said = found["hour"]
    hour = int(said) if said.isdecimal() else NUMBER_WORDS.get(said, 24)
    half = found["half"]
    if hour > 23 or (half is None and not in_24_hours(written)):
        return False
    if half is not None:
        if not 1 <= hour <= 12:
            return False
        hour = hour % 12 + 12 * (half[0] == "p" or half in ("afternoon", "evening"))
    return 60 * hour + int(found["minute"] or 0) < minute


def in_24_hours(written: str) -> bool:
    """Whether a time is written as of a day of 24 hours: 13:45, 0:10, 3h18; not 3:18, 1:01pm."""
    return _IN_24_HOURS.fullmatch(written.strip()) is not None
