"""Apple's Messages: a chat as text, as the program imessage-exporter writes it.

A message is a line with its time, a line with its sender, its parts, and a blank line. An answer
stands twice: indented below the message that it answers, and in its own place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    ExportSource,
    ParseResult,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.chats.chat_recognition import RecognisedChat
from recollect.streams.adapters.chats.month_names import month_number
from recollect.streams.adapters.import_options import ChatPlace, LocalClock, Options
from recollect.streams.adapters.input.file_types import attachment_type
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.text_lines import decode_text, text_lines

_PLATFORM = "imessage"
_OWNER = "Me"
_TIME = (
    r"(?P<month>[A-Z][a-z]{2}) (?P<day>\d\d), (?P<year>\d{4}) {1,2}"
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d):(?P<second>\d\d) (?P<half>[AP]M)"
)
# The line that begins a message, with when it was read; the line of an answer is indented.
_HEADER = re.compile(rf"(?P<indent> *){_TIME}(?: \((?:Read|Delivered)\b[^()]{{0,200}}\))?\s*")
# What happened to the chat is on one line.
_HAPPENED = re.compile(
    rf"{_TIME} (?P<who>.{{1,200}}?) (?P<what>"
    r"(?:added|removed) .{1,200} (?:to|from) the conversation\."
    r"|renamed the conversation to .{0,500}|left the conversation\."
    r"|(?:changed|removed) the group photo\.|kept an audio message\.|unsent a message!"
    r"|performed unknown action .{1,20})"
)
_STAMPED_TEXT = re.compile(rf"{_TIME} (?P<text>.*)")
_EDITED = re.compile(r"Edited .{1,100} later: (?P<text>.*)")
_UNSENT = re.compile(r".{1,100} unsent this message part\b.{0,100}!")
_TAPBACKS = frozenset({"Tapbacks:", "Reactions:"})
_ANSWERS = "This message responded to an earlier message."
_DELETED = "This message was deleted from the conversation!"
_EFFECTS = frozenset(
    f"Sent with {effect}"
    for effect in (
        *("Confetti", "Echo", "Fireworks", "Balloons", "Heart", "Lasers", "Shooting Star"),
        *("Sparkles", "Spotlight", "Slam", "Loud", "Gentle", "Invisible Ink"),
    )
)
_FILE = re.compile(
    r"(?:~|/|[A-Za-z]:\\|attachments/|\.{0,2}/)[^\n]{0,500}?"
    r"(?:Attachments|attachments|StickerCache)[/\\][^\n]{1,500}|attachments/[^\n]{1,500}"
)
_STICKER = re.compile(r"(?:.{1,30} )?Sticker from .{1,200}: .{1,1000}")
_MISSING = frozenset({"Attachment missing!", "Attachment missing name metadata!"})
_YOU = "You"


class _Block(NamedTuple):
    """A message: its header, and its lines; or a line about what happened."""

    header: re.Match[str]
    rows: list[str]


def is_text(start: bytes) -> bool:
    """Return whether a file begins with a message as imessage-exporter writes it."""
    rows = decode_text(start.removeprefix(BYTE_ORDER_MARK).lstrip()[:4000]).split("\n")
    first = rows[0].rstrip("\r")
    if _HAPPENED.fullmatch(first):
        return True
    return _HEADER.fullmatch(first) is not None and len(rows) > 2 and bool(rows[1].strip())


def _blocks(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, _Block]]:
    """Yield the messages of a chat, each with the number of its first line."""
    first, block, in_answer, after_blank = 1, None, False, True
    for number, line in lines:
        header = _HEADER.fullmatch(line)
        if header is None and after_blank:
            header = _HAPPENED.fullmatch(line)
        if header is None:
            # What follows the answers to a part is not indented.
            if in_answer and (line == _ANSWERS or (after_blank and line[:1].strip())):
                in_answer = False
                if block is not None:
                    block.rows.append("")
            if block is not None and not in_answer:
                block.rows.append(line)
        elif header.groupdict().get("indent"):
            in_answer = True
        else:
            if block is not None:
                yield first, block
            first, block, in_answer = number, _Block(header, []), False
        after_blank = not line.strip()
    if block is not None:
        yield first, block


class _Chat:
    """Converts the messages of a file, in order."""

    def __init__(self, place: ChatPlace, clock: LocalClock) -> None:
        self._place = place
        self._clock = clock

    def events(self, block: _Block) -> Iterator[InboundEvent]:
        """Yield the event of a message, or the notice of what happened."""
        header, rows = block
        happened = header.groupdict().get("what")
        sender = header["who"] if happened else rows[0].strip() if rows else ""
        sender = _OWNER if sender == _YOU else sender or "unknown"
        common: dict[str, Any] = {
            "platform": _PLATFORM,
            "sender_id": sender,
            "sender_name": None if sender == _OWNER else sender,
            "direction": "out" if sender == _OWNER else "in",
            "occurred_at": self._clock.zoned(_time(header)),
            "peer_id": self._place.peer_id,
        }
        if happened:
            yield InboundEvent(**common, kind="notice", content=happened)
            return
        yield _message(rows[1:], common)


def _message(rows: list[str], common: dict[str, Any]) -> InboundEvent:
    """Return the event of a message with these lines below its sender."""
    words: list[str] = []
    files: list[Attachment] = []
    reactions: list[str] = []
    metadata: dict[str, Any] = {}
    in_tapbacks = False
    for row in rows:
        stamped, edited = _STAMPED_TEXT.fullmatch(row), _EDITED.fullmatch(row)
        if row in _TAPBACKS:
            in_tapbacks = True
        elif in_tapbacks and row.strip():
            reactions.append(row.strip())
        elif in_tapbacks:
            in_tapbacks = False
        elif row in (_ANSWERS, _DELETED) or row in _EFFECTS:
            continue
        elif edited is not None:
            # The last text of an edited message counts.
            words = [edited["text"]]
            metadata["edited"] = True
        elif stamped is not None and not words:
            words.append(stamped["text"])
        elif _UNSENT.fullmatch(row):
            metadata["deleted"] = True
        elif _FILE.fullmatch(row):
            name = re.split(r"[/\\]", row)[-1]
            files.append(Attachment(type=attachment_type(name), name=name))
        elif _STICKER.fullmatch(row):
            files.append(Attachment(type="sticker"))
        elif row in _MISSING:
            files.append(Attachment(type="file"))
        else:
            words.append(row.rstrip())
    content = "\n".join(words).strip()
    if reactions:
        metadata["reactions"] = reactions
    is_notice = False
    if not content and not files:
        content, is_notice = "took a message back" if "deleted" in metadata else "(empty)", True
    return InboundEvent(
        **common,
        kind="notice" if is_notice else "message",
        content=content,
        attachments=tuple(files),
        metadata=metadata,
    )


def _time(header: re.Match[str]) -> datetime:
    hour = int(header["hour"]) % 12 + (12 if header["half"] == "PM" else 0)
    day = (int(header["year"]), month_number(header["month"]) or 0, int(header["day"]))
    return datetime(*day, hour, int(header["minute"]), int(header["second"]))


def open_text(entry: InputEntry, options: Options) -> ExportSource:
    """Open a chat as text; it is recognised by the file's name or by its messages.

    Raises:
        InvalidInput: no time zone was given.
    """
    zone = options.zone_for(entry.path)
    name = entry.name.rpartition(".")[0] or entry.name

    def open_in(opened: InputEntry, place: ChatPlace) -> ExportSource:
        def parse(one: InputEntry) -> Iterator[tuple[int, ParseResult]]:
            return convert(_blocks(text_lines(one)), _Chat(place, LocalClock(zone)).events)

        return SingleFileSource(opened, parse)

    return RecognisedChat(entry, ChatPlace(_PLATFORM, name), open_in, options.find_places)
