"""Dates of Google's exports, written out: "Tuesday, March 14, 2023 at 10:41:03 PM UTC"."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from recollect.schemas.errors import InvalidInput
from recollect.streams.adapters.chats.month_names import month_number

_WORD = r"(?P<month>[^\W\d_]{3,20})\.?"
_DATES = (
    re.compile(rf"{_WORD} (?P<day>\d{{1,2}}), (?P<year>\d{{4}})\b"),
    re.compile(rf"\b(?P<day>\d{{1,2}})\.? (?:de )?{_WORD},? (?:de )?(?P<year>\d{{4}})\b"),
)
_TIME = re.compile(
    r"\b(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
    r"(?: ?(?P<half>[ap])\.? ?m\b\.?)?",
    re.IGNORECASE,
)
_ZONE = re.compile(r"\b(?:UTC|GMT)(?:(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?)?")


def parse_google_date(text: str) -> datetime:
    """Return a date that is written out, or in ISO form, with its time zone.

    Raises:
        InvalidInput: it is not a date, is in an unknown language, or has no time zone.
    """
    plain = " ".join(text.split())
    parsed: datetime | None
    try:
        parsed = datetime.fromisoformat(plain)
    except ValueError:
        parsed = _written_out(plain)
    if parsed is None or parsed.tzinfo is None:
        raise InvalidInput(
            f"{text[:80]!r} is not a date in a known language; export again with English as the "
            "language of the Google account"
        )
    return parsed


def _written_out(text: str) -> datetime | None:
    date = next((found for pattern in _DATES if (found := pattern.search(text))), None)
    zone = _ZONE.search(text)
    if date is None or zone is None:
        return None
    time = _TIME.search(text[: date.start()] + "|" + text[date.end() :])
    month = month_number(date["month"])
    if time is None or month is None:
        return None
    hour = int(time["hour"])
    if time["half"]:
        hour = hour % 12 + (12 if time["half"] in "pP" else 0)
    day, second = int(date["day"]), int(time["second"] or 0)
    try:
        local = datetime(int(date["year"]), month, day, hour, int(time["minute"]), second)
    except ValueError:
        return None
    return local.replace(tzinfo=_offset(zone))


def _offset(zone: re.Match[str]) -> timezone:
    if not zone["sign"]:
        return UTC
    offset = timedelta(hours=int(zone["hours"]), minutes=int(zone["minutes"] or 0))
    return timezone(offset if zone["sign"] == "+" else -offset)
