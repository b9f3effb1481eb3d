"""Signal: the export of the app itself, with all chats as JSON lines (`main.jsonl`).

Each line is a frame of Signal's backup: the account, a person or group, a chat, or a message. As in
Signal itself, a message is identified by its chat, its sender and the time at which it was sent.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, PeerKind
from recollect.schemas.inbound import InboundEvent
from recollect.schemas.mentioned_users import MENTIONS, find_mentions
from recollect.streams.adapters.adapter import BYTE_ORDER_MARK, ParseResult, convert
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.json_documents import as_words
from recollect.streams.adapters.input.text_lines import text_lines

_PLATFORM = "signal"
_FRAMES = ("account", "recipient", "chat", "chatItem")
_FIRST_FRAMES = re.compile(
    rb'(?:\{[^\n]{0,2000}"backupTimeMs"[^\n]{0,2000}\}\s*)?\{\s*"(?:account|recipient|chat)"\s*:\s*\{'
)
#: The owner of the account, who has no id in the export; sigexport uses the same name.
_OWNER = "Me"
_PLACEHOLDER = "\ufffc"


class _Recipient(NamedTuple):
    """A person or a group: its id, its name, and the kind of its chat."""

    id: str
    name: str | None
    kind: PeerKind


def is_backup(start: bytes) -> bool:
    """Return whether a file begins with frames of Signal's export."""
    return _FIRST_FRAMES.match(start.removeprefix(BYTE_ORDER_MARK).lstrip()) is not None


def parse_backup(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    """Yield (line number, event or error) for the messages of all chats."""
    return convert(((n, line) for n, line in text_lines(entry) if line.strip()), _Backup().events)


class _Backup:
    def __init__(self) -> None:
        self._own_name: str | None = None
        self._recipients: dict[str, _Recipient] = {}
        # The names of people by the id that mentions use.
        self._names: dict[str, str] = {}
        self._chats: dict[str, str] = {}

    def events(self, line: str) -> Iterator[InboundEvent]:
        """Yield the events of a frame; frames about people and chats are kept, and yield none."""
        try:
            frame = msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError) as error:
            raise InvalidInput(f"not JSON: {error}") from None
        if isinstance(account := frame.get("account"), dict):
            self._own_name = _joined(account, "givenName", "familyName")
        elif isinstance(recipient := frame.get("recipient"), dict):
            self._add_recipient(recipient)
        elif isinstance(chat := frame.get("chat"), dict):
            self._chats[str(chat["id"])] = str(chat["recipientId"])
        elif "chatItem" in frame:
            yield from self._item_events(frame["chatItem"])

    def _add_recipient(self, recipient: Mapping[str, Any]) -> None:
        key = str(recipient["id"])
        contact, group = recipient.get("contact"), recipient.get("group")
        if isinstance(contact, dict):
            name = _contact_name(contact)
            self._recipients[key] = _Recipient(
                _contact_id(contact) or f"recipient {key}", name, "dm"
            )
            if aci := _uuid(contact.get("aci")):
                self._names[aci] = name or aci
        elif isinstance(group, dict):
            self._recipients[key] = _group(group)
        elif "self" in recipient:
            self._recipients[key] = _Recipient(_OWNER, self._own_name, "dm")
        elif "releaseNotes" in recipient:
            self._recipients[key] = _Recipient("Signal", "Signal", "dm")

    def _known(self, key: object) -> _Recipient:
        found = self._recipients.get(str(key))
        if found is None:
            raise InvalidInput(
                f"the record refers to recipient {key}, which the export does not have"
            )
        return found

    def _item_events(self, item: Mapping[str, Any]) -> Iterator[InboundEvent]:
        """Yield the events of a message: its texts, or its deletion, and its reactions."""
        place = self._known(self._chats.get(str(item.get("chatId"))))
        author = self._known(item.get("authorId"))
        # The first text, its edits, and last the current text.
        versions = [*(item.get("revisions") or ()), item]
        first_at = int(versions[0]["dateSent"])
        id_ = _message_id(place, author, first_at)
        common: dict[str, Any] = {
            "platform": _PLATFORM,
            "peer_id": place.id,
            "peer_kind": place.kind,
            "metadata": {"channel": place.name} if place.kind == "group" and place.name else {},
        }
        sender: dict[str, Any] = {"sender_id": author.id, "sender_name": author.name}
        if isinstance(update := item.get("updateMessage"), dict):
            yield InboundEvent(
                **common,
                **sender,
                kind="notice",
                id=f"{id_}:update",
                occurred_at=first_at,
                content=_update_words(update),
            )
            return
        if "remoteDeletedMessage" in item or "adminDeletedMessage" in item:
            yield InboundEvent(
                **common, **sender, kind="deletion", id=f"{id_}:deleted", target=id_,
                occurred_at=first_at, content="",
            )  # fmt: skip
            return
        for number, version in enumerate(versions):
            fields = {**common, **sender, **self._said(version, place, common["metadata"])}
            if number == 0:
                yield InboundEvent(**fields, id=id_, occurred_at=first_at)
                continue
            at = int(version["dateSent"])
            yield InboundEvent(
                **fields, kind="edit", id=f"{id_}:edited:{at}", target=id_,
                occurred_at=at, said_at=first_at,
            )  # fmt: skip
        for reaction in _message(item).get("reactions") or ():
            by = self._known(reaction.get("authorId"))
            at = int(reaction["sentTimestamp"])
            yield InboundEvent(
                **common, kind="reaction", id=f"{id_}:reaction:{by.id}:{at}", target=id_,
                sender_id=by.id, sender_name=by.name, occurred_at=at, content=reaction["emoji"],
            )  # fmt: skip

    def _said(
        self, item: Mapping[str, Any], place: _Recipient, metadata: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the text, the files and the quotation of a version of a message."""
        message = _message(item)
        text = message.get("text")
        if isinstance(reply := message.get("textReply"), dict):
            text = reply.get("text")
        words, mentioned = self._words(text)
        words = words or str(message.get("question") or message.get("emoji") or "")
        files = tuple(_attachments(item))
        if not words and not files:
            # Something seen once, a badge, or a message that this version does not know.
            files = (Attachment(type="unsupported"),)
        fields: dict[str, Any] = {"content": words, "attachments": files}
        metadata = dict(metadata)
        if isinstance(quote := message.get("quote"), dict):
            quoted, _ = self._words(quote.get("text"))
            if quoted:
                metadata["quoted"] = quoted
            if quote.get("targetSentTimestamp"):
                quoted_author = self._known(quote.get("authorId"))
                sent_at = int(quote["targetSentTimestamp"])
                fields["reply_to"] = _message_id(place, quoted_author, sent_at)
        if mentions := find_mentions(words, (), {"@": mentioned}):
            metadata[MENTIONS] = mentions
        return {**fields, "metadata": metadata}

    def _words(self, text: object) -> tuple[str, dict[str, list[str]]]:
        """Return a text with names in place of its mentions, and account id -> names mentioned."""
        if not isinstance(text, dict):
            return "", {}
        # Offsets are in UTF-16.
        units = str(text.get("body") or "").encode("utf-16-le", "surrogatepass")
        mentioned: dict[str, list[str]] = {}
        ranges = [one for one in text.get("bodyRanges") or () if one.get("mentionAci")]
        for one in sorted(ranges, key=lambda one: -int(one.get("start") or 0)):
            start = 2 * int(one.get("start") or 0)
            end = start + 2 * int(one.get("length") or 0)
            if units[start:end].decode("utf-16-le", "replace") != _PLACEHOLDER:
                continue
            aci = _uuid(one["mentionAci"]) or "unknown"
            name = self._names.get(aci, aci)
            mentioned[aci] = [name]
            units = units[:start] + f"@{name}".encode("utf-16-le") + units[end:]
        return units.decode("utf-16-le", "replace").strip(), mentioned


def _message_id(chat: _Recipient, author: _Recipient, sent_at: int) -> str:
    # Signal sends one message to several chats at the same time, as when it is forwarded.
    return f"{chat.id}:{author.id}:{sent_at}"


def _message(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the message of an item, of whatever kind."""
    kinds = (
        *("standardMessage", "contactMessage", "stickerMessage", "viewOnceMessage"),
        *("directStoryReplyMessage", "poll", "paymentNotification", "giftBadge"),
    )
    return next((item[kind] for kind in kinds if isinstance(item.get(kind), dict)), {})


def _attachments(item: Mapping[str, Any]) -> Iterator[Attachment]:
    message = _message(item)
    for file in (*(message.get("attachments") or ()), message.get("attachment")):
        pointer = file.get("pointer") if isinstance(file, dict) else None
        if isinstance(pointer, dict):
            mime = str(pointer.get("contentType") or "")
            family = mime.partition("/")[0]
            yield Attachment(
                type=family if family in ("image", "audio", "video") else "file",
                name=pointer.get("fileName") or None,
                mime_type=mime or None,
                caption=pointer.get("caption") or None,
            )
    if isinstance(sticker := message.get("sticker"), dict):
        yield Attachment(type="sticker", name=sticker.get("emoji") or None)
    if isinstance(contact := message.get("contact"), dict):
        name = contact.get("name")
        named = _joined(name, "givenName", "familyName") if isinstance(name, dict) else None
        numbers = [str(one.get("value")) for one in contact.get("number") or ()]
        yield Attachment(type="contact", name=" ".join(filter(None, (named, *numbers))) or None)
    if options := message.get("options"):
        captions = (str(one.get("option")) for one in options if isinstance(one, dict))
        yield Attachment(type="poll", caption=" / ".join(captions) or None)
    if amount := message.get("amountMob"):
        yield Attachment(type="payment", name=f"{amount} MOB", caption=message.get("note") or None)


def _update_words(update: Mapping[str, Any]) -> str:
    """Return in words what happened to a chat: a call, a change of the group or of a name."""
    kind, details = next(iter(update.items()), ("update", None))
    return ": ".join(filter(None, (as_words(kind), ", ".join(_details(details)))))


def _details(details: object) -> Iterator[str]:
    if not isinstance(details, dict):
        return
    for key in ("type", "direction", "state"):
        if details.get(key):
            yield str(details[key]).replace("_", " ").lower()
    for key in ("previousName", "newName", "newGroupName"):
        if details.get(key):
            yield str(details[key])
    for one in details.get("updates") or ():
        for name, value in one.items():
            yield as_words(name)
            yield from _details(value)


def _contact_id(contact: Mapping[str, Any]) -> str | None:
    if aci := _uuid(contact.get("aci")):
        return aci
    if contact.get("e164"):
        return f"+{contact['e164']}"
    return _uuid(contact.get("pni")) or contact.get("username") or None


def _contact_name(contact: Mapping[str, Any]) -> str | None:
    """Return the name under which the owner of the account sees a person."""
    nickname = contact.get("nickname")
    names = (
        _joined(nickname, "given", "family") if isinstance(nickname, dict) else None,
        _joined(contact, "systemGivenName", "systemFamilyName"),
        _joined(contact, "profileGivenName", "profileFamilyName"),
        contact.get("username"),
    )
    number = f"+{contact['e164']}" if contact.get("e164") else None
    return next(filter(None, names), number)


def _group(group: Mapping[str, Any]) -> _Recipient:
    snapshot = group.get("snapshot")
    title = snapshot.get("title") if isinstance(snapshot, dict) else None
    name = title.get("title") if isinstance(title, dict) else None
    # The key admits to the group, so only its digest is kept.
    key = str(group.get("masterKey") or name)
    return _Recipient(hashlib.sha256(key.encode()).hexdigest()[:32], name or None, "group")


def _joined(fields: Mapping[str, Any], *keys: str) -> str | None:
    return " ".join(str(fields[key]) for key in keys if fields.get(key)) or None


def _uuid(value: object) -> str | None:
    """Return an id of 16 bytes, written in base64 or as a UUID, as a UUID."""
    if not isinstance(value, str) or not value:
        return None
    try:
        return str(UUID(value)) if "-" in value else str(UUID(bytes=b64decode(value)))
    except ValueError:
        return value
