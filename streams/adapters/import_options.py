"""What whoever imports must say where a format does not: the time zone, the order of a date."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Self, get_args
from zoneinfo import ZoneInfo

import msgspec

from recollect.schemas.errors import InvalidInput

DateOrder = Literal["dmy", "mdy", "ymd"]
DATE_ORDERS: tuple[DateOrder, ...] = get_args(DateOrder)


class Options(msgspec.Struct, frozen=True):
    """How an export is to be read. Every adapter gets them, and uses what its format lacks."""

    timezone: ZoneInfo | None = None
    date_order: DateOrder | None = None

    @classmethod
    def of(cls, timezone: str | None, date_order: str | None) -> Self:
        """Return options as they were given.

        Raises:
            InvalidInput: no zone is called so, or no order.
        """
        zone = None
        if timezone is not None:
            try:
                zone = ZoneInfo(timezone)
            except (KeyError, ValueError, OSError):
                raise InvalidInput(
                    f"no time zone is called {timezone[:60]!r}; give its IANA name, as in "
                    "Europe/Berlin, America/New_York or UTC"
                ) from None
        if date_order is not None and date_order not in DATE_ORDERS:
            raise InvalidInput(
                f"date_order {str(date_order)[:60]!r}: choose from {', '.join(DATE_ORDERS)}"
            )
        return cls(zone, date_order)

    def zone_for(self, path: str) -> ZoneInfo:
        """Return the time zone of a file whose format says none.

        Raises:
            InvalidInput: none was given; the message says what to give.
        """
        if self.timezone is None:
            raise InvalidInput(
                f"{path} gives times without a zone; say in which zone it was exported, as in "
                "--timezone Europe/Berlin (in the library timezone=)"
            )
        return self.timezone


def zoned(moment: datetime, zone: ZoneInfo) -> str:
    """Return a local time as an event has it; of two that are called alike, the first."""
    return moment.replace(tzinfo=zone).isoformat()
