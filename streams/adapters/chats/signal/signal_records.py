"""Signal: a chat as JSON lines, which sigexport writes into `data.json` beside its text.

Their messages have the same ids as those of the text, so a chat may be imported from either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.ids import content_source_id
from recollect.schemas.inbound import InboundEvent
from recollect.schemas.times import parse_time
from recollect.streams.adapters.adapter import BYTE_ORDER_MARK, ParseResult, convert
from recollect.streams.adapters.import_options import ChatPlace, LocalClock
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.text_lines import text_lines

#: The texts by which sigexport marks a deleted message and a message without any content.
DELETED = "(This message was deleted)"
EMPTY = "(empty)"
#: A call, in the words of sigexport.
CALL = re.compile(
    r"(?:Incoming|Outgoing|Missed) (?:voice |video |group |adhoc |direct )?call"
    r"(?: \([^()\n]{1,60}\))?"
)
_FIRST_RECORD = re.compile(
    rb'\{"date": "\d{4}-\d\d-\d\dT[\d:.]+", "sender": (?:null|"(?:[^"\\]|\\.)*"), "body": '
)
_IMAGE = re.compile(r"\.(?:png|jpe?g|gif|tiff?|webp|apng|svg)\Z")


class _File(msgspec.Struct):
    name: str | None = None
    path: str | None = None
    missing_kind: str | None = None


class _Version(msgspec.Struct):
    """An earlier text of a message that was edited."""

    date: str
    body: str | None = None


class _Record(msgspec.Struct):
    """A message. `edits`: its earlier texts, the oldest first; `body` is the current one."""

    date: str
    sender: str | None
    body: str | None = None
    quote: str | None = None
    sticker: Any = None
    reactions: list[Any] = []
    attachments: list[_File] = []
    deleted: bool = False
    call: bool = False
    edits: list[_Version] = []


_decoder = msgspec.json.Decoder(_Record)


def is_records(start: bytes) -> bool:
    """Return whether a file begins with a message as sigexport writes it."""
    return _FIRST_RECORD.match(start.removeprefix(BYTE_ORDER_MARK).lstrip()) is not None


def parse_records(
    entry: InputEntry, place: ChatPlace, zone: ZoneInfo
) -> Iterator[tuple[int, ParseResult]]:
    """Yield (line number, event or error) for each message of a chat."""
    chat = _Chat(place, zone)
    return convert(((n, line) for n, line in text_lines(entry) if line.strip()), chat.events)


class _Chat:
    def __init__(self, place: ChatPlace, zone: ZoneInfo) -> None:
        self._place = place
        self._zone = zone
        self._clock = LocalClock(zone)

    def events(self, line: str) -> Iterator[InboundEvent]:
        """Yield the events of a message: the first text, and its edits."""
        try:
            record = _decoder.decode(line)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError as error:
            raise InvalidInput(f"not JSON: {error}") from None
        said = _second(record.date)
        texts = [_text(one.body) for one in record.edits] + [_text(record.body)]
        first = self._first(record, self._clock.zoned(said), texts[0])
        if len(texts) == 1 or first.kind != "message":
            yield first
            return
        at, _ = parse_time(first.occurred_at, "occurred_at")
        conversation = f"{self._place.peer_id or ''}\x1f\x1f"
        id_ = content_source_id(first.platform, first.sender_id, conversation, at, first.content, 0)
        yield msgspec.structs.replace(first, id=id_)
        for number, replaced in enumerate(record.edits, 1):
            # The time of the latest edit is not exported. So each edit has that of the version
            # before it, which stays the same when the message is edited again.
            edited = max(said, _second(replaced.date)).replace(tzinfo=self._zone)
            yield msgspec.structs.replace(
                first,
                kind="edit",
                id=f"{id_}:edited:{number}",
                target=id_,
                said_at=first.occurred_at,
                occurred_at=edited.isoformat(),
                content=texts[number] or EMPTY,
            )

    def _first(self, record: _Record, occurred_at: str, text: str) -> InboundEvent:
        sender = str(record.sender).strip()
        files = () if record.deleted else tuple(_attachments(record))
        metadata: dict[str, Any] = {}
        if record.deleted:
            text = DELETED
            metadata["deleted"] = True
        if reactions := ", ".join(map(_reaction, record.reactions)):
            metadata["reactions"] = reactions
        if quoted := (record.quote or "").strip():
            rows = (row.removeprefix(">").strip() for row in quoted.split("\n"))
            metadata["quoted"] = "\n".join(rows)
        is_call = record.call or CALL.fullmatch(text) is not None
        is_empty = not text and not files
        return InboundEvent(
            platform=self._place.platform,
            kind="notice" if record.deleted or is_call or is_empty else "message",
            sender_id=sender,
            sender_name=sender,
            occurred_at=occurred_at,
            content=EMPTY if is_empty else text,
            peer_id=self._place.peer_id,
            attachments=files,
            metadata=metadata,
        )


def _second(date: str) -> datetime:
    """Return a local time without its fraction, which the text does not have."""
    return datetime.fromisoformat(date).replace(microsecond=0)


def _text(body: str | None) -> str:
    # Markdown ends a line with two spaces.
    return "\n".join(row.rstrip() for row in (body or "").split("\n")).strip()


def _reaction(reaction: Any) -> str:
    name, emoji = reaction
    return f"{name}: {emoji}"


def _attachments(record: _Record) -> Iterator[Attachment]:
    for file in record.attachments:
        if file.missing_kind:
            yield Attachment(type="media")
        else:
            type_ = "image" if _IMAGE.search(file.path or "") else "file"
            yield Attachment(type=type_, name=file.name, url=f"./{file.path}")
    sticker = record.sticker
    if isinstance(sticker, dict):
        yield Attachment(type="sticker", name=str(sticker.get("emoji") or "sticker"))
    elif sticker:
        yield Attachment(type="sticker", name=str(sticker))
