"""Options for formats that do not state the time zone, or the order of day and month."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal, NamedTuple, Self, get_args
from zoneinfo import ZoneInfo

import msgspec

from recollect.schemas.errors import InvalidInput

DateOrder = Literal["dmy", "mdy", "ymd"]
DATE_ORDERS: tuple[DateOrder, ...] = get_args(DateOrder)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ChatPlace(NamedTuple):
    """Where a chat is kept: its platform, and its name there, if it has one."""

    platform: str
    peer_id: str | None


class ChatMessage(NamedTuple):
    """A message by which a chat is recognised; the time is unix ms."""

    sender_id: str
    occurred_at: int
    content: str


#: Returns, for each message, the places on these platforms that already have it.
FindPlaces = Callable[[Sequence[str], Sequence[ChatMessage]], Sequence[Sequence[ChatPlace]]]


class Options(msgspec.Struct, frozen=True):
    """Import options. Every adapter gets them, and uses those that its format needs.

    `timezone`: the time zone of times without one; unix times and UTC times are converted to it.
    `find_places` looks up the chats that the memory's zone already has. `historical`: events count
    as known from their own time, unless they say otherwise.
    """

    timezone: ZoneInfo | None = None
    date_order: DateOrder | None = None
    find_places: FindPlaces | None = None
    historical: bool = False

    @classmethod
    def of(cls, timezone: str | None, date_order: str | None, *, historical: bool = False) -> Self:
        """Parse options.

        Raises:
            InvalidInput: the time zone or the order is unknown.
        """
        zone = None
        if timezone is not None:
            try:
                zone = ZoneInfo(timezone)
            except (KeyError, ValueError, OSError):
                raise InvalidInput(
                    f"there is no time zone {timezone[:60]!r}; give an IANA name, such as "
                    "Europe/Berlin, America/New_York or UTC"
                ) from None
        if date_order is not None and date_order not in DATE_ORDERS:
            raise InvalidInput(
                f"date_order {str(date_order)[:60]!r}: choose from {', '.join(DATE_ORDERS)}"
            )
        return cls(zone, date_order, historical=historical)

    def zone_for(self, path: str) -> ZoneInfo:
        """Return the time zone for a file whose format has none.

        Raises:
            InvalidInput: none was given.
        """
        if self.timezone is None:
            raise InvalidInput(
                f"{path} has times without a zone; give the zone of the export as `timezone`, "
                "such as Europe/Berlin"
            )
        return self.timezone


def localised(milliseconds: int, zone: tzinfo) -> str:
    """Return a time (unix ms) as clocks in a time zone show it, in ISO form with its offset."""
    return (_EPOCH + timedelta(milliseconds=milliseconds)).astimezone(zone).isoformat()


class LocalClock:
    """Adds the time zone to the local times of a chronological export.

    When clocks are set back, an hour occurs twice. A time in that hour belongs to the second
    occurrence if, in the first, it would precede the previous time.
    """

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._last: datetime | None = None

    def zoned(self, local_time: datetime) -> str:
        """Return a local time with its time zone, in ISO form."""
        return self.at(local_time).isoformat()

    def at(self, local_time: datetime) -> datetime:
        """Return a local time with its time zone."""
        zoned = local_time.replace(tzinfo=self._zone, fold=0)
        later = zoned.replace(fold=1)
        # Compare in UTC: Python compares times of the same time zone without their offsets.
        instant = zoned.astimezone(UTC)
        repeated = _offset(zoned) > _offset(later)
        if repeated and self._last is not None and instant < self._last:
            zoned, instant = later, later.astimezone(UTC)
        self._last = instant
        return zoned


def _offset(time: datetime) -> timedelta:
    return time.utcoffset() or timedelta()
