"""Skype, and Teams for private accounts: `messages.json` of their export, with all chats."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, PeerKind
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ExportSource,
    ParseResult,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.file_types import attachment_type
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.json_documents import as_words, nested
from recollect.streams.adapters.mail.html_text import text_of_html

_PLATFORM = "skype"
_REQUIRED_KEYS = (
    re.compile(rb'"exportDate"\s*:'),
    re.compile(rb'"conversations"\s*:\s*\['),
    re.compile(rb'"MessageList"\s*:\s*\['),
)
# No pattern runs past the next element of its kind, so that searching takes linear time.
_QUOTE = re.compile(r"<quote\b(?P<fields>[^<>]*)>(?P<text>(?:(?!</?quote\b).)*)</quote>", re.DOTALL)
_MAX_QUOTES = 100
_LEGACY_QUOTE = re.compile(r"<legacyquote>(?:(?!<legacyquote>).)*?</legacyquote>", re.DOTALL)
_EDIT_MARK = re.compile(r"<e_m\b(?P<fields>[^<>]*?)/?>(?:</e_m>)?")
_FILE = re.compile(r"<URIObject\b(?:(?!<URIObject\b).)*?</URIObject>", re.DOTALL)
_FILE_FIELD = re.compile(r"<(OriginalName|FileSize)\b[^<>]*\bv=[\"']([^\"']*)[\"']")
_FIELD = re.compile(r"""\b(?P<name>[\w-]{1,50})=["'](?P<value>[^"']*)["']""")
_CONTACT = re.compile(r"<c\b(?P<fields>[^<>]*)/?>")
_LOCATION = re.compile(r"<location\b(?P<fields>[^<>]*)>")
# What a notice is about: a new topic, a member, or how a call went.
_DETAIL = re.compile(r"<(?:value|target)>([^<]{1,500})</|<partlist\b[^<>]*\btype=\"([^\"]{1,40})\"")


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    return head.startswith(b"{") and all(key.search(head) for key in _REQUIRED_KEYS)


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    messages = nested(entry, "conversations.item.MessageList.item")
    return convert(((n, (chat, raw)) for n, chat, raw in messages), lambda one: [_event(*one)])


def _event(chat: Mapping[str, Any], message: object) -> InboundEvent:
    if not isinstance(message, dict):
        raise InvalidInput("a message that is not a JSON object")
    chat_id = str(message.get("conversationid") or chat["id"])
    kind: PeerKind = "group" if chat_id.startswith("19:") else "dm"
    if not message.get("id"):
        raise InvalidInput("the message has no id")
    id_ = f"{chat_id}:{message['id']}"
    at = str(message["originalarrivaltime"])
    # An address may precede the id, and 8: marks a person.
    sender = str(message.get("from") or chat_id).rpartition("/")[2].removeprefix("8:")
    metadata: dict[str, Any] = {}
    if kind == "group" and chat.get("displayName"):
        metadata["channel"] = str(chat["displayName"])
    fields: dict[str, Any] = {
        "platform": _PLATFORM,
        "sender_id": sender,
        "sender_name": message.get("displayName") or None,
        "peer_id": chat_id,
        "peer_kind": kind,
        "metadata": metadata,
    }
    properties = message.get("properties")
    properties = properties if isinstance(properties, dict) else {}
    content = str(message.get("content") or "")
    if deleted := properties.get("deletetime"):
        return InboundEvent(
            **fields, kind="deletion", id=f"{id_}:deleted", target=id_,
            occurred_at=int(deleted), content="",
        )  # fmt: skip
    type_ = str(message.get("messagetype") or "Text")
    if not type_.startswith(("Text", "RichText")):
        return InboundEvent(
            **fields, kind="notice", id=id_, occurred_at=at, content=_notice(type_, content)
        )
    edit = _EDIT_MARK.search(content)
    content, quoted, answered = _split_quotes(_EDIT_MARK.sub("", content))
    if quoted:
        metadata["quoted"] = quoted
    files = tuple(_attachments(type_, content))
    words = content.strip() if type_ == "Text" else text_of_html(_without_files(content)).strip()
    if not words and not files:
        files = (Attachment(type="unsupported"),)
    fields |= {
        "content": words,
        "attachments": files,
        "reply_to": f"{chat_id}:{answered}" if answered else None,
    }
    edited = _fields(edit["fields"]).get("ts_ms") if edit is not None else None
    if edited:
        return InboundEvent(
            **fields, kind="edit", id=f"{id_}:edited:{edited}", target=id_,
            occurred_at=int(edited), said_at=at,
        )  # fmt: skip
    return InboundEvent(**fields, id=id_, occurred_at=at)


def _split_quotes(content: str) -> tuple[str, str, str | None]:
    """Return the sender's own text, what it quotes, and the id of the message that it answers."""
    quoted, answered = "", None
    # A quotation may contain others; the innermost come first.
    for _ in range(_MAX_QUOTES):
        if (found := _QUOTE.search(content)) is None:
            break
        quoted = text_of_html(_LEGACY_QUOTE.sub("", found["text"])).strip()
        answered = _fields(found["fields"]).get("messageid")
        content = content[: found.start()] + content[found.end() :]
    return content, quoted, answered


def _without_files(content: str) -> str:
    for pattern in (_FILE, _CONTACT, _LOCATION):
        content = pattern.sub("", content)
    return content


def _attachments(type_: str, content: str) -> Iterator[Attachment]:
    for found in _FILE.finditer(content):
        fields = dict(_FILE_FIELD.findall(found[0]))
        name = fields.get("OriginalName") or None
        kind = attachment_type(name or "")
        if kind == "file":
            kind = "image" if type_ == "RichText/UriObject" else _MEDIA.get(type_, "file")
        size = fields.get("FileSize", "")
        yield Attachment(type=kind, name=name, size=int(size) if size.isdecimal() else None)
    if type_ == "RichText/Contacts":
        for found in _CONTACT.finditer(content):
            fields = _fields(found["fields"])
            yield Attachment(type="contact", name=fields.get("f") or fields.get("s"))
    if place := _LOCATION.search(content):
        yield Attachment(type="location", name=_fields(place["fields"]).get("address") or None)


_MEDIA = {"RichText/Media_Video": "video", "RichText/Media_AudioMsg": "audio"}


def _fields(text: str) -> dict[str, str]:
    return {found["name"]: found["value"] for found in _FIELD.finditer(text)}


def _notice(type_: str, content: str) -> str:
    """Return in words what happened: a call, a new member, a new topic."""
    words = as_words(type_.rpartition("/")[2]).replace("_", " ")
    details = [value or call for value, call in _DETAIL.findall(content)]
    return f"{words}: {', '.join(details)}" if details else words


def _read(entry: InputEntry, options: Options) -> ExportSource:
    return SingleFileSource(entry, _parse)


ADAPTER = Adapter(_PLATFORM, _recognises, _read)
