"""Times at the door: ISO 8601 with a zone, or unix milliseconds; inside, integers only."""

from __future__ import annotations

from datetime import UTC, datetime

from schemas.errors import InvalidInput

# A message cannot be older than the clocks of its platforms, and one dated beyond 2200 is a
# broken clock. Both ends also fit the 48-bit milliseconds of a ULID.
EARLIEST_MS = 0
LATEST_MS = 7_258_118_400_000
# No form of ISO 8601 with a zone needs more.
_LONGEST = 64


def parse_time(value: str | int, field: str = "time") -> tuple[int, int]:
    """Return (unix milliseconds, utc offset in minutes) of `value`.

    A string of digits counts as unix milliseconds, so that a command line may give either.

    Raises:
        InvalidInput: not a time, no zone, or outside 1970-01-01 .. 2200-01-01.
    """
    if isinstance(value, str):
        value = value.strip()
        if len(value) > _LONGEST:
            raise InvalidInput(f"{field}: {value[:20]!r}… is too long for a time")
        if value.removeprefix("-").isdecimal() and value.isascii():
            value = int(value)
    if isinstance(value, int):
        return _in_range(value, field), 0
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise InvalidInput(
                f"{field}: {value!r} has no zone; write 2026-05-08T13:56:00Z or +02:00"
            )
        offset = moment.utcoffset()
        milliseconds = round(moment.timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"{field}: {value!r} is not a time ({error})") from None
    assert offset is not None
    return _in_range(milliseconds, field), round(offset.total_seconds() / 60)


def format_time(milliseconds: int) -> str:
    """Return `milliseconds` as ISO 8601 in UTC, for example 2026-05-08T13:56:00.000Z."""
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC).replace(tzinfo=None)
    # Four times as fast as a format.
    return f"{moment.isoformat()}.{milliseconds % 1000:03d}Z"


def _in_range(milliseconds: int, field: str) -> int:
    if not EARLIEST_MS <= milliseconds < LATEST_MS:
        shown = milliseconds if abs(milliseconds) < 10**18 else "that many"
        raise InvalidInput(
            f"{field}: {shown} ms is outside 1970-01-01 to 2200-01-01; is the clock right?"
        )
    return milliseconds
