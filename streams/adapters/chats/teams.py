"""Microsoft Teams of an organisation: messages as Microsoft Graph returns them (`chatMessage`).

Programs that export chats by Graph write its answers as they are (pages with `value`), or put the
messages of each chat or channel into an array of their own, at any depth: all arrays of messages
are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from recollect.streams.adapters.input.json_documents import array_prefixes, as_words, nested
from recollect.streams.adapters.mail.html_text import text_of_html

_PLATFORM = "teams"
_REQUIRED_KEYS = (
    re.compile(rb'"messageType"\s*:\s*"(?:message|chatEvent|typing|systemEventMessage|unknown)'),
    re.compile(rb'"(?:chatId|channelIdentity)"\s*:\s*(?:"|\{)'),
    re.compile(rb'"createdDateTime"\s*:\s*"'),
    re.compile(rb'"body"\s*:\s*\{'),
)
_EMOJI = re.compile(r"<emoji\b[^<>]*\balt=\"([^\"<>]*)\"[^<>]*>")
_IMAGE = re.compile(r"<img\b[^<>]*>")
_SOURCE = re.compile(r"\bsrc=\"([^\"<>]*)\"")
_UNKNOWN_SENDER = "unknown"


def _recognises(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    return head.startswith((b"{", b"[")) and all(key.search(head) for key in _REQUIRED_KEYS)


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    prefixes = array_prefixes(entry, "messageType")
    # A message contains its replies.
    arrays = [prefix for prefix in prefixes if ".replies." not in prefix]
    return convert(_with_replies(nested(entry, *arrays)), _events)


def _with_replies(
    messages: Iterable[tuple[int, Mapping[str, Any], object]],
) -> Iterator[tuple[int, object]]:
    """Yield (number, message) of messages, each followed by its replies."""
    for number, _, message in messages:
        pending = [message]
        while pending:
            yield number, (message := pending.pop())
            replies = message.get("replies") if isinstance(message, dict) else None
            if isinstance(replies, dict):
                replies = replies.get("value")
            if isinstance(replies, list):
                pending += reversed(replies)
            elif replies:
                pending.append(replies)


def _events(message: object) -> Iterator[InboundEvent]:
    """Yield the events of a message: itself, and its reactions."""
    if not isinstance(message, dict):
        raise InvalidInput("a message that is not a JSON object")
    chat, kind = _chat(message)
    id_, at = f"{chat}:{message['id']}", str(message["createdDateTime"])
    root = message.get("replyToId")
    sender, name, is_app = _sender(message)
    common: dict[str, Any] = {
        "platform": _PLATFORM,
        "sender_id": sender,
        "sender_name": name,
        "peer_id": chat,
        "peer_kind": kind,
        "thread_id": f"{chat}:{root}" if root else None,
        "direction": "out" if is_app else None,
    }
    if deleted := message.get("deletedDateTime"):
        yield InboundEvent(
            **common, kind="deletion", id=f"{id_}:deleted", target=id_, occurred_at=str(deleted),
            content="",
        )  # fmt: skip
        return
    if isinstance(detail := message.get("eventDetail"), dict):
        yield InboundEvent(**common, kind="notice", id=id_, occurred_at=at, content=_notice(detail))
        return
    said = _said(message, chat, common)
    if edited := message.get("lastEditedDateTime"):
        yield InboundEvent(
            **said, kind="edit", id=f"{id_}:edited:{edited}", target=id_, occurred_at=str(edited),
            said_at=at,
        )  # fmt: skip
    else:
        yield InboundEvent(**said, id=id_, occurred_at=at)
    yield from _reactions(message, id_, common)


def _chat(message: Mapping[str, Any]) -> tuple[str, PeerKind]:
    """Return the id of a message's chat or channel, and what it is."""
    channel = message.get("channelIdentity")
    if isinstance(channel, dict) and channel.get("channelId"):
        return str(channel["channelId"]), "channel"
    chat = message.get("chatId")
    if not chat:
        raise InvalidInput("the message has neither chatId nor channelIdentity")
    # Only the chats of two have ids with the ids of both.
    return str(chat), "dm" if str(chat).endswith("@unq.gbl.spaces") else "group"


def _sender(message: Mapping[str, Any]) -> tuple[str, str | None, bool]:
    """Return the id and the name of a sender, and whether it is an app."""
    detail = message.get("eventDetail")
    initiator = detail.get("initiator") if isinstance(detail, dict) else None
    for identities in (message.get("from"), initiator):
        for kind in ("user", "application", "device"):
            found = identities.get(kind) if isinstance(identities, dict) else None
            if isinstance(found, dict) and (id_ := found.get("id") or found.get("displayName")):
                return str(id_), found.get("displayName") or None, kind == "application"
    return _UNKNOWN_SENDER, None, False


def _said(message: Mapping[str, Any], chat: str, common: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of what a message says."""
    body = message.get("body") or {}
    content = str(body.get("content") or "")
    files: list[Attachment] = []
    metadata: dict[str, Any] = {"subject": message["subject"]} if message.get("subject") else {}
    reply_to = common["thread_id"]
    if str(body.get("contentType")).lower() == "html":
        for image in _IMAGE.findall(content):
            source = _SOURCE.search(image)
            files.append(Attachment(type="image", url=source[1] if source else None))
        content = text_of_html(_EMOJI.sub(r"\1", content))
    for attachment in message.get("attachments") or ():
        if attachment.get("contentType") == "messageReference":
            reply_to = f"{chat}:{attachment['id']}"
            if quoted := _quoted(attachment.get("content")):
                metadata["quoted"] = quoted
        else:
            files.append(_attachment(attachment))
    content = content.strip()
    if not content and not files:
        files.append(Attachment(type="unsupported"))
    return {
        **common,
        "content": content,
        "attachments": tuple(files),
        "reply_to": reply_to,
        "metadata": metadata,
    }


def _quoted(content: object) -> str:
    """Return the beginning of the message that is answered; empty if it is not there."""
    try:
        answered = json.loads(str(content))
    except (ValueError, RecursionError):
        return ""
    return str(answered.get("messagePreview") or "") if isinstance(answered, dict) else ""


def _attachment(attachment: Mapping[str, Any]) -> Attachment:
    name, url = attachment.get("name"), attachment.get("contentUrl")
    kind = str(attachment.get("contentType") or "")
    is_card = ".card." in kind
    return Attachment(
        type="card" if is_card else attachment_type(str(name or "")),
        name=None if name is None else str(name),
        url=None if url is None else str(url),
    )


def _reactions(
    message: Mapping[str, Any], id_: str, common: Mapping[str, Any]
) -> Iterator[InboundEvent]:
    for reaction in message.get("reactions") or ():
        sender, name, _ = _sender({"from": reaction.get("user")})
        shown = str(reaction["reactionType"])
        yield InboundEvent(
            platform=_PLATFORM,
            kind="reaction",
            id=f"{id_}:reaction:{sender}:{shown}",
            target=id_,
            sender_id=sender,
            sender_name=name,
            peer_id=common["peer_id"],
            peer_kind=common["peer_kind"],
            occurred_at=str(reaction.get("createdDateTime") or message["createdDateTime"]),
            content=shown,
        )


def _notice(detail: Mapping[str, Any]) -> str:
    """Return in words what happened: new members, a new name, a call."""
    type_ = str(detail.get("@odata.type") or "event").rpartition(".")[2]
    words = as_words(type_.removesuffix("EventMessageDetail"))
    members: Sequence[Any] = detail.get("members") or ()
    names = [str(one.get("displayName") or one.get("id")) for one in members]
    named = detail.get("chatDisplayName") or detail.get("channelDisplayName")
    about = ", ".join([*names, *([str(named)] if named else [])])
    return f"{words}: {about}" if about else words


def _read(entry: InputEntry, options: Options) -> ExportSource:
    return SingleFileSource(entry, _parse)


ADAPTER = Adapter(_PLATFORM, _recognises, _read)
