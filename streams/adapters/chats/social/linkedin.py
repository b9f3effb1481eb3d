"""LinkedIn: the messages of an account's data archive (`messages.csv`), the newest first."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, PeerKind
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ParseResult,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry
from recollect.streams.adapters.input.text_lines import text_lines
from recollect.streams.adapters.mail.html_text import text_of_html

_PLATFORM = "linkedin"
_HEADER = re.compile(rb'"?CONVERSATION ID"?,"?CONVERSATION TITLE"?,"?FROM"?,[^\n]*\bDATE\b')
_TIME = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) UTC")
_PROFILE = re.compile(r"/in/([^/?#]+)")
# Messages that were written with formatting are HTML.
_HTML = re.compile(r"</?(?:p|br|div|a|strong|ul|li)\b[^<>]*>", re.IGNORECASE)
_YES = "yes"


def _recognises(start: bytes, name: str) -> bool:
    return _HEADER.match(start.removeprefix(BYTE_ORDER_MARK)) is not None


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    rows: list[tuple[int, dict[str, str]]] = []
    damage = None
    reader = csv.DictReader((line + "\n" for _, line in text_lines(entry)), restval="")
    try:
        rows.extend((reader.line_num, row) for row in reader)
    except (csv.Error, DamagedInput) as error:
        damage = DamagedInput(f"not CSV from here on: {error}")
    yield from convert(reversed(rows), _events)
    if damage is not None:
        raise damage


def _events(row: Mapping[str, str]) -> Iterator[InboundEvent]:
    """Yield the event of a message; none if it is a draft."""
    if row.get("IS MESSAGE DRAFT", "").casefold() == _YES:
        return
    time = _TIME.fullmatch(row["DATE"].strip())
    if time is None:
        raise InvalidInput(f"{row['DATE'][:60]!r} is not a time, such as 2024-05-01 10:00:00 UTC")
    name, subject = row["FROM"].strip(), row.get("SUBJECT", "").strip()
    text = row["CONTENT"].strip()
    text = text_of_html(text) if _HTML.search(text) else text
    files = tuple(
        Attachment(type="file", url=address) for address in row.get("ATTACHMENTS", "").split()
    )
    if not text and not files and not subject:
        # What was sent is not exported: a picture, a post, or a message that was deleted.
        files = (Attachment(type="unsupported"),)
    profiles = row.get("RECIPIENT PROFILE URLS", "").split(",")
    kind: PeerKind = "group" if len(profiles) > 1 else "dm"
    title = row["CONVERSATION TITLE"].strip()
    found = {"channel": title if kind == "group" else "", "subject": subject}
    metadata: dict[str, Any] = {key: value for key, value in found.items() if value}
    profile = _PROFILE.search(row.get("SENDER PROFILE URL", ""))
    yield InboundEvent(
        platform=_PLATFORM,
        sender_id=(profile[1] if profile is not None else "") or name or "unknown",
        sender_name=name or None,
        occurred_at=f"{time[1]}T{time[2]}Z",
        content=text or subject,
        peer_id=row["CONVERSATION ID"],
        peer_kind=kind,
        attachments=files,
        metadata=metadata,
    )


ADAPTER = Adapter(_PLATFORM, _recognises, lambda entry, options: SingleFileSource(entry, _parse))
