"""Calendars as iCalendar files (.ics): each appointment becomes a message that says when it is.

A file has only the latest state of an appointment, and its CREATED and LAST-MODIFIED show whether
it was changed. A changed appointment is imported as an edit, a cancelled one as a deletion.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from typing import Any

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import MAX_NAME_BYTES, InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ExportSource,
    ParseResult,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.calendars.components import (
    UTC_NAME,
    Component,
    Property,
    Time,
    duration_of,
    entries,
    times_of,
)
from recollect.streams.adapters.calendars.recurrence import format_day, join_words, rule_in_words
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.file_types import attachment_type
from recollect.streams.adapters.input.input_files import InputEntry

_PLATFORM = "calendar"
_BEGIN = re.compile(rb"BEGIN:VCALENDAR\s", re.IGNORECASE)
# The sender of appointments without an organizer: the calendar's owner, whom no file names.
_OWNER = "owner"
_MAILTO = re.compile(r"mailto:", re.IGNORECASE)
# Google Meet's instructions at the end of a description.
_JOINING_NOTE = re.compile(r"\n*^-::~:~::~.*?^-::~:~::~[^\n]*$", re.DOTALL | re.MULTILINE)
_MAX_ATTENDEES = 20
_MAX_EXCEPTIONS = 20
# Earlier years stand for an unknown time.
_FIRST_YEAR = 1980
_END_YEAR = 2200


def _recognises(start: bytes, name: str) -> bool:
    return _BEGIN.match(start.removeprefix(BYTE_ORDER_MARK).lstrip()) is not None


def _parse(entry: InputEntry, options: Options) -> Iterator[tuple[int, ParseResult]]:
    written_at = entry.modified_at
    if written_at is not None and not _FIRST_YEAR <= written_at.year < _END_YEAR:
        written_at = None
    return convert(entries(entry), lambda one: _events(one, options, written_at))


def _events(
    component: Component | InvalidInput, options: Options, written_at: datetime | None
) -> Iterator[InboundEvent]:
    """Yield the events of an appointment. `written_at`: when its file was written."""
    if isinstance(component, InvalidInput):
        raise component
    uid = component.text("UID") or _id_without_uid(component)
    shown_zone = component.calendar_text("X-WR-TIMEZONE")
    start = _first_time(component, "DTSTART", shown_zone)
    # One date of a series that differs from the others.
    replaced = _first_time(component, "RECURRENCE-ID", shown_zone)
    id_ = uid if replaced is None else f"{uid}:{component.text('RECURRENCE-ID')}"
    created, modified = (_instant(component, name) for name in ("CREATED", "LAST-MODIFIED"))
    common: dict[str, Any] = {"platform": _PLATFORM, "thread_id": uid, **_organizer(component)}
    is_cancelled = (
        component.text("STATUS").upper() == "CANCELLED"
        or component.calendar_text("METHOD").upper() == "CANCEL"
    )
    shown = start or replaced
    if shown is None or (start is None and not is_cancelled):
        raise InvalidInput("the appointment has no DTSTART")
    if is_cancelled:
        at = modified or created or _unix_ms(shown, options)
        if replaced is not None:
            on = f"{_title(component)} on {format_day(replaced.day)} is cancelled"
            yield InboundEvent(**common, id=f"{id_}:cancelled:message", occurred_at=at, content=on)
        yield InboundEvent(
            **common, kind="deletion", id=f"{id_}:cancelled", target=id_, occurred_at=at, content=""
        )
        return
    end = _end_of(component, shown, shown_zone)
    common |= {
        "content": _sentence(component, shown, end, replaced),
        "attachments": tuple(_attachments(component)),
        "metadata": _metadata(component, shown, end),
    }
    said_at = created or modified or _unix_ms(shown, options)
    sequence = component.text("SEQUENCE")
    if modified is not None and (created is None or modified > created):
        edited_at, version = modified, str(modified // 1000)
    elif modified is None and sequence.isdecimal() and int(sequence[:9]):
        # The time of the change is unknown; later versions come later.
        edited_at, version = said_at + int(sequence[:9]), f"sequence-{sequence[:9]}"
    else:
        if modified is not None:
            common["revised_at"] = modified
        elif written_at is not None:
            common["revised_at"] = round(written_at.timestamp() * 1000)
        yield InboundEvent(**common, id=id_, occurred_at=said_at)
        return
    yield InboundEvent(
        **common, kind="edit", id=f"{id_}:edited:{version}", target=id_, occurred_at=edited_at,
        said_at=said_at,
    )  # fmt: skip


def _id_without_uid(component: Component) -> str:
    """Return an id for an appointment without a UID: its beginning and title identify it."""
    start = component.text("DTSTART") or component.text("RECURRENCE-ID")
    digest = hashlib.sha256(f"{start}\x1f{_title(component)}".encode()).hexdigest()[:32]
    return f"without-uid:{digest}"


def _first_time(component: Component, name: str, shown_zone: str) -> Time | None:
    return next(iter(times_of(component.first(name), shown_zone)), None)


def _instant(component: Component, name: str) -> int | None:
    """Return when an appointment was written or changed (unix ms), or None if that is unknown."""
    try:
        found = _first_time(component, name, "")
    except ValueError:
        # Google writes the year 0 if it is unknown.
        return None
    if found is None or not isinstance(found.at, datetime) or found.at.year < _FIRST_YEAR:
        return None
    at = found.at if found.at.tzinfo is not None else found.at.replace(tzinfo=UTC)
    return round(at.timestamp() * 1000)


def _unix_ms(given: Time, options: Options) -> int:
    """Return a time of an appointment (unix ms); a local time is in the export's zone, or UTC."""
    at = given.at if isinstance(given.at, datetime) else datetime.combine(given.at, time())
    if at.tzinfo is None:
        at = at.replace(tzinfo=options.timezone or UTC)
    return round(at.timestamp() * 1000)


def _organizer(component: Component) -> dict[str, Any]:
    """Return who entered an appointment: its organizer, else the calendar's owner."""
    organizer = component.first("ORGANIZER")
    address = _address(organizer) if organizer is not None else ""
    if organizer is None or not address:
        return {"sender_id": _OWNER}
    return {"sender_id": address, "sender_name": _name(organizer)}


def _address(person: Property) -> str:
    return _fit(_MAILTO.sub("", person.value.strip()).casefold())


def _name(person: Property) -> str | None:
    """Return the name of a person, if it is more than the address."""
    name = _fit(person.parameters.get("CN", "").strip())
    return name if name and "@" not in name else None


def _fit(name: str) -> str:
    return name.encode()[:MAX_NAME_BYTES].decode(errors="ignore").strip()


def _title(component: Component) -> str:
    return " ".join(component.text("SUMMARY").split()) or "An appointment"


def _end_of(component: Component, start: Time, shown_zone: str) -> Time | None:
    """Return the end of an appointment; of whole days, the last one. None if there is no other."""
    end = _first_time(component, "DTEND", shown_zone)
    length = duration_of(component.text("DURATION")) if end is None else None
    if length is not None:
        end = Time(start.at + length, start.zone)
    if end is None or end.is_day != start.is_day:
        return None
    if start.is_day:
        # The end is the day after the last one.
        end = Time(end.day - timedelta(days=1))
        return end if end.day > start.day else None
    return end if end.at != start.at else None


def _sentence(component: Component, start: Time, end: Time | None, replaced: Time | None) -> str:
    """Return what an appointment is, when, where and with whom.

    `replaced`: the date of the series that it replaces.
    """
    shown_zone = component.calendar_text("X-WR-TIMEZONE")
    words = f"{_title(component)} {_when(start, end, shown_zone)}"
    if replaced is not None and replaced.at != start.at:
        day = "" if replaced.day == start.day else format_day(replaced.day)
        clock = "" if replaced.is_day else _clock(replaced)
        words += f", instead of {', '.join(filter(None, (day, clock)))}"
    if rule := component.first("RRULE"):
        words += f", {rule_in_words(rule.value.strip())}"
    excepted = [t for one in component.all("EXDATE") for t in times_of(one, shown_zone)]
    if excepted:
        days = [format_day(one.day, weekday=False) for one in excepted[:_MAX_EXCEPTIONS]]
        words += f", except on {join_words(days)}"
    if place := ", ".join(filter(None, map(str.strip, component.text("LOCATION").split("\n")))):
        words += f", at {place}"
    if people := _attendees(component):
        words += f", with {join_words(people[:_MAX_ATTENDEES])}"
    if component.text("STATUS").upper() == "TENTATIVE":
        words += ", not yet certain"
    return words


def _when(start: Time, end: Time | None, home_zone: str) -> str:
    first = format_day(start.day)
    if start.is_day:
        return f"on {first}" if end is None else f"from {first} to {format_day(end.day)}"
    zone = _offset(start, home_zone)
    if end is None:
        return f"on {first} at {_clock(start)}{zone}"
    end_zone = _offset(end, home_zone)
    if end_zone != zone or end.day != start.day:
        until = f"{format_day(end.day)}, {_clock(end)}{end_zone}"
        return f"from {first}, {_clock(start)}{zone if zone != end_zone else ''} to {until}"
    return f"on {first} from {_clock(start)} to {_clock(end)}{zone}"


def _offset(given: Time, home_zone: str) -> str:
    """Return the offset of a time that is not in the calendar's own time zone, in brackets.

    The name of a time zone would count as the name of a place.
    """
    offset = given.at.utcoffset() if isinstance(given.at, datetime) else None
    if offset is None or given.zone == home_zone or not (home_zone or given.zone == UTC_NAME):
        return ""
    minutes = round(offset.total_seconds() / 60)
    hours, rest = divmod(abs(minutes), 60)
    sign = "-" if minutes < 0 else "+"
    return f" (UTC{sign}{hours}{f':{rest:02}' if rest else ''})" if minutes else " (UTC)"


def _clock(given: Time) -> str:
    return f"{given.at:%H:%M}"


def _attendees(component: Component) -> list[str]:
    """Return the names of the attendees, or their addresses, without rooms and who declined."""
    found: dict[str, str] = {}
    for one in component.all("ATTENDEE"):
        is_room = one.parameters.get("CUTYPE", "").upper() in ("ROOM", "RESOURCE")
        address = _address(one)
        if address and not is_room and one.parameters.get("PARTSTAT", "").upper() != "DECLINED":
            found.setdefault(address, _name(one) or address)
    return list(found.values())


def _attachments(component: Component) -> Iterator[Attachment]:
    """Yield the description, links and files of an appointment."""
    if description := _JOINING_NOTE.sub("", component.text("DESCRIPTION")).strip():
        yield Attachment(type="description", caption=description)
    if address := component.text("URL"):
        yield Attachment(type="link", url=address)
    for one in component.all("ATTACH"):
        name = one.parameters.get("FILENAME") or one.parameters.get("X-FILENAME")
        file_address = one.value.strip() if "://" in one.value[:20] else None
        if name or file_address:
            yield Attachment(type=attachment_type(name or ""), name=name, url=file_address)


def _metadata(component: Component, start: Time, end: Time | None) -> dict[str, Any]:
    found = {
        "channel": component.calendar_text("X-WR-CALNAME"),
        "starts_at": start.at.isoformat(),
        "ends_at": end.at.isoformat() if end is not None else "",
        "timezone": start.zone,
    }
    return {key: value for key, value in found.items() if value}


def _read(entry: InputEntry, options: Options) -> ExportSource:
    return SingleFileSource(entry, lambda one: _parse(one, options), revisable="changing")


ADAPTER = Adapter("icalendar", _recognises, _read)
