"""Google Chat: the chats of a Google Takeout, one folder per chat with `messages.json`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, PeerKind
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ExportFile,
    ExportSource,
    ParseResult,
    convert,
)
from recollect.streams.adapters.chats.google.google_dates import parse_google_date
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.file_types import attachment_type
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry, decoded_path
from recollect.streams.adapters.input.json_documents import items

_PLATFORM = "googlechat"
_MESSAGES, _INFO = "messages.json", "group_info.json"
_REQUIRED_KEYS = (
    re.compile(rb'"messages"\s*:\s*\['),
    re.compile(rb'"creator"\s*:\s*\{'),
    re.compile(rb'"(?:created_date|updated_date|deleted_date|topic_id)"\s*:\s*"'),
)
# The folder of a chat: its kind, and its id.
_FOLDER = re.compile(r"(?P<kind>DM|Space) (?P<id>[\w-]+)\Z")
_KINDS: dict[str, PeerKind] = {"DM": "dm", "Space": "group"}
# The name of a group that its members have not named.
_UNNAMED = "Group Chat"
_UNKNOWN_SENDER = "unknown"


class _Chat(NamedTuple):
    """A chat. `names`: the names of its members, by address."""

    id: str | None
    kind: PeerKind | None
    name: str | None = None
    names: Mapping[str, str] = {}


class _Version(NamedTuple):
    """A version of a message's text, and when it took effect. `created`: it is the first one.

    `notice`: what happened, if that is all that the message says.
    """

    at: datetime
    created: bool
    content: str
    attachments: tuple[Attachment, ...]
    notice: str


def _is_chat(start: bytes, name: str) -> bool:
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    return head.startswith(b"{") and all(key.search(head) for key in _REQUIRED_KEYS)


def _is_chat_folder(folder: Folder) -> bool:
    """Return whether a folder is the folder of a chat; its other files are attachments."""
    if _MESSAGES not in folder.files():
        return False
    return _is_chat(folder.file(_MESSAGES).start(), _MESSAGES)


class _ChatFile(ExportSource):
    """The messages of a chat, with what is known about the chat, if its folder is at hand."""

    def __init__(self, entry: InputEntry, info: InputEntry | None = None) -> None:
        self._entry = entry
        self._info = info

    def parts(self) -> Iterator[ExportFile]:
        *_, folder, _ = ("", *re.split(r"[/\\]", decoded_path(self._entry.path)))
        found = _FOLDER.match(folder)
        chat = _Chat(found["id"], _KINDS[found["kind"]]) if found else _Chat(None, None)
        if self._info is not None:
            try:
                chat = _described(chat, self._info)
            except DamagedInput as error:
                yield ExportFile(self._info.path, iter([(1, error)]))
        yield ExportFile(self._entry.path, _parse(self._entry, chat))


def _described(chat: _Chat, info: InputEntry) -> _Chat:
    """Return a chat with its name and the names of its members.

    Raises:
        DamagedInput: the file about the chat is damaged.
    """
    members = {
        str(one["email"]): str(one["name"])
        for _, one in items(info, "members.item")
        if isinstance(one, dict) and one.get("email") and one.get("name")
    }
    name = next((value for _, value in items(info, "name")), None)
    named = isinstance(name, str) and name not in ("", _UNNAMED)
    # Direct messages have no name.
    kind = chat.kind or ("group" if name else "dm")
    return chat._replace(kind=kind, name=name if named else None, names=members)


def _parse(entry: InputEntry, chat: _Chat) -> Iterator[tuple[int, ParseResult]]:
    return convert(items(entry, "messages.item"), lambda message: _events(message, chat))


def _events(message: Mapping[str, Any], chat: _Chat) -> Iterator[InboundEvent]:
    """Yield the events of a message: itself, its edits or its deletion, and its reactions."""
    common, id_ = _common_fields(message, chat)
    if message.get("message_state") == "DELETED" or "deletion_metadata" in message:
        if id_ is None:
            raise InvalidInput("a deleted message without an id")
        deleted = message.get("deleted_date") or message.get("updated_date")
        yield InboundEvent(
            **common,
            kind="deletion",
            id=f"{id_}:deleted",
            target=id_,
            occurred_at=_iso_time(parse_google_date(deleted or message["created_date"])),
            content="",
        )
        return
    versions = _versions(message)
    if id_ is None:
        # Without an id, nothing can refer to it.
        yield _said(versions[-1], common)
        return
    first = versions[0] if versions[0].created else None
    edits = versions if first is None else versions[1:]
    if first is not None:
        yield _said(first, {**common, "id": id_})
    created = message.get("created_date")
    said_at = first.at if first is not None else parse_google_date(created) if created else None
    for edit in edits:
        yield msgspec.structs.replace(
            _said(edit, {**common, "id": f"{id_}:edited:{int(edit.at.timestamp())}"}),
            kind="edit",
            target=id_,
            said_at=_iso_time(said_at or edit.at),
        )
    yield from _reactions(message, id_, _iso_time(versions[0].at), chat)


def _iso_time(at: datetime) -> str:
    """Return a time in ISO form; one in UTC, which is an instant without a place, with a Z."""
    return at.isoformat().replace("+00:00", "Z")


def _common_fields(message: Mapping[str, Any], chat: _Chat) -> tuple[dict[str, Any], str | None]:
    """Return the fields that all events of a message share, and the message's id."""
    id_ = message.get("message_id")
    group, topic, own = ("", "", "") if id_ is None else _split_id(str(id_))
    is_reply = bool(topic) and own != topic
    quoted = message.get("quoted_message_metadata")
    metadata: dict[str, Any] = {"channel": chat.name} if chat.name else {}
    quoted = quoted if isinstance(quoted, dict) else {}
    if quoted.get("text"):
        metadata["quoted"] = str(quoted["text"])
    creator = message.get("creator")
    creator = creator if isinstance(creator, dict) else {}
    sender = str(creator.get("email") or creator.get("name") or _UNKNOWN_SENDER)
    common: dict[str, Any] = {
        "platform": _PLATFORM,
        "sender_id": sender,
        "sender_name": creator.get("name") or chat.names.get(sender),
        "peer_id": group or chat.id,
        "peer_kind": chat.kind,
        "thread_id": topic if is_reply else None,
        "reply_to": quoted.get("message_id") or (f"{group}/{topic}/{topic}" if is_reply else None),
        "direction": "out" if str(creator.get("user_type")).casefold() == "bot" else None,
        "metadata": metadata,
    }
    return common, None if id_ is None else str(id_)


def _split_id(id_: str) -> tuple[str, str, str]:
    """Return the ids of the chat, of the topic and of the message that a message's id holds.

    The first message of a topic has the topic's id.
    """
    parts = id_.split("/")
    return (parts[0], parts[1], parts[2]) if len(parts) == 3 else ("", "", "")


def _versions(message: Mapping[str, Any]) -> Sequence[_Version]:
    """Return the texts of a message, the oldest first; equal successive ones count once.

    Of several in the same second the last counts.

    Raises:
        InvalidInput: it has no time, or one that cannot be read.
    """
    found = [
        _version(one)
        for one in (*(message.get("previous_message_versions") or ()), message)
        if one.get("created_date") or one.get("updated_date")
    ]
    if not found:
        raise InvalidInput("the message has no created_date")
    found.sort(key=lambda one: (not one.created, one.at))
    by_time = list({one[:2]: one for one in found}.values())
    return [
        one
        for before, one in zip((None, *by_time), by_time, strict=False)
        if before is None or before[2:] != one[2:]
    ]


def _version(fields: Mapping[str, Any]) -> _Version:
    updated = fields.get("updated_date")
    return _Version(
        parse_google_date(str(updated or fields["created_date"])),
        not updated,
        str(fields.get("text") or "").strip(),
        tuple(_attachments(fields)),
        "\n".join(filter(None, map(_happening, fields.get("annotations") or ()))),
    )


def _said(version: _Version, fields: Mapping[str, Any]) -> InboundEvent:
    """Return the event of a text, with files alone if it has none."""
    said = InboundEvent(
        **fields,
        occurred_at=_iso_time(version.at),
        content=version.content,
        attachments=version.attachments,
    )
    if version.content or version.attachments:
        return said
    if version.notice:
        return msgspec.structs.replace(said, kind="notice", content=version.notice)
    # A card of an app, or something that Google does not export.
    return msgspec.structs.replace(said, attachments=(Attachment(type="unsupported"),))


def _attachments(fields: Mapping[str, Any]) -> Iterator[Attachment]:
    """Yield the attached files, and what is linked without standing in the text."""
    for file in fields.get("attached_files") or ():
        exported = str(file.get("export_name") or "")
        name = str(file.get("original_name") or exported.removeprefix("File-"))
        yield Attachment(type=attachment_type(name), name=name or None)
    text = str(fields.get("text") or "")
    for annotation in fields.get("annotations") or ():
        title, url = _linked(annotation)
        if (title or url) and (not url or url not in text):
            yield Attachment(type="link", name=title or None, url=url or None)


def _linked(annotation: Mapping[str, Any]) -> tuple[str, str]:
    """Return the title and the address of what an annotation links to; empty if to nothing."""
    drive, video = annotation.get("drive_metadata"), annotation.get("youtube_metadata")
    page, call = annotation.get("url_metadata"), annotation.get("video_call_metadata")
    if isinstance(drive, dict):
        # The text has the address in one of several forms.
        return (str(drive.get("title") or ""), "") if not annotation.get("length") else ("", "")
    if isinstance(video, dict):
        return "", "" if annotation.get("length") else f"https://youtu.be/{video.get('id')}"
    if isinstance(page, dict):
        wrapped = page.get("url")
        address = next(iter(wrapped.values()), "") if isinstance(wrapped, dict) else wrapped
        return str(page.get("title") or ""), str(address or "")
    if isinstance(call, dict):
        space = call.get("meeting_space")
        return "", str(space.get("meeting_url") or "") if isinstance(space, dict) else ""
    return "", ""


def _happening(annotation: Mapping[str, Any]) -> str:
    """Return what a message without words says: a call, an event of a calendar, or a task."""
    integration = annotation.get("gsuite_integration_metadata")
    if not isinstance(integration, dict):
        return ""
    if isinstance(call := integration.get("call_data"), dict):
        return str(call.get("call_status") or "call").replace("_", " ").lower()
    if isinstance(calendar := integration.get("calendar_event_data"), dict):
        event = calendar.get("calendar_event")
        return f"calendar event: {event.get('title')}" if isinstance(event, dict) else ""
    if isinstance(tasks := integration.get("tasks_data"), dict):
        task = tasks.get("task_properties")
        done = "completed " if isinstance(task, dict) and task.get("completed") else ""
        return f"{done}task: {task.get('title')}" if isinstance(task, dict) else ""
    return ""


def _reactions(
    message: Mapping[str, Any], id_: str, at: str, chat: _Chat
) -> Iterator[InboundEvent]:
    """Yield the reactions; no export has their times."""
    for reaction in message.get("reactions") or ():
        emoji = reaction.get("emoji") or {}
        custom = emoji.get("custom_emoji")
        custom = custom if isinstance(custom, dict) else {}
        shown = str(emoji.get("unicode") or custom.get("shortcode") or "custom emoji")
        for sender in reaction.get("reactor_emails") or ():
            yield InboundEvent(
                platform=_PLATFORM,
                kind="reaction",
                id=f"{id_}:reaction:{sender}:{shown}",
                target=id_,
                sender_id=str(sender),
                sender_name=chat.names.get(str(sender)),
                peer_id=_split_id(id_)[0] or chat.id,
                peer_kind=chat.kind,
                occurred_at=at,
                content=shown,
            )


def _read(entry: InputEntry, options: Options) -> ExportSource:
    return _ChatFile(entry)


def _read_folder(folder: Folder, options: Options) -> ExportSource:
    info = folder.file(_INFO) if _INFO in folder.files() else None
    return _ChatFile(folder.file(_MESSAGES), info)


ADAPTER = Adapter(_PLATFORM, _is_chat, _read, _is_chat_folder, _read_folder)
