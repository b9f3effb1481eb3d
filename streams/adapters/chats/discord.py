"""Discord: DiscordChatExporter's JSON, and Discord's own data package of an account."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, PeerKind
from recollect.schemas.inbound import InboundEvent
from recollect.schemas.mentioned_users import MENTIONS, find_mentions
from recollect.streams.adapters.adapter import (
    Adapter,
    ExportFile,
    ExportSource,
    ParseResult,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.file_types import attachment_type
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry
from recollect.streams.adapters.input.json_documents import as_words, items, nested
from recollect.streams.adapters.input.text_lines import text_lines

_PLATFORM = "discord"
_GUILD = re.compile(rb'"guild"\s*:\s*\{')
_CHANNEL = re.compile(rb'"channel"\s*:\s*\{')
_BODY = re.compile(rb'"(?:dateRange|messages)"\s*:')
# Types of messages that users write, by name and by Discord's number.
_USER_MESSAGE_TYPES = frozenset({"Default", "Reply", "ChatInputCommand", "ContextMenuCommand"})
_USER_MESSAGE_TYPE_NUMBERS = frozenset({"0", "19", "20", "23"})
# Discord's names of its own messages, by number; other exporters than DiscordChatExporter keep the
# numbers.
_NOTICE_NAMES = {
    "1": "RecipientAdd",
    "2": "RecipientRemove",
    "3": "Call",
    "4": "ChannelNameChange",
    "5": "ChannelIconChange",
    "6": "ChannelPinnedMessage",
    "7": "GuildMemberJoin",
    "8": "GuildBoost",
    "9": "GuildBoostTier1",
    "10": "GuildBoostTier2",
    "11": "GuildBoostTier3",
    "12": "ChannelFollowAdd",
    "18": "ThreadCreated",
    "21": "ThreadStarterMessage",
    "24": "AutoModerationAction",
    "46": "PollResult",
}
_THREAD_TYPES = frozenset({"10", "11", "12"})
_KINDS: dict[str, PeerKind] = {
    "DirectTextChat": "dm",
    "DirectGroupTextChat": "group",
    "DM": "dm",
    "GROUP_DM": "group",
    "1": "dm",
    "3": "group",
}
_EMOJI = re.compile(r"<a?(:\w+:)\d+>")
_MENTION = re.compile(r"<@!?(\d+)>")
_TIME = re.compile(r"<t:(\d{1,11})(?::[a-zA-Z])?>")
_QUOTED = re.compile(r">(?:>>)? ")
_MAX_PROBED_FOLDERS = 20
_INDEX = "index.json"


def _is_export(start: bytes, name: str) -> bool:
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    return text.startswith(b"{") and all(one.search(text) for one in (_GUILD, _CHANNEL, _BODY))


def _parse(entry: InputEntry) -> Iterator[tuple[int, ParseResult]]:
    records = (
        (n, (chat_fields, value)) for n, chat_fields, value in nested(entry, "messages.item")
    )
    return convert(records, lambda one: _events(*one))


def _events(chat_fields: Mapping[str, Any], message: Mapping[str, Any]) -> Iterator[InboundEvent]:
    """Yield the events of a DiscordChatExporter message, and of its reactions."""
    if not message.get("id"):
        raise InvalidInput("the message has no id")
    id_, author = str(message["id"]), message["author"]
    at = _parse_time(message["timestamp"])
    channel, thread, kind = _channel_of(chat_fields)
    common: dict[str, Any] = {
        "platform": _PLATFORM,
        "peer_id": channel,
        "peer_kind": kind,
        "thread_id": thread,
    }
    fields = dict(common, **_person(author))
    if author.get("isBot"):
        fields["direction"] = "out"
    metadata: dict[str, Any] = {}
    if name := chat_fields.get("channel.name"):
        metadata["channel"] = str(name)
    nickname = author.get("nickname")
    if nickname and nickname != author.get("name"):
        metadata["nickname"] = nickname
    type_ = str(message.get("type") or "Default")
    content, quoted = _split_quotes(message)
    if quoted:
        metadata["quoted"] = quoted
    fields["metadata"] = metadata
    if type_ not in _USER_MESSAGE_TYPES and type_ not in _USER_MESSAGE_TYPE_NUMBERS:
        if mentions := find_mentions(content, (), {"": _mention_names(message)}):
            metadata[MENTIONS] = mentions
        # The result of a poll is in an embed.
        words = content or _embed_text(message) or as_words(_NOTICE_NAMES.get(type_, type_))
        yield InboundEvent(**fields, kind="notice", id=id_, occurred_at=at, content=words)
        return
    reference = message.get("reference")
    forwarded = message.get("forwardedMessage")
    attachments = list(_attachments(message))
    if isinstance(forwarded, dict):
        attachments += [
            Attachment(
                type="forward", caption="\n".join(filter(None, _split_quotes(forwarded))) or None
            ),
            *_attachments(forwarded),
        ]
    elif isinstance(reference, dict) and reference.get("messageId"):
        fields["reply_to"] = str(reference["messageId"])
    if author.get("isBot") or not (content or attachments):
        content = "\n".join(filter(None, (content, _embed_text(message))))
    if not content and not attachments and quoted:
        attachments = [Attachment(type="forward", caption=quoted)]
    if not content and not attachments:
        attachments = [Attachment(type="unsupported")]
    fields |= {"content": content, "attachments": tuple(attachments)}
    if mentions := find_mentions(content, attachments, {"@": _mention_names(message)}):
        metadata[MENTIONS] = mentions
    if edited := message.get("timestampEdited"):
        when = _parse_time(edited)
        yield InboundEvent(
            **fields,
            kind="edit",
            id=f"{id_}:edited:{when}",
            target=id_,
            occurred_at=when,
            said_at=at,
        )
    else:
        yield InboundEvent(**fields, id=id_, occurred_at=at)
    for reaction in message.get("reactions") or ():
        emoji = reaction["emoji"].get("name") or reaction["emoji"].get("code") or "?"
        for user in reaction.get("users") or ():
            yield InboundEvent(
                **common,
                **_person(user),
                kind="reaction",
                id=f"{id_}:reaction:{user['id']}:{reaction['emoji'].get('id') or emoji}",
                target=id_,
                occurred_at=at,
                content=str(emoji),
            )


def _channel_of(chat_fields: Mapping[str, Any]) -> tuple[str, str | None, PeerKind]:
    """Return the channel, its thread, and the kind of channel."""
    id_, type_ = (
        str(chat_fields.get("channel.id") or "channel"),
        str(chat_fields.get("channel.type") or ""),
    )
    kind = _KINDS.get(type_, "channel")
    parent = chat_fields.get("channel.categoryId")
    if ("Thread" in type_ or type_ in _THREAD_TYPES) and parent:
        return str(parent), id_, kind
    return id_, None, kind


def _person(author: Mapping[str, Any]) -> dict[str, Any]:
    return {"sender_id": str(author["id"]), "sender_name": author.get("name") or None}


def _split_quotes(message: Mapping[str, Any]) -> tuple[str, str]:
    """Return a message's own text, and the lines that it quotes."""
    names = {
        str(one.get("id")): one.get("nickname") or one.get("name")
        for one in message.get("mentions") or ()
        if isinstance(one, dict)
    }
    own_lines: list[str] = []
    quoted: list[str] = []
    quotes_rest = False
    for line in _plain(message.get("content"), names).split("\n"):
        mark = _QUOTED.match(line)
        quotes_rest = quotes_rest or line.startswith(">>> ")
        if mark or quotes_rest:
            quoted.append(line[mark.end() :] if mark else line)
        else:
            own_lines.append(line)
    return "\n".join(own_lines).strip(), "\n".join(quoted).strip()


def _mention_names(message: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the names under which users may be mentioned in a message, by id.

    DiscordChatExporter either writes out the names itself or leaves Discord's markup.
    """
    forwarded = message.get("forwardedMessage")
    messages = (message, forwarded) if isinstance(forwarded, dict) else (message,)
    names_by_id: dict[str, list[str]] = {}
    for one in (user for message in messages for user in message.get("mentions") or ()):
        if isinstance(one, dict) and one.get("id"):
            names = [str(one[key]) for key in ("nickname", "name") if one.get(key)]
            names_by_id[str(one["id"])] = [*names, str(one["id"])]
    return names_by_id


def _plain(content: object, names: Mapping[str, object]) -> str:
    """Render Discord's markup of mentions, times and emoji."""
    text = _EMOJI.sub(r"\1", str(content or ""))
    text = _MENTION.sub(lambda found: f"@{names.get(found[1]) or found[1]}", text)
    return _TIME.sub(_format_time, text)


def _format_time(found: re.Match[str]) -> str:
    try:
        return datetime.fromtimestamp(int(found[1]), UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return found[0]


def _embed_text(message: Mapping[str, Any]) -> str:
    """Return the text of a message's embeds (bots write in them), without link previews."""
    found: list[str] = []
    content = str(message.get("content") or "")
    for embed in message.get("embeds") or ():
        if embed.get("url") and str(embed["url"]) in content:
            continue
        found += [str(embed[key]) for key in ("title", "description") if embed.get(key)]
        for field in embed.get("fields") or ():
            found.append(f"{field.get('name')}: {field.get('value')}")
    return "\n".join(found).strip()


def _attachments(message: Mapping[str, Any]) -> Iterator[Attachment]:
    for one in message.get("attachments") or ():
        name = one.get("fileName")
        yield Attachment(
            type=attachment_type(str(name or "")),
            name=name,
            # Without the query string, which grants access and changes with each export.
            url=str(one.get("url") or "").partition("?")[0] or None,
            size=one.get("fileSizeBytes"),
        )
    for one in message.get("stickers") or ():
        yield Attachment(type="sticker", name=one.get("name"))


def _parse_time(value: object) -> int:
    """Return a time in unix ms; its offset is dropped, since it is the exporter's."""
    text = str(value).strip()
    time = datetime.fromisoformat(text)
    time = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return round(time.timestamp() * 1000)


def _is_package(folder: Folder) -> bool:
    """Return whether a folder is a data package, or its folder of messages."""
    return _holds_channels(folder) or any(
        _holds_channels(folder.folder(name)) for name in folder.folders()[:_MAX_PROBED_FOLDERS]
    )


def _holds_channels(folder: Folder) -> bool:
    for name in folder.folders()[:_MAX_PROBED_FOLDERS]:
        files = folder.folder(name).files()
        if "channel.json" in files and {"messages.json", "messages.csv"} & {*files}:
            return True
    return False


class _Package(ExportSource):
    """The data package of an account: its owner's messages, one folder per channel."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def parts(self) -> Iterator[ExportFile]:
        folders = [self._folder, *map(self._folder.folder, self._folder.folders())]
        owner = _owner(folders)
        for folder in folders:
            if not _holds_channels(folder):
                continue
            names = _channel_names(folder)
            for name in folder.folders():
                channel = folder.folder(name)
                files = channel.files()
                for file in ("messages.json", "messages.csv"):
                    if file in files:
                        entry = channel.file(file)
                        place = _channel(channel, name, names)
                        yield ExportFile(entry.path, _package_events(entry, owner, place))


def _owner(folders: list[Folder]) -> dict[str, Any]:
    """Return the sender fields of the package's owner, as far as they are known."""
    for folder in folders:
        if "user.json" in folder.files():
            found = _object(folder.file("user.json"), "id", "global_name", "username")
            if found.get("id"):
                name = found.get("global_name") or found.get("username")
                return {"sender_id": str(found["id"]), "sender_name": name}
    return {"sender_id": "owner", "sender_name": None}


def _object(entry: InputEntry, *keys: str) -> dict[str, Any]:
    """Return the values of some keys of a small document, as far as it is readable."""
    found: dict[str, Any] = {}
    for key in keys:
        try:
            found[key] = next((value for _, value in items(entry, key)), None)
        except DamagedInput:
            return found
    return found


def _channel_names(folder: Folder) -> dict[str, Any]:
    """Return the names of the channels by id, as far as the index of the messages is readable."""
    if _INDEX not in folder.files():
        return {}
    try:
        _, names = next(iter(items(folder.file(_INDEX), "")), (0, None))
    except DamagedInput:
        return {}
    return names if isinstance(names, dict) else {}


def _channel(folder: Folder, name: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that the messages of a channel share; `names`: as the index names them."""
    keys = ("id", "type", "name")
    fields = _object(folder.file("channel.json"), *keys) if _has_channel_file(folder) else {}
    kind: PeerKind = _KINDS.get(str(fields.get("type")), "channel")
    id_ = str(fields.get("id") or name.lstrip("c"))
    title = fields.get("name") or names.get(id_)
    return {
        "peer_id": id_,
        "peer_kind": kind,
        "metadata": {"channel": str(title)} if title else {},
    }


def _has_channel_file(folder: Folder) -> bool:
    return "channel.json" in folder.files()


def _package_events(
    entry: InputEntry, owner: Mapping[str, Any], place: Mapping[str, Any]
) -> Iterator[tuple[int, ParseResult]]:
    records = _rows(entry) if entry.name.endswith(".csv") else items(entry, "item")
    return convert(records, lambda row: [_package_event(row, owner, place)])


def _rows(entry: InputEntry) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows of a CSV file, as in packages from before 2024."""
    reader = csv.DictReader(line + "\n" for _, line in text_lines(entry))
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise DamagedInput(f"not CSV from here on: {error}") from None


def _package_event(
    row: Mapping[str, Any], owner: Mapping[str, Any], place: Mapping[str, Any]
) -> InboundEvent:
    content, quoted = _split_quotes({"content": row.get("Contents")})
    files = []
    for link in str(row.get("Attachments") or "").split():
        url = link.partition("?")[0]
        name = unquote(url.rpartition("/")[2])
        files.append(Attachment(type=attachment_type(name), name=name or None, url=url))
    if not row.get("ID"):
        raise InvalidInput("the row has no ID")
    fields = dict(place)
    if quoted:
        fields["metadata"] = {**place["metadata"], "quoted": quoted}
    if not content and not files:
        files = [Attachment(type="forward" if quoted else "unsupported", caption=quoted or None)]
    return InboundEvent(
        platform=_PLATFORM,
        **owner,
        **fields,
        id=str(row["ID"]),
        occurred_at=_parse_time(row["Timestamp"]),
        content=content,
        attachments=tuple(files),
    )


def _read(entry: InputEntry, options: Options) -> ExportSource:
    return SingleFileSource(entry, _parse)


ADAPTER = Adapter(
    "discord",
    _is_export,
    _read,
    recognises_folder=_is_package,
    read_folder=lambda folder, options: _Package(folder),
)
