"""Files that hold no events: what they look like, and what to do instead."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from recollect.streams.adapters.adapter import BYTE_ORDER_MARK, OPENS_ARRAY
from recollect.streams.adapters.input.input_files import PROBE_BYTES, STANDARD_INPUT

#: The fields that every event has.
EVENT_FIELDS = frozenset({"platform", "sender_id", "occurred_at", "content"})
# A record with fewer of these fields was not meant as an event; many formats have "content".
_MIN_EVENT_FIELDS = 2
_MAX_PROBED_OBJECTS = 20
_MAX_NAMED_FIELDS = 6
_KEY = re.compile(r'"((?:[^"\\]|\\.){1,60})"\s*:')

# An array whose first value is not an object.
_OTHER_ARRAY = re.compile(rb'\[\s*(?:-?\d[\d.eE+-]*\s*[,\]]|"|\[|true\b|false\b|null\b)')

_TABLES = {".csv": ",", ".tsv": "\t"}
# A column that marks a table of events, whatever the file's name.
_CONTENT_COLUMN = b"content"
_ROWS = "csv.DictReader(sys.stdin{})"
_TO_LINES = "python3 -c 'import csv, json, sys; [print(json.dumps(row)) for row in {}]'"


class _Lookalike(NamedTuple):
    """A known kind of file: what its beginning and its name match, and what to do instead."""

    start: re.Pattern[bytes]
    what: str
    instead: str
    name: re.Pattern[str] = re.compile("")


def _starts_with(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"\A\s*(?:" + pattern + rb")", re.IGNORECASE)


_HTML = rb"(?s:\A\s*(?:<!--.{0,2000}?-->\s*)?<(?:!doctype html|html|head|body|meta|div|table)\b)"
_ANY = re.compile(b"")
_META_JSON = (
    "request the download again with the format JSON, and import the folder that it unpacks to"
)


def _page_with(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(_HTML + rb"(?s:(?=.*(?:" + pattern + rb")))", re.IGNORECASE)


#: The first entry that matches counts.
_LOOKALIKES = (
    _Lookalike(
        _page_with(rb"<title>Exported Data</title>|class=\"page_wrap"),
        "a page of Telegram's export without messages",
        "name the folder of the export, with the pages of its chats (messages.html)",
    ),
    _Lookalike(
        _page_with(rb"DiscordChatExporter|chatlog__message|class=\"?preamble__"),
        "DiscordChatExporter's HTML",
        "export the channel again with the format JSON (-f Json)",
    ),
    _Lookalike(
        _page_with(rb"var jsonData\s*=|<title>ChatGPT Data Export"),
        "ChatGPT's chat.html",
        "name conversations.json, which is in the same zip, or the zip itself",
    ),
    _Lookalike(
        _page_with(rb"your_instagram_activity|instagram\.com|<title>[^<]{0,100}Instagram"),
        "Instagram's export as HTML",
        _META_JSON,
    ),
    _Lookalike(
        _page_with(rb"your_facebook_activity|facebook\.com|messenger\.com|_3-95\b|_a6-g\b"),
        "Messenger's export as HTML",
        _META_JSON,
    ),
    _Lookalike(
        _page_with(rb"outer-cell mdl-cell|<title>My Activity"),
        "Google Takeout's activity as HTML",
        "only Gemini's is read: request it again with the format JSON",
    ),
    _Lookalike(
        _page_with(rb'class="message">\s*<div class="(?:sent|received)\b'),
        "imessage-exporter's HTML",
        "export the chats again as text (--format txt), or name the chat.db itself",
    ),
    _Lookalike(_page_with(b""), "a web page", "it holds no messages that could be read"),
    _Lookalike(
        re.compile(rb"\A=+\r?\n(?:Guild|Server): "),
        "DiscordChatExporter's text",
        "export the channel again with the format JSON (-f Json)",
    ),
    _Lookalike(
        _ANY,
        "WhatsApp's encrypted backup",
        "export each chat in the app instead: Export chat, without media",
        re.compile(r"\.crypt\d{1,2}\Z", re.IGNORECASE),
    ),
    _Lookalike(
        re.compile(rb"\ASQLite format 3\0"),
        "an SQLite database",
        "only those of Apple's Messages (chat.db), Cursor and OpenCode are read; export the chats "
        "from their program as text or JSON",
    ),
    _Lookalike(
        re.compile(rb"\A\x78\x9f\x3e\x22"),
        "winmail.dat, in which Outlook packs the files of a mail",
        "name the mail to which it is attached",
    ),
    _Lookalike(_starts_with(rb"%PDF-"), "a PDF", "export the chat as text or JSON"),
    _Lookalike(
        re.compile(rb"\A(?:\x89PNG|\xff\xd8\xff|GIF8|RIFF....WEBP)", re.DOTALL),
        "a picture",
        "it holds no text",
    ),
    _Lookalike(_starts_with(rb"BEGIN:VCARD"), "a list of contacts", "it holds no messages"),
    _Lookalike(
        re.compile(rb'\A\s*\[\s*\{.{0,4000}?"(?:team_id|is_channel|creator)"\s*:', re.DOTALL),
        "a part of Slack's export",
        "name the whole export: its zip, or the folder with users.json and channels.json",
        re.compile(r"\A(?:users|channels|groups|mpims|dms|integration_logs)\.json\Z"),
    ),
    _Lookalike(
        re.compile(rb'\A\s*\[\s*\{.{0,2000}?"Timestamp"\s*:.{0,2000}?"Contents"\s*:', re.DOTALL),
        "a part of Discord's data package",
        "name the whole package: its zip, or its folder",
    ),
)


def lookalike(start: bytes, name: str) -> str | None:
    """Return what a file looks like and what to do instead, or None if it is of no known kind."""
    found = _lookalike(start.removeprefix(BYTE_ORDER_MARK), name)
    return None if found is None else f"it looks like {found.what}; {found.instead}"


def _lookalike(start: bytes, name: str) -> _Lookalike | None:
    return next(
        (one for one in _LOOKALIKES if one.start.search(start) and one.name.search(name)), None
    )


def holds_other_json(start: bytes) -> bool:
    """Return whether a file begins with JSON objects, none of which looks like an event.

    Text that is not JSON and empty objects do not count: they are rejected line by line later.
    """
    objects = _objects(start)
    return objects is not None and any(objects) and not any(map(_is_event, objects))


def advice(start: bytes, path: Path, formats: Sequence[str]) -> str:
    """Return advice about a file that no adapter recognises; `formats`: the supported formats."""
    start = start.removeprefix(BYTE_ORDER_MARK).strip()
    input_name = "standard input" if path == STANDARD_INPUT else str(path)
    shown_path = "FILE" if path == STANDARD_INPUT else shlex.quote(str(path))
    if description := lookalike(start, path.name):
        return f"{input_name} holds no events: {description}"
    if OPENS_ARRAY.match(start) or _OTHER_ARRAY.match(start):
        return _advice_on_array(start, input_name, shown_path)
    if separator := _separator(start, path):
        rows = _ROWS.format("" if separator == "," else ', delimiter="\\t"')
        return (
            f"{input_name} is a table (CSV), but events are JSON, one object per line; name its "
            "columns platform, sender_id, occurred_at and content, and convert its rows to "
            f"objects: {_TO_LINES.format(rows)} < {shown_path} | recollect ingest -"
        )
    objects = _objects(start)
    if objects:
        return _no_events(input_name, objects[0])
    is_text = path.suffix.casefold() == ".txt" and b"\0" not in start
    note = f"; if it is a note: recollect ingest --format notes {shown_path}" if is_text else ""
    return (
        f"{input_name} is in no known format ({', '.join(formats)}); an event is one JSON object "
        f"on a line, as recollect ingest --help shows{note}"
    )


def _advice_on_array(start: bytes, input_name: str, shown_path: str) -> str:
    objects = _objects(start[1:])
    if not objects:
        return f"{input_name} is a JSON array, but holds no events: its values are not objects"
    if not any(map(_is_event, objects)):
        return _no_events(input_name, objects[0])
    return (
        f"{input_name} is one JSON array, but events are one object per line; split it: "
        f"jq -c '.[]' {shown_path} | recollect ingest -"
    )


def _no_events(input_name: str, fields: frozenset[str]) -> str:
    listed = ", ".join(sorted(fields)[:_MAX_NAMED_FIELDS])
    more = ", …" if len(fields) > _MAX_NAMED_FIELDS else ""
    return (
        f"{input_name} is JSON, but holds no events: its first object has the fields "
        f"{listed}{more}; an event has platform, sender_id, occurred_at and content, as recollect "
        "ingest --help shows"
    )


def _is_event(fields: frozenset[str]) -> bool:
    return len(fields & EVENT_FIELDS) >= _MIN_EVENT_FIELDS


def _objects(start: bytes) -> list[frozenset[str]] | None:
    """Return the field names of the objects at a file's beginning; None if it is not JSON."""
    text = start.removeprefix(BYTE_ORDER_MARK).decode(errors="replace")
    decoder = json.JSONDecoder()
    names: list[frozenset[str]] = []
    at = 0
    while len(names) < _MAX_PROBED_OBJECTS:
        at = _next_value(text, at)
        if at >= len(text) or (names and text[at] == "]"):
            break
        if text[at] != "{":
            return names or None
        try:
            value: dict[str, Any]
            value, at = decoder.raw_decode(text, at)
        except RecursionError:
            return names or None
        except ValueError:
            if len(start) < PROBE_BYTES and start.endswith(b"\n"):
                # Not cut off by the probe: the file itself is not JSON.
                return names or None
            names.append(frozenset(_KEY.findall(text[at:])))
            break
        names.append(frozenset(value))
    return names


_BETWEEN = re.compile(r"[\s,]*")


def _next_value(text: str, at: int) -> int:
    found = _BETWEEN.match(text, at)
    return found.end() if found else at


def _separator(start: bytes, path: Path) -> str | None:
    """Return the column separator of a table, or None if it is not a table."""
    suffix = Path(path.name.removesuffix(".gz")).suffix.casefold()
    if suffix in _TABLES:
        return _TABLES[suffix]
    head = start.partition(b"\n")[0].strip()
    return next(
        (
            separator
            for separator in _TABLES.values()
            if _CONTENT_COLUMN in head.split(separator.encode())
        ),
        None,
    )
