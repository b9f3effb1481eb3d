"""Clock times in a reference: the time of "tomorrow at 3pm", and whether "at 3am" is past."""

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


# A clock time that says which half of the day it is of, or has minutes; "past" before it counts on.
_STATED = re.compile(
    r"(?:(?P<offset>half|quarter|\d{1,2}|[a-z]+)(?: minutes?| mins?)?"
    r" (?P<side>past|after|to|till|before) )?"
    r"(?:(?P<named>noon|midday|midnight)\b"
    r"|(?<![\d:.,/-])(?P<hour>\d{1,2}|[a-z]+)(?:(?P<mark>[:.h])(?P<minute>\d\d)(?::\d\d)?|(?P<h>h)\b)?"
    r"(?![\d:/]|\.\d)(?: ?o'?clock)?"
    r" ?(?:in (?:the )?)?(?P<half>a\.? ?m?\b|p\.? ?m?\b|morning\b|afternoon\b|evening\b)?)"
)
_RANGE_BEFORE = re.compile(r"\d ?(?:-|\u2013|to|until|till|and) ?\Z")
_NAMED = {"noon": 720, "midday": 720, "midnight": 0}
_OFFSETS = {"half": 30, "quarter": 15}


def clock_time(written: str) -> str | None:
    """Return the first clock time of a reference as HH:MM, or None.

    None for an hour that may be of either half of the day: "at 3", "half past two". Hours and
    minutes without a half are read as of 24 hours.
    """
    text = " ".join(written.lower().replace("\u2019", "'").split())
    for found in _STATED.finditer(text):
        minute = _minute_of_day(found)
        if minute is not None:
            if _RANGE_BEFORE.search(text, 0, found.start("hour" if found["hour"] else "named")):
                return None
            return f"{minute // 60:02}:{minute % 60:02}"
    return None


def _minute_of_day(found: re.Match[str]) -> int | None:
    if found["named"]:
        minute: int | None = _NAMED[found["named"]]
    else:
        minute = _minute_of_clock(found)
    if minute is None or not found["offset"]:
        return minute
    said = found["offset"]
    number = int(said) if said.isdecimal() else NUMBER_WORDS.get(said)
    offset = _OFFSETS.get(said, number)
    if offset is None:
        return minute
    return (minute + offset * (1 if found["side"] in ("past", "after") else -1)) % 1_440


def _minute_of_clock(found: re.Match[str]) -> int | None:
    """Return the minute of the day; None if the hour may be of either half, or there is none."""
    said, half = found["hour"], found["half"]
    hour = int(said) if said.isdecimal() else NUMBER_WORDS.get(said, 24)
    minute = int(found["minute"] or 0)
    in_24_hours = found["h"] or found["mark"] in (":", "h")
    if hour > 23 or minute > 59 or not (half or in_24_hours):
        return None
    if half is not None and hour <= 12:
        hour = hour % 12 + 12 * (half[0] == "p" or half in ("afternoon", "evening"))
    return 60 * hour + minute
