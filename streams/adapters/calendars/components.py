"""The entries of an iCalendar file (RFC 5545): components, properties, and their values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

from recollect.schemas.errors import InvalidInput
from recollect.streams.adapters.adapter import BYTE_ORDER_MARK
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.text_lines import decode_text, lines
from recollect.streams.adapters.long_messages import MAX_MESSAGE_BYTES

#: The name of the time zone of UTC times.
UTC_NAME = "UTC"
_ENTRY = "VEVENT"
_PARAMETERS = r'(?:;[^=;:"]+=(?:"[^"]*"|[^";:])*)*'
_LINE = re.compile(rf"(?P<name>[\w-]+)(?P<parameters>{_PARAMETERS}):(?P<value>.*)", re.DOTALL)
_PARAMETER = re.compile(r';([^=;:"]+)=((?:"[^"]*"|[^";:])*)')
_ESCAPE = re.compile(r"\\([\\;,nN])")
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z)?)?")
_DURATION = re.compile(
    r"(?P<sign>[+-])?P(?:(?P<weeks>\d{1,4})W)?(?:(?P<days>\d{1,4})D)?"
    r"(?:T(?:(?P<hours>\d{1,4})H)?(?:(?P<minutes>\d{1,4})M)?(?:(?P<seconds>\d{1,5})S)?)?"
)
# Time zone ids of Mozilla's programs and others: "/mozilla.org/20050126_1/Europe/Berlin".
_PREFIXED_ZONE = re.compile(r"/.*?/([A-Z][\w+-]*(?:/[A-Z][\w+-]*)+)")
# An entry has at most this many lines with the same name; further ones are ignored.
_MAX_REPEATED = 1_000


class Property(NamedTuple):
    """A property of a component: its raw value, and its parameters by name in upper case."""

    value: str
    parameters: Mapping[str, str]

    @property
    def text(self) -> str:
        """The value as text, without escapes."""
        return _ESCAPE.sub(lambda found: "\n" if found[1] in "nN" else found[1], self.value).strip()


class Component(NamedTuple):
    """An entry of a calendar; `calendar`: the properties of the calendar before the entry."""

    properties: Mapping[str, list[Property]]
    calendar: Mapping[str, list[Property]]

    def all(self, name: str) -> list[Property]:
        """Return the entry's properties with this name."""
        return self.properties.get(name, [])

    def first(self, name: str) -> Property | None:
        """Return the entry's first property with this name."""
        return next(iter(self.all(name)), None)

    def text(self, name: str) -> str:
        """Return the text of the first property with this name, or ""."""
        found = self.first(name)
        return found.text if found else ""

    def calendar_text(self, name: str) -> str:
        """Return the text of a property of the calendar, or ""."""
        return next((one.text for one in self.calendar.get(name, [])), "")


class Time(NamedTuple):
    """A time of an entry.

    `at`: a day, or a time as the entry shows it, with its time zone if that is known. `zone`: the
    name of the time zone; "" if the time is local time anywhere.
    """

    at: date | datetime
    zone: str = ""

    @property
    def day(self) -> date:
        """The day of the time."""
        return self.at.date() if isinstance(self.at, datetime) else self.at

    @property
    def is_day(self) -> bool:
        """Whether it is a whole day."""
        return not isinstance(self.at, datetime)


def entries(entry: InputEntry) -> Iterator[tuple[int, Component | InvalidInput]]:
    """Yield (number of the first line, entry) of a file, which may contain several calendars."""
    calendar: dict[str, list[Property]] = {}
    found: dict[str, list[Property]] | None = None
    first_line, open_components = 1, [""]
    for number, line in _unfolded(entry):
        match = _LINE.match(line)
        if match is None:
            continue
        name, value = match["name"].upper(), match["value"]
        if name == "BEGIN":
            open_components.append(value.strip().upper())
            if open_components[-1] == "VCALENDAR":
                calendar = {}
            elif open_components[-1] == _ENTRY:
                first_line, found = number, {}
        elif name == "END" and len(open_components) > 1:
            if open_components.pop() == _ENTRY and found is not None:
                yield first_line, Component(found, calendar)
                found = None
        elif open_components[-1] in (_ENTRY, "VCALENDAR"):
            properties = calendar if found is None else found
            repeated = properties.setdefault(name, [])
            if len(repeated) < _MAX_REPEATED:
                parameters = {
                    key.upper(): given.replace('"', "")
                    for key, given in _PARAMETER.findall(match["parameters"])
                }
                repeated.append(Property(value, parameters))
    if found is not None:
        yield first_line, InvalidInput("the file ends within this entry")


def _unfolded(entry: InputEntry) -> Iterator[tuple[int, str]]:
    """Yield (number of the first line, unfolded line), decoded.

    Some programs fold within a character, so lines are joined before they are decoded. What is
    longer than a message may be, such as an enclosed file, is cut.
    """
    with entry.open() as file:
        first_number, pending, size = 1, [b""], 0
        for number, line in enumerate(lines(file), 1):
            row = line.rstrip(b"\r\n")
            if row[:1] in (b" ", b"\t"):
                size += len(row)
                if size <= MAX_MESSAGE_BYTES:
                    pending.append(row[1:])
                continue
            yield first_number, decode_text(b"".join(pending).removeprefix(BYTE_ORDER_MARK))
            first_number, pending, size = number, [row], len(row)
        yield first_number, decode_text(b"".join(pending).removeprefix(BYTE_ORDER_MARK))


def times_of(given: Property | None, shown_zone: str) -> list[Time]:
    """Return the times of a property, which may list several.

    `shown_zone`: the name of the calendar's time zone, in which UTC times are shown; "" if unknown.

    Raises:
        ValueError: one of them is not a time.
    """
    if given is None:
        return []
    return [
        _time_of(value.strip(), given.parameters.get("TZID", ""), shown_zone)
        for value in given.value.split(",")
        if value.strip()
    ]


def _time_of(value: str, zone_name: str, shown_zone: str) -> Time:
    match = _TIME.match(value)
    if match is None:
        raise ValueError(f"{value[:40]!r} is not a time of a calendar, such as 20240501T100000Z")
    year, month, day, hour, minute, second, is_utc = match.groups()
    if hour is None:
        return Time(date(int(year), int(month), int(day)))
    # A second 60 is a leap second.
    at = datetime(
        int(year), int(month), int(day), int(hour), int(minute), min(int(second), 59)
    )  # fmt: skip
    if is_utc:
        zone = zone_of(shown_zone)
        at = at.replace(tzinfo=UTC)
        return Time(at, UTC_NAME) if zone is None else Time(at.astimezone(zone), shown_zone)
    prefixed = _PREFIXED_ZONE.fullmatch(zone_name)
    zone_name = prefixed[1] if prefixed else zone_name
    return Time(at.replace(tzinfo=zone_of(zone_name)), zone_name)


def zone_of(name: str) -> tzinfo | None:
    """Return a time zone by its IANA name; None if there is none of that name."""
    try:
        return ZoneInfo(name) if name else None
    except (KeyError, ValueError, OSError):
        return None


def duration_of(text: str) -> timedelta | None:
    """Return a duration, such as PT1H30M; None if it is malformed."""
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        return None
    units = ("weeks", "days", "hours", "minutes", "seconds")
    length = timedelta(**{unit: int(match[unit] or 0) for unit in units})
    return -length if match["sign"] == "-" else length
