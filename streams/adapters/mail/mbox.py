"""An mbox: mails one after the other, each under a line that begins with From."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from recollect.streams.adapters.adapter import Adapter, Found, OneFile, converted
from recollect.streams.adapters.input.input_files import Member
from recollect.streams.adapters.input.text_lines import lines
from recollect.streams.adapters.mail.mail_parts import MAX_MAIL_BYTES, moment_of
from recollect.streams.adapters.mail.mails import Mails

_BOUNDARY = re.compile(rb"From .*\d{1,2}:\d{2}.*\d{4}|From .*\d{4}.*\d{1,2}:\d{2}")
_HEADER = re.compile(rb"[!-9;-~]{1,76}:|>From ")
_QUOTED_FROM = re.compile(rb">+From ")
_DATE = re.compile(
    r"([A-Z][a-z]{2}),?\s+([A-Z][a-z]{2})\s+(\d{1,2})\s+(\d{1,2}:\d{2}(?::\d{2})?)\s+"
    r"(?:([A-Z]{3,4}|[+-]\d{4})\s+)?(\d{4})(?:\s+([+-]\d{4}))?"
)


# A line that is longer is none that parts mails.
_MAX_BOUNDARY_BYTES = 1_000


def _is_boundary(line: bytes) -> bool:
    return len(line) <= _MAX_BOUNDARY_BYTES and bool(_BOUNDARY.match(line))


def _is_mbox(start: bytes, name: str) -> bool:
    first, _, rest = start.lstrip(b"\xef\xbb\xbf\r\n").partition(b"\n")
    return _is_boundary(first) and bool(_HEADER.match(rest))


def _mails(member: Member) -> Iterator[tuple[int, tuple[bytes, datetime | None]]]:
    """Yield (the line on which it begins, the mail and when it came)."""
    with member.open() as file:
        begun, came, held, size = 0, None, [b""], 0
        blank, boundary = True, b""
        for number, line in enumerate(lines(file), 1):
            if boundary:
                # A line that only looks like one has no headers below it.
                if _HEADER.match(line) or not held:
                    if any(one.strip() for one in held):
                        yield begun, (b"".join(held), came)
                    begun, came, held, size = number - 1, _came(boundary), [], 0
                else:
                    size += len(boundary)
                    if size <= MAX_MAIL_BYTES:
                        held.append(boundary)
                boundary = b""
            if (blank or number == 1) and _is_boundary(line):
                boundary, blank = line, False
                continue
            blank = not line.strip()
            size += len(line)
            if size <= MAX_MAIL_BYTES:
                held.append(line[1:] if _QUOTED_FROM.match(line) else line)
        held.append(boundary)
        if any(one.strip() for one in held):
            yield begun or 1, (b"".join(held), came)


def _came(line: bytes) -> datetime | None:
    found = _DATE.search(line.decode("ascii", "replace"))
    if found is None:
        return None
    _, month, day, clock, zone, year, offset = found.groups()
    return moment_of(f"{day} {month} {year} {clock} {offset or zone or '+0000'}")


def _found(member: Member) -> Iterator[tuple[int, Found]]:
    mails = Mails()
    return converted(_mails(member), lambda one: mails.events(*one))


ADAPTER = Adapter("mbox", _is_mbox, lambda member, options: OneFile(member, _found))
