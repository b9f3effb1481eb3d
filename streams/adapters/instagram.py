"""Instagram's and Messenger's messages as JSON: a file, or several, for each chat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from schemas.errors import InvalidInput
from schemas.events import Attachment
from schemas.inbound import InboundEvent
from streams.adapters.adapter import BYTE_ORDER_MARK, Adapter, Found, OneFile, converted
from streams.adapters.input_files import Member
from streams.adapters.json_documents import items

_MARKS = (
    re.compile(rb'"messages"\s*:\s*\['),
    re.compile(rb'"sender_name"\s*:'),
    re.compile(rb'"timestamp_ms"\s*:\s*\d'),
)
_MESSENGER = re.compile(r"facebook|messenger", re.IGNORECASE)
#: The folders in which a chat has a folder of its own.
_BOXES = frozenset(
    {"inbox", "message_requests", "archived_threads", "filtered_threads", "e2ee_cutover"}
)
_FILES = {
    "photos": "image",
    "videos": "video",
    "audio_files": "audio",
    "gifs": "image",
    "files": "file",
}
# What the program says in the sender's name.
_TOLD = re.compile(
    r"(?:Liked a message|Reacted .{1,20} to (?:your|a) message\s*|.{1,100} "
    r"(?:started (?:a|an) (?:video|audio) (?:chat|call)|missed a (?:video|audio) (?:chat|call)|"
    r"(?:named|left|created) the group.*|changed the .*|added .* to the group)|"
    r"(?:Video|Audio) (?:chat|call) ended)\.?$"
)
_SENT = re.compile(r"(?:You|.{1,100}) sent an attachment\.$")


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    return head.startswith(b"{") and all(mark.search(head) for mark in _MARKS)


def _found(member: Member) -> Iterator[tuple[int, Found]]:
    parts = member.path.split("/")
    platform = "messenger" if any(map(_MESSENGER.search, parts[:-1])) else "instagram"
    chat = parts[-2] if len(parts) > 2 and parts[-3] in _BOXES else None
    return converted(items(member, "messages.item"), lambda raw: _events(raw, platform, chat))


def _events(raw: object, platform: str, chat: str | None) -> Iterator[InboundEvent]:
    if not isinstance(raw, dict):
        raise InvalidInput("a message that is no JSON object")
    sender, at = raw["sender_name"], raw["timestamp_ms"]
    if not isinstance(sender, str) or not isinstance(at, int):
        raise InvalidInput("a message without a sender or a time")
    sender = _text(sender)
    files = tuple(_files(raw))
    content = raw.get("content")
    text = _text(content) if isinstance(content, str) else ""
    if files and _SENT.match(text):
        text = ""
    told = "call_duration" in raw or _TOLD.match(text) is not None
    if raw.get("is_unsent") and not text:
        text, told = "took a message back", True
    if not text and not files:
        return
    reactions = [
        f"{_text(str(one.get('actor', '')))}: {_text(str(one.get('reaction', '')))}"
        for one in raw.get("reactions") or ()
        if isinstance(one, dict)
    ]
    yield InboundEvent(
        platform=platform,
        sender_id=sender,
        sender_name=sender,
        occurred_at=at,
        content=text,
        kind="notice" if told else "message",
        peer_id=chat,
        attachments=files,
        metadata={"reactions": reactions} if reactions else {},
    )


def _files(raw: Mapping[str, Any]) -> Iterator[Attachment]:
    for field, kind in _FILES.items():
        for given in raw.get(field) or ():
            if isinstance(given, dict) and isinstance(given.get("uri"), str):
                yield Attachment(type=kind, name=given["uri"].rpartition("/")[2])
    share = raw.get("share")
    if isinstance(share, dict) and (share.get("link") or share.get("share_text")):
        said, owner = share.get("share_text"), share.get("original_content_owner")
        yield Attachment(
            type="forward",
            name=_text(owner) if isinstance(owner, str) else None,
            url=share["link"] if isinstance(share.get("link"), str) else None,
            caption=_text(said) if isinstance(said, str) else None,
        )


def _text(text: str) -> str:
    """Return a text as it was: the export writes each byte of UTF-8 as a character."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


ADAPTER = Adapter("instagram", _recognises, lambda member, options: OneFile(member, _found))
