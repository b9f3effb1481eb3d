"""Parsing and formatting of times.

Input is ISO 8601 with a time zone, or unix milliseconds. All other code uses unix milliseconds.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from recollect.schemas.errors import IntegrityError, InvalidInput

# Times before 1970 or from 2200 on come from a broken clock. Both bounds fit the 48-bit
# milliseconds of a ULID.
EARLIEST_MS = 0
LATEST_MS = 7_258_118_400_000
# A smaller integer is probably a time in seconds: as seconds it is before 2286, as milliseconds it
# would be before 1970-04-27.
_MIN_MS = 10**10
# Longer than any ISO 8601 time with a zone.
_MAX_LENGTH = 64
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
# A + that a URL's query did not escape arrives as a space.
_LOST_PLUS = re.compile(r"(:\d{2}(?:\.\d+)?) (\d{2}:?\d{2})", re.ASCII)


#: What a program may give as a time.
TIME_FORMS = "ISO 8601 with a zone, unix milliseconds, or a datetime with a zone"


def parse_time(value: str | int | date, field: str = "time") -> tuple[int, int]:
    """Return (unix milliseconds, UTC offset in minutes) of `value`.

    A string of digits is unix milliseconds. Unix seconds are rejected; as milliseconds they would
    be days of 1970. The T and the Z may be lower-case, and the + of an offset may be a space.

    Raises:
        InvalidInput: `value` is not a time, has no time zone, has a unit other than milliseconds,
            or is outside 1970-01-01 .. 2200-01-01.
    """
    if isinstance(value, date):
        value = value.isoformat()
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise InvalidInput(f"{field} is {type(value).__name__}; give {TIME_FORMS}")
    if isinstance(value, str):
        value = value.strip()
        if len(value) > _MAX_LENGTH:
            raise InvalidInput(f"{field}: {value[:20]!r}… is too long for a time")
        if value.removeprefix("-").isdecimal() and value.isascii():
            value = int(value)
    if isinstance(value, int):
        _check_unit(value, field)
        return _in_range(value, field), 0
    try:
        moment = _moment(value)
        if moment.tzinfo is None:
            raise InvalidInput(
                f"{field}: {value!r} has no time zone; write 2026-05-08T13:56:00Z or +02:00"
            )
        offset = moment.utcoffset()
        milliseconds = round(moment.timestamp() * 1000)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{field}: {value!r} is not a time; write 2026-05-08T13:56:00Z or unix milliseconds"
        ) from None
    assert offset is not None
    return _in_range(milliseconds, field), round(offset.total_seconds() / 60)


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return datetime.fromisoformat(_LOST_PLUS.sub(r"\1+\2", text.upper()))


def parse_query_time(value: str | int | date, field: str = "time") -> int:
    """Parse a time in a query, as unix milliseconds.

    A bare date, not allowed in events, means 00:00 UTC.

    Raises:
        InvalidInput: as `parse_time`.
    """
    if isinstance(value, date):
        value = value.isoformat()
    if not isinstance(value, str) or not _DATE.fullmatch(value.strip()):
        return parse_time(value, field)[0]
    day = value.strip()
    try:
        date.fromisoformat(day)
    except ValueError:
        raise InvalidInput(
            f"{field}: there is no day {day!r}; write a date such as 2026-05-08"
        ) from None
    return parse_time(f"{day}T00:00:00Z", field)[0]


def check_time_order(after: int | None, before: int | None) -> None:
    """Check that a time can be after `time_after` and before `time_before` (unix ms).

    Raises:
        InvalidInput: none can.
    """
    if after is not None and before is not None and after >= before:
        raise InvalidInput(
            f"time_after is {format_time(after)}, which is not before time_before, "
            f"{format_time(before)}; give an earlier time_after"
        )


def format_time(milliseconds: int) -> str:
    """Return `milliseconds` as ISO 8601 in UTC, such as 2026-05-08T13:56:00.000Z.

    Raises:
        IntegrityError: the time is out of range; the record is corrupt.
    """
    try:
        moment = datetime.fromtimestamp(milliseconds // 1000, UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        raise IntegrityError(
            f"{milliseconds:.3g} ms is out of range, so the record is damaged; run recollect verify"
        ) from None
    # Four times as fast as strftime.
    return f"{moment.isoformat()}.{milliseconds % 1000:03d}Z"


def _check_unit(value: int, field: str) -> None:
    """Reject an integer in a unit other than milliseconds since 1970."""
    if 0 < value < _MIN_MS:
        # A day of 1970 can still be given in ISO 8601.
        as_seconds = f" ({format_time(value * 1_000)})" if value * 1_000 < LATEST_MS else ""
        raise InvalidInput(
            f"{field}: {value} looks like unix seconds{as_seconds}; send milliseconds, "
            f"{value * 1_000}, or ISO 8601 with a zone"
        )
    for unit, size in (("microseconds", 1_000), ("nanoseconds", 1_000_000)):
        if _MIN_MS <= value // size < LATEST_MS and value >= LATEST_MS:
            raise InvalidInput(
                f"{field}: {value} looks like unix {unit} ({format_time(value // size)}); send "
                f"milliseconds, {value // size}, or ISO 8601 with a zone"
            )


def _in_range(milliseconds: int, field: str) -> int:
    if not EARLIEST_MS <= milliseconds < LATEST_MS:
        shown = milliseconds if abs(milliseconds) < 10**18 else "that many"
        raise InvalidInput(
            f"{field}: {shown} ms is outside 1970-01-01 to 2200-01-01; is the clock right?"
        )
    return milliseconds
