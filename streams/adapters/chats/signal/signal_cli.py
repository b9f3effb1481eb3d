"""Signal: the messages that signal-cli receives, as JSON lines (`--output=json`, JSON-RPC).

As in Signal itself, a message is identified by its chat, its sender and the time at which it was
sent; those of two people have the same ids as in the app's own export.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.schemas.mentioned_users import MENTIONS, find_mentions
from recollect.streams.adapters.adapter import BYTE_ORDER_MARK, ParseResult, convert
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.text_lines import text_lines

_PLATFORM = "signal"
_ENVELOPE = re.compile(
    rb'\{(?:"jsonrpc":"2\.0",)?(?:"method":"receive",)?(?:"params":\{)?'
    rb'(?:"account":"[^"]{1,60}",)?"envelope":\{"source'
)
#: The owner of the account, as in the app's own export.
_OWNER = "Me"
_PLACEHOLDER = "\ufffc"


def is_received(start: bytes) -> bool:
    """Return whether a file begins with a message as signal-cli prints it."""
    return _ENVELOPE.match(start.removeprefix(BYTE_ORDER_MARK).lstrip()) is not None


def parse_received(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    """Yield (line number, event or error) for the messages of all chats."""
    lines = ((n, line) for n, line in text_lines(entry) if line.strip())
    return convert(lines, partial(_events, owner=set()))


def _events(line: str, owner: set[str]) -> Iterator[InboundEvent]:
    """Yield the event of an envelope; none if it is a receipt or tells that somebody types.

    `owner`: the ids and numbers of the account's owner so far; those of the envelope are added.
    """
    try:
        record = msgspec.json.decode(line, type=dict[str, Any])
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidInput(f"not JSON: {error}") from None
    received = record.get("params", record)
    envelope = received.get("envelope")
    if not isinstance(envelope, dict):
        raise InvalidInput("the record has no envelope")
    sync = envelope.get("syncMessage")
    sent = sync.get("sentMessage") if isinstance(sync, dict) else None
    message = sent if isinstance(sent, dict) else envelope
    said, target = message if sent else envelope.get("dataMessage"), None
    if isinstance(edit := message.get("editMessage"), dict):
        said, target = edit.get("dataMessage"), int(edit["targetSentTimestamp"])
    owner |= {str(received["account"])} if received.get("account") else set()
    if sent:
        owner |= set(_addresses(envelope, "source"))
    if not isinstance(said, dict):
        return
    author = _OWNER if sent else _address(envelope, "source", owner)
    name = envelope.get("sourceName") or None
    group = said.get("groupInfo") or message.get("groupInfo")
    if isinstance(group, dict):
        chat, channel = str(group["groupId"]), group.get("groupName")
    else:
        chat, channel = _address(message, "destination", owner) if sent else author, None
    yield from _said(
        said,
        target,
        {
            "platform": _PLATFORM,
            "peer_id": chat,
            "peer_kind": "group" if isinstance(group, dict) else "dm",
            "sender_id": author,
            "sender_name": name,
            "metadata": {"channel": channel} if channel else {},
        },
        owner,
    )


def _said(
    said: Mapping[str, Any], target: int | None, common: dict[str, Any], owner: set[str]
) -> Iterator[InboundEvent]:
    """Yield the event of what was said; `target`: the time of the message that it replaces."""
    chat, author, at = common["peer_id"], common["sender_id"], int(said["timestamp"])

    def id_of(sent_at: object, by: str = author) -> str:
        return f"{chat}:{by}:{sent_at}"

    if isinstance(deletion := said.get("remoteDelete"), dict):
        deleted = id_of(deletion["timestamp"])
        yield InboundEvent(
            **common, kind="deletion", id=f"{deleted}:deleted", target=deleted, occurred_at=at,
            content="",
        )  # fmt: skip
        return
    if isinstance(reaction := said.get("reaction"), dict):
        by = _address(reaction, "targetAuthor", owner)
        reacted = id_of(reaction["targetSentTimestamp"], by)
        removed = bool(reaction.get("isRemove"))
        emoji = str(reaction["emoji"])
        yield InboundEvent(
            **common, kind="notice" if removed else "reaction",
            id=f"{reacted}:reaction:{author}:{at}", target=reacted, occurred_at=at,
            content=f"took {emoji} back" if removed else emoji,
        )  # fmt: skip
        return
    words, mentioned = _words(said)
    files = tuple(_attachments(said))
    if not words and not files:
        # A change of the group or of a timer, a call, or a message that this version does not know.
        return
    metadata = dict(common["metadata"])
    quote = said.get("quote")
    if isinstance(quote, dict):
        common["reply_to"] = id_of(quote["id"], _address(quote, "author", owner))
        if quote.get("text"):
            metadata["quoted"] = str(quote["text"])
    if mentions := find_mentions(words, (), {"@": mentioned}):
        metadata[MENTIONS] = mentions
    common |= {"content": words, "attachments": files, "metadata": metadata}
    if target is None:
        yield InboundEvent(**common, id=id_of(at), occurred_at=at)
        return
    yield InboundEvent(
        **common, kind="edit", id=f"{id_of(target)}:edited:{at}", target=id_of(target),
        occurred_at=at, said_at=target,
    )  # fmt: skip


def _addresses(fields: Mapping[str, Any], role: str) -> list[str]:
    found = (fields.get(f"{role}{form}") for form in ("Uuid", "Number", ""))
    return [str(one) for one in found if one]


def _address(fields: Mapping[str, Any], role: str, owner: set[str]) -> str:
    """Return the id of a person, else their number; of the account's owner, `_OWNER`."""
    found = _addresses(fields, role)
    return _OWNER if owner.intersection(found) else next(iter(found), "unknown")


def _words(said: Mapping[str, Any]) -> tuple[str, dict[str, list[str]]]:
    """Return a text with names in place of its mentions, and account id -> names mentioned."""
    poll = said.get("pollCreate")
    text = said.get("message") or (poll.get("question") if isinstance(poll, dict) else None)
    # Offsets are in UTF-16.
    units = str(text or "").encode("utf-16-le", "surrogatepass")
    mentioned: dict[str, list[str]] = {}
    for one in sorted(said.get("mentions") or (), key=lambda one: -int(one["start"])):
        start, end = 2 * one["start"], 2 * (one["start"] + one["length"])
        if units[start:end].decode("utf-16-le", "replace") == _PLACEHOLDER:
            name = str(one.get("name") or one.get("number") or one.get("uuid"))
            mentioned[str(one.get("uuid") or name)] = [name]
            units = units[:start] + f"@{name}".encode("utf-16-le") + units[end:]
    return units.decode("utf-16-le", "replace").strip(), mentioned


def _attachments(said: Mapping[str, Any]) -> Iterator[Attachment]:
    for file in said.get("attachments") or ():
        mime = str(file.get("contentType") or "")
        family = mime.partition("/")[0]
        yield Attachment(
            type=family if family in ("image", "audio", "video") else "file",
            name=file.get("filename") or None,
            mime_type=mime or None,
            caption=file.get("caption") or None,
            size=file.get("size"),
        )
    if said.get("sticker"):
        yield Attachment(type="sticker")
    for contact in said.get("contacts") or ():
        name = contact.get("name")
        shown = name.get("display") or name.get("given") if isinstance(name, dict) else None
        numbers = (str(one.get("value")) for one in contact.get("phone") or ())
        yield Attachment(type="contact", name=" ".join(filter(None, (shown, *numbers))) or None)
    if isinstance(poll := said.get("pollCreate"), dict):
        yield Attachment(
            type="poll", caption=" / ".join(map(str, poll.get("options") or ())) or None
        )
