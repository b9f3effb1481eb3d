"""Signal: the export of the app itself, or a chat as sigexport writes it, as text or JSON.

In the text, each message begins with a line that has a time stamp.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

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
from recollect.streams.adapters.chats.signal.signal_backup import is_backup, parse_backup
from recollect.streams.adapters.chats.signal.signal_cli import is_received, parse_received
from recollect.streams.adapters.chats.signal.signal_records import (
    CALL,
    DELETED,
    EMPTY,
    is_records,
    parse_records,
)
from recollect.streams.adapters.import_options import ChatPlace, LocalClock, Options
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import InputEntry, decoded_path
from recollect.streams.adapters.input.text_lines import decode_text, text_lines

_PLATFORM = "signal"
# Either a comma and no seconds, or seconds and no comma. With both, it would be WhatsApp's format.
_STAMP = re.compile(
    r"\[(?P<day>\d{4}-\d\d-\d\d)(?P<time>, \d\d:\d\d| \d\d:\d\d:\d\d)\] (?P<rest>.*)", re.DOTALL
)
_MESSAGE = re.compile(r"(?P<who>[^:\n]{1,100}):(?: (?P<text>.*)|\s*)$", re.DOTALL)
# An attached file; its name may contain brackets, and its path ends before white space, the next
# file or the end of the text.
_FILE = re.compile(
    r"(?P<image>!?)\[(?P<name>(?:[^\[\]\n]|\[[^\[\]\n]{0,100}\]){0,300})\]"
    r"\((?P<url>(?:\./)?media/[^\s]{0,1000}?)\)(?=\s|\(- |!?\[|\Z)"
)
# A sticker: its emoji, with its picture if that was exported.
_STICKER = re.compile(
    r"\[(?P<shown>[^\[\]\n]{1,100})\]\(\.\./exported_stickers/[^\s)]{1,300}\)"
    r"|^\(\( (?P<emoji>[^\n]{1,100}) \)\)$",
    re.MULTILINE,
)
# Files that were not exported.
_MISSING = re.compile(r"(?:\((?:media|attachment) not exported\)\s*)+\Z")
_REACTIONS = re.compile(r"\(- (?P<given>[^\n]*) -\)$")
# The name of a chat's file in a folder with the chat's name, and what else is in the folder.
_IN_FOLDER = re.compile(r"(?:(?:index|chat)\.(?:md|txt)|data\.json)$")
_DATA_FILE, _BACKUP_FILE = "data.json", "main.jsonl"
_FILES = frozenset({_DATA_FILE, "chat.md", "index.md", "index.html", "style.css"})
_FOLDERS = frozenset({"media"})
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
        match = _STAMP.match(line)
        if match is None and stamp is not None and len(parts) < _MAX_LINES:
            parts.append(line)
        elif match is None:
            if line.strip():
                yield (
                    number,
                    InvalidInput("this line precedes all messages, or its message is too long"),
                )
        else:
            if stamp is not None:
                yield first_number, _Message(stamp, "\n".join(parts).strip())
            first_number, stamp, parts = number, match, [match["rest"]]
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
    metadata: dict[str, Any] = {}
    missing = _MISSING.search(words)
    if missing is not None:
        words = words[: missing.start()]
    files = [
        Attachment(type="image" if file["image"] else "file", name=file["name"], url=file["url"])
        for file in _FILE.finditer(words)
    ]
    files += [
        Attachment(type="sticker", name=sticker["shown"] or sticker["emoji"])
        for sticker in _STICKER.finditer(words)
    ]
    files += [Attachment(type="media")] * (missing[0].count("(") if missing is not None else 0)
    # Some versions write the files after the reactions.
    words, reactions = _split_reactions(_STICKER.sub("", _FILE.sub("", words)).strip())
    if reactions is not None:
        metadata["reactions"] = reactions
    # Markdown ends a line with two spaces.
    rows = [row.rstrip() for row in words.strip().split("\n")]
    quoted = [row[1:].strip() for row in rows if row.startswith(">")]
    if quoted:
        metadata["quoted"] = "\n".join(quoted)
    content = "\n".join(row for row in rows if not row.startswith(">")).strip()
    if content == DELETED:
        metadata["deleted"] = True
    is_notice = content == DELETED or CALL.fullmatch(content) is not None
    if not content and not files:
        # A change of the group, of a name or of a timer.
        content, is_notice = EMPTY, True
    return InboundEvent(
        platform=_PLATFORM,
        kind="notice" if is_notice else "message",
        sender_id=message_line["who"].strip(),
        sender_name=message_line["who"].strip(),
        occurred_at=clock.zoned(at),
        content=content,
        peer_id=chat,
        attachments=tuple(files),
        metadata=metadata,
    )


def _recognises(start: bytes, name: str) -> bool:
    return is_backup(start) or is_received(start) or is_records(start) or _is_text(start, name)


def _is_folder(folder: Folder) -> bool:
    """Return whether a folder is the app's export, or a chat's folder with its messages as JSON."""
    if _BACKUP_FILE in folder.files():
        return is_backup(folder.file(_BACKUP_FILE).start())
    files = {name for name in folder.files() if not name.startswith(".")}
    if _DATA_FILE not in files or files - _FILES or set(folder.folders()) - _FOLDERS:
        return False
    return is_records(folder.file(_DATA_FILE).start())


def _is_text(start: bytes, name: str) -> bool:
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
    if is_backup(entry.start()):
        return SingleFileSource(entry, parse_backup)
    if is_received(entry.start()):
        return SingleFileSource(entry, parse_received)
    zone = options.zone_for(entry.path)
    *_, folder, _ = ("", "", *decoded_path(entry.path).split("/"))
    chat = folder or None if _IN_FOLDER.match(entry.name) else None

    def open_in(opened: InputEntry, place: ChatPlace) -> ExportSource:
        def found(one: InputEntry) -> Iterator[tuple[int, ParseResult]]:
            if is_records(one.start()):
                return parse_records(one, place, zone)
            clock, peer = LocalClock(zone), place.peer_id
            return convert(
                _messages(text_lines(one)), lambda message: [_event(message, clock, peer)]
            )

        return SingleFileSource(opened, found)

    return RecognisedChat(entry, ChatPlace(_PLATFORM, chat), open_in, options.find_places)


def _open_folder(folder: Folder, options: Options) -> ExportSource:
    name = _BACKUP_FILE if _BACKUP_FILE in folder.files() else _DATA_FILE
    return _open(folder.file(name), options)


ADAPTER = Adapter(_PLATFORM, _recognises, _open, _is_folder, _open_folder)
