"""Instagram's and Messenger's messages as JSON: one or more files per chat."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

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
from recollect.streams.adapters.chats.chat_recognition import RecognisedChat
from recollect.streams.adapters.import_options import ChatPlace, Options
from recollect.streams.adapters.input.input_files import (
    PROBE_BYTES,
    DamagedInput,
    InputEntry,
    decoded_path,
)
from recollect.streams.adapters.input.json_documents import items, nested

_REQUIRED_KEYS = (
    re.compile(rb'"messages"\s*:\s*\['),
    re.compile(rb'"sender(?:_n|N)ame"\s*:'),
    re.compile(rb'"timestamp(?:_ms)?"\s*:\s*\d{13}'),
)
# Messenger exports end-to-end encrypted chats in another form.
_ENCRYPTED_CHAT = re.compile(rb'"senderName"\s*:')
_MESSENGER_PLATFORM = "messenger"
_MESSENGER = re.compile(r"facebook|messenger", re.IGNORECASE)
# How to recognise each program's exports: by folders, fields, or its names for people who left.
_PLATFORM_MARKS = (
    (
        "instagram",
        re.compile(
            rb'"uri"\s*:\s*"[^"]{0,200}your_instagram_activity|"original_content_owner"\s*:'
            rb'|"sender_name"\s*:\s*"Instagram [Uu]ser"|"content"\s*:\s*"Liked a message"'
        ),
    ),
    (
        _MESSENGER_PLATFORM,
        re.compile(
            rb'"uri"\s*:\s*"[^"]{0,200}(?:your_facebook_activity|your_activity_across_facebook'
            rb"|messages/stickers_used/)"
            rb'|"thread_type"\s*:\s*"Regular(?:Group)?"|"thread_path"\s*:\s*"e2ee_cutover/'
            rb'|"sender_name"\s*:\s*"Facebook [Uu]ser"'
        ),
    ),
)
_TEXT = rb'("(?:[^"\\]|\\.){1,2000}")'
_THREAD_PATH = re.compile(rb'"thread_path"\s*:\s*' + _TEXT)
_TITLE = re.compile(rb'"title"\s*:\s*' + _TEXT)
_PARTICIPANTS = re.compile(rb'"participants"\s*:\s*\[([^\]]*)\]')
#: Folders with one folder per chat.
_CHAT_FOLDERS = frozenset(
    {"inbox", "message_requests", "archived_threads", "filtered_threads", "e2ee_cutover"}
)
_FILES = {
    "photos": "image",
    "videos": "video",
    "audio_files": "audio",
    "gifs": "image",
    "files": "file",
}
# What may be shared: a post, or somebody's profile.
_SHARED = ("link", "share_text", "profile_share_name", "profile_share_username")
# Texts that the program writes in the sender's name, and types of messages that only it writes.
_SYSTEM_TEXT = re.compile(
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
_SENT_ATTACHMENT = re.compile(r"(?:You|.{1,100}) sent an attachment\.$")


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    return head.startswith(b"{") and all(mark.search(head) for mark in _REQUIRED_KEYS)


class _ChatInfo(NamedTuple):
    """A file's fields about its chat, and the platform of the chat."""

    platform: str | None
    thread: str | None
    title: str | None


def _chat_info(entry: InputEntry) -> _ChatInfo:
    """Read a whole file to find the chat's fields, which follow the messages."""
    platform, end, start = None, b"", entry.start()
    try:
        with entry.open(uncounted=True) as file:
            while chunk := file.read(PROBE_BYTES):
                end = (end + chunk)[-2 * PROBE_BYTES :]
                if platform is None:
                    platform = next(
                        (name for name, own in _PLATFORM_MARKS if own.search(end)), None
                    )
    except DamagedInput:
        # Reading the messages will report the damage.
        pass
    if _ENCRYPTED_CHAT.search(start):
        platform = _MESSENGER_PLATFORM
    listed = _PARTICIPANTS.search(start)
    is_group = listed is not None and listed[1].count(b'"name"') > 2
    thread, title = _last_text(_THREAD_PATH, end), _last_text(_TITLE, end)
    return _ChatInfo(
        platform,
        thread.rpartition("/")[2] or None if thread else None,
        _repair_text(title) if title and is_group else None,
    )


def _last_text(pattern: re.Pattern[bytes], end: bytes) -> str | None:
    """Return the last text that a pattern finds; the messages come before it in the file."""
    found = deque(pattern.finditer(end), maxlen=1)
    if not found:
        return None
    try:
        return str(msgspec.json.decode(found[0][1]))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _open(entry: InputEntry, options: Options) -> ExportSource:
    info = _chat_info(entry)
    parts = decoded_path(entry.path).split("/")
    by_path = _MESSENGER_PLATFORM if any(map(_MESSENGER.search, parts[:-1])) else "instagram"
    chat = parts[-2] if len(parts) > 2 and parts[-3] in _CHAT_FOLDERS else info.thread
    return RecognisedChat(
        entry,
        ChatPlace(info.platform or by_path, chat),
        lambda opened, place: SingleFileSource(opened, lambda one: _parse(one, place, info)),
        options.find_places,
        (_MESSENGER_PLATFORM, "instagram"),
    )


def _parse(
    entry: InputEntry, place: ChatPlace, info: _ChatInfo
) -> Iterator[tuple[int, ParseResult]]:
    if _ENCRYPTED_CHAT.search(entry.start()):
        records = (
            (n, (chat_fields, raw)) for n, chat_fields, raw in nested(entry, "messages.item")
        )
        return convert(records, lambda one: _encrypted_chat_events(*one))
    return convert(items(entry, "messages.item"), lambda raw: _events(raw, place, info.title))


def _encrypted_chat_events(chat_fields: Mapping[str, Any], raw: object) -> Iterator[InboundEvent]:
    """Yield the events of a message of an end-to-end encrypted chat."""
    if not isinstance(raw, dict):
        raise InvalidInput("a message that is not a JSON object")
    normalised = {
        **raw,
        "sender_name": raw["senderName"],
        "timestamp_ms": raw["timestamp"],
        "content": raw.get("text"),
        "is_unsent": raw.get("isUnsent"),
        "files": raw.get("media"),
    }
    name = chat_fields.get("threadName")
    place = ChatPlace(_MESSENGER_PLATFORM, str(name) if name else None)
    return _events(normalised, place, None, str)


def _events(
    raw: object, place: ChatPlace, title: str | None, read: Callable[[str], str] | None = None
) -> Iterator[InboundEvent]:
    """Yield the events of a message; `read` decodes its texts, by default with `_repair_text`."""
    if not isinstance(raw, dict):
        raise InvalidInput("a message that is not a JSON object")
    read = read or _repair_text
    sender, at = raw["sender_name"], raw["timestamp_ms"]
    if not isinstance(sender, str) or not isinstance(at, int):
        raise InvalidInput("a message without a sender or a time")
    sender = read(sender)
    files = tuple(_files(raw))
    content = raw.get("content")
    text = read(content).strip() if isinstance(content, str) else ""
    names_sender = text.startswith(f"{sender} ") and len(text) < len(sender) + _MAX_NAME_LENGTH
    if files and (_SENT_ATTACHMENT.match(text) or names_sender):
        # "Ada sent an attachment", in any language.
        text = ""
    is_notice = (
        "call_duration" in raw
        or raw.get("type") in _NOTICES
        or _SYSTEM_TEXT.match(text) is not None
    )
    if raw.get("is_unsent") and not text:
        text, is_notice = "took a message back", True
    if not text and not files:
        # A post that is gone, a picture that was shown once.
        files = (Attachment(type="unsupported"),)
    reactions = [
        f"{read(str(one.get('actor', '')))}: {read(str(one.get('reaction', '')))}"
        for one in raw.get("reactions") or ()
        if isinstance(one, dict)
    ]
    metadata: dict[str, Any] = {"reactions": reactions} if reactions else {}
    if title:
        metadata["channel"] = title
    yield InboundEvent(
        platform=place.platform,
        sender_id=sender,
        sender_name=sender,
        occurred_at=at,
        content=text,
        kind="notice" if is_notice else "message",
        peer_id=place.peer_id,
        attachments=files,
        metadata=metadata,
    )


def _files(raw: Mapping[str, Any]) -> Iterator[Attachment]:
    for field, kind in _FILES.items():
        for file in raw.get(field) or ():
            if isinstance(file, dict) and isinstance(file.get("uri"), str):
                yield Attachment(type=kind, name=_file_name(file["uri"]))
    sticker = raw.get("sticker")
    if isinstance(sticker, dict) and isinstance(sticker.get("uri"), str):
        yield Attachment(type="sticker", name=_file_name(sticker["uri"]))
    share = raw.get("share")
    if isinstance(share, dict) and any(share.get(key) for key in _SHARED):
        text = share.get("share_text") or share.get("profile_share_name")
        owner = share.get("original_content_owner") or share.get("profile_share_username")
        yield Attachment(
            type="forward",
            name=_repair_text(owner) if isinstance(owner, str) else None,
            url=share["link"] if isinstance(share.get("link"), str) else None,
            caption=_repair_text(text) if isinstance(text, str) else None,
        )


def _file_name(uri: str) -> str:
    return _repair_text(uri.rpartition("/")[2])


def _repair_text(text: str) -> str:
    """Repair a text in which the export has written each byte of UTF-8 as a character."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


ADAPTER = Adapter("instagram", _recognises, _open)
