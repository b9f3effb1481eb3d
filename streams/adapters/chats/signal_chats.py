"""Signal: a chat as text; each message begins with a line that has a time stamp."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ExportSource,
    ParseResult,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.chats.chat_recognition import RecognisedChat, is_talk
from recollect.streams.adapters.import_options import ChatPlace, LocalClock, Options
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.text_lines import decode_text, text_lines

_PLATFORM = "signal"
# Either a comma and no seconds, or seconds and no comma. With both, it would be WhatsApp's format.
_STAMP = re.compile(
    r"\[(?P<day>\d{4}-\d\d-\d\d)(?P<time>, \d\d:\d\d| \d\d:\d\d:\d\d)\] (?P<rest>.*)", re.DOTALL
)
_MESSAGE = re.compile(r"(?P<who>[^:\n]{1,100}):(?: (?P<text>.*)|\s*)$", re.DOTALL)
_FILE = re.compile(
    r"(?P<image>!?)\[(?P<name>[^\[\]\n]{0,300})\]\((?P<url>(?:\./)?media/[^)\n]{0,1000})\)"
)
_REACTIONS = re.compile(r"\(- (?P<given>[^\n]*) -\)$")
# The name of a chat's file in a folder with the chat's name.
_IN_FOLDER = re.compile(r"(?:index|chat)\.(?:md|txt)$")
# File names that sigexport and similar programs give.
_CHAT_FILE = re.compile(r"(?:index|chat)\b", re.IGNORECASE)
_MAX_LINES = 10_000


class _Message(NamedTuple):
    stamp: re.Match[str]
    text: str


def _messages(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, _Message | InvalidInput]]:
    """Yield each line that has a time stamp, with its continuation lines."""
    first_number, stamp, parts = 0, None, [""]
    for number, line in lines:
        found = _STAMP.match(line)
        if found is None and stamp is not None and len(parts) < _MAX_LINES:
            parts.append(line)
        elif found is None:
            if line.strip():
                yield (
                    number,
                    InvalidInput("this line precedes any message, or its message is too long"),
                )
        else:
            if stamp is not None:
                yield first_number, _Message(stamp, "\n".join(parts).strip())
            first_number, stamp, parts = number, found, [found["rest"]]
    if stamp is not None:
        yield first_number, _Message(stamp, "\n".join(parts).strip())


def _split_reactions(words: str) -> tuple[str, str | None]:
    """Split off the reactions, which are at the end of the last line."""
    stripped = words.rstrip()
    at = stripped.find("(- ", stripped.rfind("\n") + 1)
    found = _REACTIONS.match(stripped, at) if at >= 0 else None
    return (words, None) if found is None else (stripped[:at].rstrip(), found["given"])


def _event(message: _Message | InvalidInput, clock: LocalClock, chat: str | None) -> InboundEvent:
    if isinstance(message, InvalidInput):
        raise message
    stamp, text = message
    at = datetime.fromisoformat(f"{stamp['day']} {stamp['time'].lstrip(', ')}")
    message_line = _MESSAGE.match(text)
    if message_line is None:
        raise InvalidInput("a message without a sender")
    words = message_line["text"] or ""
    metadata: dict[str, str] = {}
    files = tuple(
        Attachment(type="image" if file["image"] else "file", name=file["name"], url=file["url"])
        for file in _FILE.finditer(words)
    )
    # Some versions write the files after the reactions.
    words, reactions = _split_reactions(_FILE.sub("", words).strip())
    if reactions is not None:
        metadata["reactions"] = reactions
    # Markdown ends a line with two spaces.
    rows = [row.rstrip() for row in words.strip().split("\n")]
    quoted = [row[1:].strip() for row in rows if row.startswith(">")]
    if quoted:
        metadata["quoted"] = "\n".join(quoted)
    return InboundEvent(
        platform=_PLATFORM,
        sender_id=message_line["who"].strip(),
        sender_name=message_line["who"].strip(),
        occurred_at=clock.zoned(at),
        content="\n".join(row for row in rows if not row.startswith(">")).strip(),
        peer_id=chat,
        attachments=files,
        metadata=metadata,
    )


def _recognises(start: bytes, name: str) -> bool:
    rows = decode_text(start.removeprefix(BYTE_ORDER_MARK).lstrip()).split("\n")
    if _sender_of(rows[0]) is None:
        return False
    return is_talk(
        filter(None, map(_sender_of, rows)), accept_any=_CHAT_FILE.match(name) is not None
    )


def _sender_of(row: str) -> str | None:
    stamp = _STAMP.match(row.rstrip("\r"))
    message = _MESSAGE.match(stamp["rest"]) if stamp is not None else None
    return message["who"] if message is not None else None


def _open(entry: InputEntry, options: Options) -> ExportSource:
    zone = options.zone_for(entry.path)
    *_, folder, _ = ("", "", *entry.path.split("/"))
    chat = folder or None if _IN_FOLDER.match(entry.name) else None

    def open_in(opened: InputEntry, place: ChatPlace) -> ExportSource:
        def found(one: InputEntry) -> Iterator[tuple[int, ParseResult]]:
            clock, peer = LocalClock(zone), place.peer_id
            return convert(
                _messages(text_lines(one)), lambda message: [_event(message, clock, peer)]
            )

        return SingleFileSource(opened, found)

    return RecognisedChat(entry, ChatPlace(_PLATFORM, chat), open_in, options.find_places)


ADAPTER = Adapter(_PLATFORM, _recognises, _open)
