"""Mbox: mails one after the other, each after a line that begins with "From "."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from recollect.streams.adapters.adapter import Adapter, ParseResult, SingleFileSource, convert
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.text_lines import lines
from recollect.streams.adapters.mail.mail_parts import MAX_MAIL_BYTES, parse_header_time
from recollect.streams.adapters.mail.mails import MailConverter

_BOUNDARY = re.compile(rb"From .*\d{1,2}:\d{2}.*\d{4}|From .*\d{4}.*\d{1,2}:\d{2}")
_HEADER = re.compile(rb"[!-9;-~]{1,76}:|>From ")
# If no blank line precedes it, a boundary must have exactly this form, and a mail header below it.
_STRICT_BOUNDARY = re.compile(
    rb"From (?:\S+(?: at \S+)?)? *(?:[A-Z][a-z]{2},? +(?:[A-Z][a-z]{2} +\d{1,2}"
    rb" +\d{1,2}:\d{2}(?::\d{2})?(?: +[A-Z]{3,4}| +[+-]\d{4})? +\d{4}"
    rb"|\d{1,2} +[A-Z][a-z]{2} +\d{4} +\d{1,2}:\d{2}(?::\d{2})?)"
    rb"|\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2})?)(?: +[+-]\d{4}| +[A-Z]{3,4})?\s*$"
)
_MAIL_HEADER = re.compile(
    rb"(?:From|Date|To|Cc|Bcc|Subject|Sender|Reply-To|Received|Return-Path|Delivered-To|Message-ID|"
    rb"MIME-Version|Content-[\w-]+|DKIM-Signature|Status|Authentication-Results|Envelope-To|"
    rb"Delivery-Date|ARC-[\w-]+|X-[\w-]+): ?",
    re.IGNORECASE,
)
_QUOTED_FROM = re.compile(rb">+From ")
_DATE = re.compile(
    r"([A-Z][a-z]{2}),?\s+([A-Z][a-z]{2})\s+(\d{1,2})\s+(\d{1,2}:\d{2}(?::\d{2})?)\s+"
    r"(?:([A-Z]{3,4}|[+-]\d{4})\s+)?(\d{4})(?:\s+([+-]\d{4}))?"
)


# Maximum length of a boundary line.
_MAX_BOUNDARY_BYTES = 1_000


def _is_boundary(line: bytes) -> bool:
    return len(line) <= _MAX_BOUNDARY_BYTES and bool(_BOUNDARY.match(line))


def _is_mbox(start: bytes, name: str) -> bool:
    first, _, rest = start.lstrip(b"\xef\xbb\xbf\r\n").partition(b"\n")
    return _is_boundary(first) and bool(_HEADER.match(rest))


def _mails(entry: InputEntry) -> Iterator[tuple[int, tuple[bytes, datetime | None]]]:
    """Yield (number of the first line, (mail, time received))."""
    with entry.open() as file:
        first_line, received_at, pending, size = 0, None, [b""], 0
        blank, boundary, first_header = True, b"", _HEADER
        for number, line in enumerate(lines(file, MAX_MAIL_BYTES), 1):
            if boundary:
                # A line without headers below it is not a boundary.
                if first_header.match(line) or not pending:
                    if any(one.strip() for one in pending):
                        yield first_line, (b"".join(pending), received_at)
                    first_line, received_at, pending, size = (
                        number - 1,
                        _received_at(boundary),
                        [],
                        0,
                    )
                else:
                    size += len(boundary)
                    if size <= MAX_MAIL_BYTES:
                        pending.append(boundary)
                boundary = b""
            follows_blank = blank or number == 1
            if _is_boundary(line) and (follows_blank or _STRICT_BOUNDARY.match(line)):
                boundary, blank = line, False
                first_header = _HEADER if follows_blank else _MAIL_HEADER
                continue
            blank = not line.strip()
            size += len(line)
            if size <= MAX_MAIL_BYTES:
                pending.append(line[1:] if _QUOTED_FROM.match(line) else line)
        pending.append(boundary)
        if any(one.strip() for one in pending):
            yield first_line or 1, (b"".join(pending), received_at)


def _received_at(line: bytes) -> datetime | None:
    found = _DATE.search(line.decode("ascii", "replace"))
    if found is None:
        return None
    _, month, day, clock, zone, year, offset = found.groups()
    return parse_header_time(f"{day} {month} {year} {clock} {offset or zone or '+0000'}")


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    converter = MailConverter()
    return convert(_mails(entry), lambda one: converter.events(*one))


ADAPTER = Adapter("mbox", _is_mbox, lambda entry, options: SingleFileSource(entry, _parse))
