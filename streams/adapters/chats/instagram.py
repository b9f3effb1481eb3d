"""Instagram's and Messenger's messages as JSON: a file, or several, for each chat."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import BYTE_ORDER_MARK, Adapter, Found, OneFile, converted
from recollect.streams.adapters.input.input_files import Member
from recollect.streams.adapters.input.json_documents import items, nested

_MARKS = (
    re.compile(rb'"messages"\s*:\s*\['),
    re.compile(rb'"sender(?:_n|N)ame"\s*:'),
    re.compile(rb'"timestamp(?:_ms)?"\s*:\s*\d{13}'),
)
# Of chats that are encrypted from end to end, Messenger's files are of another make.
_SEALED = re.compile(rb'"senderName"\s*:')
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
# What the program says in the sender's name, and kinds of messages in which it alone speaks.
_TOLD = re.compile(
    r"(?:Liked a message|Reacted .{1,20} to (?:your|a) message\s*|.{1,100} "
    r"(?:(?:started|joined) (?:a|an|the) (?:video|audio) (?:chat|call)|"
    r"missed an? (?:video|audio) (?:chat|call)|"
    r"(?:named|left|created|joined) the group.*|changed the .*|added .* to the group|"
    r"removed .* from the group|created a poll: .*|voted for .* in the poll: .*|"
    r"(?:set|cleared|removed) (?:the|your|his|her|their)(?: own)? (?:nickname|emoji|theme).*|"
    r"pinned a message|unsent a message)|"
    r"(?:The )?(?:video|audio|Video|Audio) (?:chat|call) ended|"
    r"Hat eine Nachricht mit .Gefällt mir. markiert|Hat mit .{1,20} auf deine Nachricht reagiert|"
    r"Indicó que le gusta un mensaje|Reaccionó con .{1,20} a tu mensaje|"
    r"Curtiu uma mensagem|Reagiu com .{1,20} à sua mensagem|"
    r"A aimé un message|A réagi avec .{1,20} à votre message|"
    r"Ha messo .Mi piace. a un messaggio|Ha aggiunto la reazione .{1,20} al tuo messaggio)\.?\s*$"
)
_NOTICES = frozenset({"Subscribe", "Unsubscribe", "Call", "Payment", "Plan"})
_MAX_NAME_LENGTH = 60
_SENT = re.compile(r"(?:You|.{1,100}) sent an attachment\.$")


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    return head.startswith(b"{") and all(mark.search(head) for mark in _MARKS)


def _found(member: Member) -> Iterator[tuple[int, Found]]:
    parts = member.path.split("/")
    platform = "messenger" if any(map(_MESSENGER.search, parts[:-1])) else "instagram"
    chat = parts[-2] if len(parts) > 2 and parts[-3] in _BOXES else None
    if _SEALED.search(member.start()):
        records = ((n, (known, raw)) for n, known, raw in nested(member, "messages.item"))
        return converted(records, lambda one: _sealed(*one))
    return converted(items(member, "messages.item"), lambda raw: _events(raw, platform, chat))


def _sealed(known: Mapping[str, Any], raw: object) -> Iterator[InboundEvent]:
    """Yield what a message becomes that was encrypted from end to end."""
    if not isinstance(raw, dict):
        raise InvalidInput("a message that is no JSON object")
    as_elsewhere = {
        **raw,
        "sender_name": raw["senderName"],
        "timestamp_ms": raw["timestamp"],
        "content": raw.get("text"),
        "is_unsent": raw.get("isUnsent"),
        "files": raw.get("media"),
    }
    name = known.get("threadName")
    return _events(as_elsewhere, "messenger", str(name) if name else None, str)


def _events(
    raw: object, platform: str, chat: str | None, read: Callable[[str], str] | None = None
) -> Iterator[InboundEvent]:
    """Yield what a message becomes; `read`: how its texts are written, where not as usual."""
    if not isinstance(raw, dict):
        raise InvalidInput("a message that is no JSON object")
    read = read or _text
    sender, at = raw["sender_name"], raw["timestamp_ms"]
    if not isinstance(sender, str) or not isinstance(at, int):
        raise InvalidInput("a message without a sender or a time")
    sender = read(sender)
    files = tuple(_files(raw))
    content = raw.get("content")
    text = read(content).strip() if isinstance(content, str) else ""
    named = text.startswith(f"{sender} ") and len(text) < len(sender) + _MAX_NAME_LENGTH
    if files and (_SENT.match(text) or named):
        # "Ada sent an attachment", in whatever language.
        text = ""
    told = "call_duration" in raw or raw.get("type") in _NOTICES or _TOLD.match(text) is not None
    if raw.get("is_unsent") and not text:
        text, told = "took a message back", True
    if not text and not files:
        return
    reactions = [
        f"{read(str(one.get('actor', '')))}: {read(str(one.get('reaction', '')))}"
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
    sticker = raw.get("sticker")
    if isinstance(sticker, dict) and isinstance(sticker.get("uri"), str):
        yield Attachment(type="sticker", name=sticker["uri"].rpartition("/")[2])
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
