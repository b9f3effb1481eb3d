"""Google Hangouts: the `Hangouts.json` of a Google Takeout, with all chats, in its two forms.

Takeouts until about 2017 have `conversation_state`, later ones `conversations`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

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
from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry
from recollect.streams.adapters.input.json_documents import items, nested

_PLATFORM = "hangouts"
_FIRST_KEYS = re.compile(
    rb'\{\s*(?:"continuation_end_timestamp"\s*:\s*"\d*"\s*,\s*)?'
    rb'"conversation(?:s|_state)"\s*:\s*\[\s*\{\s*"conversation(?:_id)?"\s*:\s*\{'
)


class _Form(NamedTuple):
    """Where a form of the export has events and participants, and a chat's kind and name."""

    events: str
    participants: str
    kind: str
    name: str


_FORMS = (
    _Form(
        "conversations.item.events.item",
        "conversations.item.conversation.conversation.participant_data.item",
        "conversation.conversation.type",
        "conversation.conversation.name",
    ),
    _Form(
        "conversation_state.item.conversation_state.event.item",
        "conversation_state.item.conversation_state.conversation.participant_data.item",
        "conversation.type",
        "conversation.name",
    ),
)
_KINDS: dict[str, PeerKind] = {"STICKY_ONE_TO_ONE": "dm", "GROUP": "group"}
_MEDIA = {"PHOTO": "image", "ANIMATED_PHOTO": "image", "VIDEO": "video", "AUDIO": "audio"}

Names = Mapping[str, str]


def _recognises(start: bytes, name: str) -> bool:
    return _FIRST_KEYS.match(start.removeprefix(BYTE_ORDER_MARK).lstrip()) is not None


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    names = _names(entry)
    found = nested(entry, *(form.events for form in _FORMS))
    return convert(
        ((number, (chat, event)) for number, chat, event in found),
        lambda one: [_event(*one, names)],
    )


def _names(entry: InputEntry) -> Names:
    """Return the names of all participants by id; those before the damage of a damaged file."""
    names: dict[str, str] = {}
    for form in _FORMS:
        try:
            for _, one in items(entry, form.participants):
                if isinstance(one, dict) and one.get("fallback_name"):
                    names[_person(one.get("id"))] = str(one["fallback_name"])
        except DamagedInput:
            # It is reported when the events are read.
            continue
    return names


def _event(chat: Mapping[str, Any], event: object, names: Names) -> InboundEvent:
    if not isinstance(event, dict):
        raise InvalidInput("an event that is not a JSON object")
    chat_id = str(event["conversation_id"]["id"])
    form = next((form for form in _FORMS if form.kind in chat), _FORMS[0])
    kind = _KINDS.get(str(chat.get(form.kind)))
    sender = _person(event.get("sender_id"))
    if not sender:
        raise InvalidInput("the event has no sender")
    name = chat.get(form.name)
    fields: dict[str, Any] = {
        "platform": _PLATFORM,
        "id": f"{chat_id}:{event['event_id']}",
        "sender_id": sender,
        "sender_name": names.get(sender),
        "peer_id": chat_id,
        "peer_kind": kind,
        # Its times are in microseconds.
        "occurred_at": int(event["timestamp"]) // 1_000,
        "metadata": {"channel": str(name)} if name and kind == "group" else {},
    }
    message = event.get("chat_message")
    if not isinstance(message, dict):
        return InboundEvent(**fields, kind="notice", content=_notice(event, names))
    said = message.get("message_content") or {}
    content = "".join(map(_text, said.get("segment") or ())).strip()
    files = tuple(_attachment(one) for one in said.get("attachment") or ())
    if not content and not files:
        files = (Attachment(type="unsupported"),)
    return InboundEvent(**fields, content=content, attachments=files)


def _person(id_: object) -> str:
    """Return the id of a person, of whom one of two equal ids may be missing; empty if none."""
    ids = id_ if isinstance(id_, dict) else {}
    return str(ids.get("gaia_id") or ids.get("chat_id") or "")


def _text(segment: Mapping[str, Any]) -> str:
    """Return the text of a segment, with the address of a link whose text is another."""
    if segment["type"] == "LINE_BREAK":
        return "\n"
    text = str(segment.get("text") or "")
    link = segment.get("link_data")
    target = str(link.get("link_target") or "") if isinstance(link, dict) else ""
    # Text that is an address often has a target by way of Google.
    is_own = not target or not text or text.strip() in unquote(target)
    return (text or target) if is_own else f"{text} ({target})"


def _attachment(attachment: Mapping[str, Any]) -> Attachment:
    item = attachment.get("embed_item")
    item = item if isinstance(item, dict) else {}
    for key, value in item.items():
        if not isinstance(value, dict):
            continue
        # Older exports have keys such as embeds.PlusPhoto.plus_photo.
        if key.endswith("plus_photo"):
            kind = _MEDIA.get(str(value.get("media_type")), "image")
            url = value.get("original_content_url") or value.get("url")
            return Attachment(type=kind, url=None if url is None else str(url))
        if key.endswith("plus_audio_v2"):
            url = value.get("embed_url") or value.get("url")
            return Attachment(type="audio", url=None if url is None else str(url))
        if key.endswith("place_v2"):
            name, url = value.get("name"), value.get("url")
            return Attachment(
                type="location",
                name=None if name is None else str(name),
                url=None if url is None else str(url),
            )
    return Attachment(type="unsupported")


def _notice(event: Mapping[str, Any], names: Names) -> str:
    """Return in words what happened: a call, a change of the members, a new name."""
    if isinstance(renamed := event.get("conversation_rename"), dict):
        return f"renamed the chat: {renamed.get('new_name') or 'no name'}"
    if isinstance(change := event.get("membership_change"), dict):
        people = [_person(one) for one in change.get("participant_id") or ()]
        shown = ", ".join(names.get(person, person) for person in people)
        what = {"JOIN": "joined", "LEAVE": "left"}.get(str(change.get("type")), "changed")
        return f"{what} the chat: {shown}"
    if isinstance(call := event.get("hangout_event"), dict):
        what = str(call.get("event_type") or "call").replace("HANGOUT", "call")
        return what.replace("_", " ").lower()
    return str(event.get("event_type") or "unknown event").replace("_", " ").lower()


def _read(entry: InputEntry, options: Options) -> ExportSource:
    return SingleFileSource(entry, _parse)


ADAPTER = Adapter(_PLATFORM, _recognises, _read)
