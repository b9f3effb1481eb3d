"""Slack: a workspace's export (people, channels, one file per channel and day), or part of it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta, timezone, tzinfo
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, PeerKind
from recollect.schemas.inbound import InboundEvent
from recollect.schemas.mentioned_users import MENTIONS, find_mentions
from recollect.streams.adapters.adapter import (
    Adapter,
    ExportFile,
    ExportSource,
    ParseResult,
    convert,
)
from recollect.streams.adapters.import_options import Options, localised
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry
from recollect.streams.adapters.input.json_documents import items

_PLATFORM = "slack"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json$")
_TS = re.compile(rb'"ts"\s*:\s*"\d{9,11}\.\d{6}"')
_TYPE = re.compile(rb'"type"\s*:\s*"message"')
#: The files that list a workspace's conversations, with their kind.
_CONVERSATION_LISTS: dict[str, PeerKind] = {
    "channels.json": "channel",
    "groups.json": "channel",
    "mpims.json": "group",
    "dms.json": "dm",
}
# The files that list the members of a workspace, or of an organization with several workspaces.
_MEMBER_LISTS = ("org_users.json", "users.json")
# The folder of an organization's export with a folder for each workspace.
_WORKSPACES = "teams"
# Subtypes of messages that people or programs write; all others are notices of Slack.
_MESSAGE_SUBTYPES = frozenset(
    {"bot_message", "me_message", "thread_broadcast", "reply_broadcast", "file_share"}
    | {"file_comment", "slackbot_response", "document_mention", "message_replied"}
)
_BOT_SUBTYPES = frozenset({"bot_message", "slackbot_response"})
_MARK = re.compile(r"<([@#!][^<>\n]+|[a-z][a-z+.-]+:[^<>\n]+)>")
_QUOTED = re.compile(r"(?:&gt;|>)(?:&gt;&gt;|>>)?[ ]?")
# What is put between the parts of a block.
_BETWEEN_PARTS = {"rich_text": "\n", "rich_text_list": "\n", "section": "\n", "context": " "}
_MAX_OFFSET_SECONDS = 15 * 3_600


class _Channel(NamedTuple):
    id: str
    kind: PeerKind | None
    name: str


def _is_day(start: bytes, name: str) -> bool:
    """Return whether a file holds the messages of one channel on one day."""
    head = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"[") and bool(_TS.search(head)) and bool(_TYPE.search(head))


def _is_export(folder: Folder) -> bool:
    """Return whether a folder is a workspace's export, or the folder of one channel."""
    files = folder.files()
    if _lists_conversations(folder) and any(name in _MEMBER_LISTS for name in files):
        return True
    days = [name for name in files if _DAY.match(name)]
    if not days:
        return False
    try:
        return _is_day(folder.file(days[0]).start(), days[0])
    except InvalidInput:
        return False


def _lists_conversations(folder: Folder) -> bool:
    return any(name in _CONVERSATION_LISTS for name in folder.files())


class _People(NamedTuple):
    """The members of a workspace: names and time zones by id, and the ids of programs.

    `channels`: the names of its channels by id.
    """

    names: dict[str, str]
    programs: frozenset[str]
    zones: Mapping[str, tzinfo]
    channels: Mapping[str, str] = {}


_NO_PEOPLE = _People({}, frozenset({"USLACKBOT"}), {})


class _Workspace(ExportSource):
    """An export of a workspace, or of one channel."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def parts(self) -> Iterator[ExportFile]:
        damaged: list[tuple[str, DamagedInput]] = []
        people = _people(self._folder, damaged)
        yield from self._conversations(self._folder, people, damaged)
        if _WORKSPACES in self._folder.folders():
            workspaces = self._folder.folder(_WORKSPACES)
            for name in workspaces.folders():
                workspace = workspaces.folder(name)
                if _lists_conversations(workspace):
                    yield from self._conversations(workspace, people, [])

    def _conversations(
        self, folder: Folder, people: _People, damaged: list[tuple[str, DamagedInput]]
    ) -> Iterator[ExportFile]:
        """Yield the files of a workspace's conversations, after those that are damaged."""
        channels = _channels(folder, damaged)
        people = people._replace(channels={one.id: one.name for one in channels.values()})
        for path, error in damaged:
            yield ExportFile(path, iter([(1, error)]))
        yield from self._days(folder, _Channel("", None, _folder_name(folder)), people)
        for name in folder.folders():
            channel = channels.get(name, _Channel("", None, name))
            yield from self._days(folder.folder(name), channel, people)

    def _days(self, folder: Folder, channel: _Channel, people: _People) -> Iterator[ExportFile]:
        for name in folder.files():
            if _DAY.match(name):
                entry = folder.file(name)
                yield ExportFile(entry.path, _messages(entry, channel, people))


class _DayFile(ExportSource):
    """A single file of one channel and day."""

    def __init__(self, entry: InputEntry) -> None:
        self._entry = entry

    def parts(self) -> Iterator[ExportFile]:
        *_, channel, _ = ("", *self._entry.path.split("/"))
        found = _messages(self._entry, _Channel("", None, channel), _NO_PEOPLE)
        yield ExportFile(self._entry.path, found)


def _folder_name(folder: Folder) -> str:
    return folder.path.rstrip("/").rpartition("/")[2]


def _people(folder: Folder, damaged: list[tuple[str, DamagedInput]]) -> _People:
    """Return the members of a workspace; a bot has a user id and a bot id."""
    names: dict[str, str] = {}
    programs = set(_NO_PEOPLE.programs)
    zones: dict[str, tzinfo] = {}
    for user in (one for name in _MEMBER_LISTS for one in _listed(folder, name, damaged)):
        ids = [str(user.get("id") or "")]
        if isinstance(bot := _dict(user.get("profile")).get("bot_id"), str):
            ids.append(bot)
        if user.get("is_bot"):
            programs.update(ids)
        if name := _name_of(user):
            names.update((one, name) for one in ids if one)
        if zone := _zone_of(user):
            zones.update((one, zone) for one in ids if one)
    return _People(names, frozenset(programs), zones)


def _zone_of(user: Mapping[str, Any]) -> tzinfo | None:
    """Return the time zone that a member chose, or its current offset if it is unknown here."""
    name, seconds = user.get("tz"), user.get("tz_offset")
    if isinstance(name, str):
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            pass
    if isinstance(seconds, int) and abs(seconds) <= _MAX_OFFSET_SECONDS:
        return timezone(timedelta(seconds=seconds))
    return None


def _name_of(user: Mapping[str, Any]) -> str | None:
    profile = _dict(user.get("profile"))
    names = (
        *(user.get("real_name"), profile.get("real_name"), profile.get("display_name")),
        *(user.get("name"), profile.get("name"), user.get("username")),
    )
    return next((name for name in names if isinstance(name, str) and name.strip()), None)


def _channels(folder: Folder, damaged: list[tuple[str, DamagedInput]]) -> dict[str, _Channel]:
    """Return the conversations: each possible name of a folder -> the conversation in it."""
    found: dict[str, _Channel] = {}
    for file, kind in _CONVERSATION_LISTS.items():
        for item in _listed(folder, file, damaged):
            if isinstance(id_ := item.get("id"), str):
                name = str(item.get("name") or id_)
                found[id_] = found[name] = _Channel(id_, kind, name)
    return found


def _listed(
    folder: Folder, name: str, damaged: list[tuple[str, DamagedInput]]
) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list, as far as it is readable."""
    if name not in folder.files():
        return
    entry = folder.file(name)
    try:
        for _, item in items(entry, "item"):
            if isinstance(item, dict):
                yield item
    except DamagedInput as error:
        damaged.append((entry.path, error))


def _messages(
    entry: InputEntry, channel: _Channel, people: _People
) -> Iterator[tuple[int, ParseResult]]:
    return convert(items(entry, "item"), _MessageConverter(channel, people).events)


class _MessageConverter:
    """Converts the messages of a channel to events."""

    def __init__(self, channel: _Channel, people: _People) -> None:
        self._channel = channel
        self._channel_id = channel.id or channel.name
        self._people = people
        # The names of users and of channels that the current message mentions, by id.
        self._mentioned: dict[str, str] = {}
        self._mentioned_channels: dict[str, str] = {}

    def events(self, message: dict[str, Any]) -> Iterable[InboundEvent]:
        """Return the events of a message: itself, its edit or deletion, and its reactions."""
        subtype = message.get("subtype")
        if subtype == "message_changed":
            changed = {"channel": None, **message["message"]}
            changed.setdefault("edited", {"ts": message["ts"]})
            return self.events(changed)
        ts = _ts(message.get("deleted_ts") or message["ts"])
        id_ = f"{self._channel_id}:{ts}"
        if subtype in ("tombstone", "message_deleted"):
            return [self._deletion(id_, ts, message)]
        return [self._message(id_, ts, message), *self._reactions(id_, ts, message)]

    def _message(self, id_: str, ts: str, message: dict[str, Any]) -> InboundEvent:
        self._mentioned.clear()
        self._mentioned_channels.clear()
        subtype = message.get("subtype")
        is_message = subtype is None or subtype in _MESSAGE_SUBTYPES
        comment = _dict(message.get("comment")) if subtype == "file_comment" else {}
        sender, name = self._sender({**message, **comment} if comment else message)
        bot = (
            bool(message.get("bot_id"))
            or subtype in _BOT_SUBTYPES
            or sender in self._people.programs
        )
        text = str(comment.get("comment") or _text_of(message))
        words, quoted = self._split_quotes(text)
        attachments = self._attachments(message, bot)
        if bot:
            texts = map(self._plain, _bot_texts(message))
            words = "\n".join(filter(None, (words, *(one for one in texts if one not in words))))
        elif subtype == "file_share" and attachments and "uploaded a file" in words:
            # Slack's own text about the upload; the uploader's text is the comment, if any.
            file = _dict(message.get("file"))
            initial = _dict(file.get("initial_comment")).get("comment")
            words = self._plain(str(initial)) if initial else ""
        if quoted and not words and not attachments:
            attachments = (Attachment(type="forward", caption=quoted),)
        if is_message and not words and not attachments and message.get("blocks"):
            attachments = (Attachment(type="unsupported"),)
        thread = message.get("thread_ts")
        thread = _ts(thread) if thread and thread != message["ts"] else None
        common: dict[str, Any] = {
            "platform": _PLATFORM,
            "sender_id": sender,
            "sender_name": name,
            "peer_id": self._channel_id or None,
            "peer_kind": self._channel.kind,
            "thread_id": thread,
            "reply_to": f"{self._channel_id}:{thread}" if thread else None,
            "direction": "out" if bot and is_message else None,
            "content": words,
            "attachments": attachments,
            "metadata": self._metadata(message, quoted, words, attachments),
        }
        edited = _dict(message.get("edited")).get("ts")
        if not is_message:
            if not words and not attachments:
                common["content"] = str(subtype)
            return InboundEvent(id=id_, kind="notice", occurred_at=self._at(ts, sender), **common)
        if edited is not None and (words or attachments):
            edited = _ts(edited)
            return InboundEvent(
                id=f"{id_}:edited:{edited}",
                kind="edit",
                target=id_,
                said_at=_ms(ts),
                occurred_at=self._at(edited, sender),
                **common,
            )
        return InboundEvent(id=id_, occurred_at=self._at(ts, sender), **common)

    def _at(self, ts: str, sender: str) -> str | int:
        """Return the time of a message, in its sender's time zone if that is known."""
        zone = self._people.zones.get(sender)
        return _ms(ts) if zone is None else localised(_ms(ts), zone)

    def _deletion(self, id_: str, ts: str, message: dict[str, Any]) -> InboundEvent:
        sender, name = self._sender(_dict(message.get("previous_message")) or message)
        return InboundEvent(
            platform=_PLATFORM,
            id=f"{id_}:deleted",
            kind="deletion",
            target=id_,
            sender_id=sender,
            sender_name=name,
            peer_id=self._channel_id or None,
            peer_kind=self._channel.kind,
            # No export has the time of the deletion.
            occurred_at=_ms(_ts(message["ts"])),
            content="",
        )

    def _reactions(self, id_: str, ts: str, message: dict[str, Any]) -> Iterator[InboundEvent]:
        for reaction in _dicts(message.get("reactions")):
            emoji = str(reaction["name"])
            for user in reaction.get("users") or ():
                yield InboundEvent(
                    platform=_PLATFORM,
                    id=f"{id_}:reaction:{emoji}:{user}",
                    kind="reaction",
                    target=id_,
                    sender_id=str(user),
                    sender_name=self._people.names.get(str(user)),
                    peer_id=self._channel_id or None,
                    peer_kind=self._channel.kind,
                    occurred_at=_ms(ts),
                    content=f":{emoji}:",
                )

    def _sender(self, message: Mapping[str, Any]) -> tuple[str, str | None]:
        profile = {"profile": message.get("user_profile"), "username": message.get("username")}
        profile_name = _name_of(profile) or _name_of(_dict(message.get("bot_profile")))
        for key in ("user", "bot_id"):
            if isinstance(id_ := message.get(key), str) and id_:
                return id_, self._people.names.get(id_) or profile_name
        username = message.get("username")
        return (str(username), str(username)) if username else ("USLACK", "Slack")

    def _metadata(
        self,
        message: Mapping[str, Any],
        quoted: str,
        words: str,
        attachments: tuple[Attachment, ...],
    ) -> dict[str, Any]:
        metadata: dict[str, Any] = {}
        if self._channel.name and self._channel.name != self._channel_id:
            metadata["channel"] = self._channel.name
        if quoted:
            metadata["quoted"] = quoted
        if isinstance(subtype := message.get("subtype"), str):
            metadata["subtype"] = subtype
        users = {id_: [name] for id_, name in self._mentioned.items()}
        channels = {id_: [name] for id_, name in self._mentioned_channels.items()}
        if mentions := find_mentions(words, attachments, {"@": users, "#": channels}):
            metadata[MENTIONS] = mentions
        return metadata

    def _attachments(self, message: dict[str, Any], own_words: bool) -> tuple[Attachment, ...]:
        """Return files, shared messages with their author, and links with their title.

        `own_words`: attachments other than previews are the sender's own text, as bots send it.
        """
        attachments = []
        files = _dicts(message.get("files")) or _dicts([message.get("file")])
        for file in files:
            mime = _text(file.get("mimetype"))
            attachments.append(
                Attachment(
                    type="image" if (mime or "").startswith("image/") else "file",
                    name=_text(file.get("name")) or _text(file.get("title")) or _text(file["id"]),
                    url=_without_query(file.get("permalink") or file.get("url_private")),
                    mime_type=mime,
                    size=file["size"] if isinstance(file.get("size"), int) else None,
                )
            )
        for item in _dicts(message.get("attachments")):
            if own_words and not _is_preview(item):
                continue
            shared = item.get("is_share") or item.get("is_msg_unfurl")
            url = item.get("from_url") or item.get("title_link") or item.get("original_url")
            if shared:
                words = _text(item.get("text")) or _text(item.get("fallback")) or ""
                author = _text(item.get("author_name")) or _text(item.get("author_subname"))
                caption = self._plain(words) or None
                attachments.append(
                    Attachment("forward", author, _without_query(url), caption=caption)
                )
            else:
                title = _text(item.get("title")) or _text(item.get("fallback"))
                name = self._plain(title)[:200] if title else None
                attachments.append(Attachment("link", name, _without_query(url)))
        return tuple(attachments)

    def _split_quotes(self, text: str) -> tuple[str, str]:
        """Return the sender's own text, and the lines that they quote."""
        own_lines: list[str] = []
        quoted: list[str] = []
        quotes_rest = False
        for line in text.split("\n"):
            mark = _QUOTED.match(line)
            quotes_rest = quotes_rest or line.startswith(("&gt;&gt;&gt;", ">>>"))
            if mark or quotes_rest:
                quoted.append(line[mark.end() :] if mark else line)
            else:
                own_lines.append(line)
        return self._plain("\n".join(own_lines)).strip(), self._plain("\n".join(quoted)).strip()

    def _plain(self, text: str) -> str:
        """Render Slack's markup."""
        return html.unescape(_MARK.sub(self._render_mark, text))

    def _render_mark(self, match: re.Match[str]) -> str:
        target, _, label = match[1].partition("|")
        if target.startswith("@"):
            name = self._people.names.get(target[1:]) or label or target[1:]
            self._mentioned[target[1:]] = html.unescape(name.removeprefix("@"))
            return f"@{name.removeprefix('@')}"
        if target.startswith("#"):
            name = self._people.channels.get(target[1:])
            if name is not None and not label:
                self._mentioned_channels[target[1:]] = name
            return f"#{label or name or target[1:]}"
        if target.startswith("!"):
            return label or f"@{target[1:].partition('^')[0]}"
        address = target.removeprefix("mailto:").removeprefix("tel:")
        return address if not label or label in address else f"{label} ({address})"


def _text_of(message: Mapping[str, Any]) -> str:
    """Return a message's text, or if that is empty, the text of its blocks."""
    text = message.get("text")
    if isinstance(text, str) and text.strip():
        return text
    return "\n".join(filter(None, map(_block, _dicts(message.get("blocks")))))


def _block(block: Mapping[str, Any]) -> str:
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text") or "")
    if kind == "user":
        return f"<@{block.get('user_id')}>"
    if kind == "channel":
        return f"<#{block.get('channel_id')}>"
    if kind == "link":
        return f"<{block.get('url')}|{block.get('text') or block.get('url')}>"
    if kind == "emoji":
        return f":{block.get('name')}:"
    if kind == "broadcast":
        return f"@{block.get('range')}"
    if kind == "usergroup":
        return f"<!subteam^{block.get('usergroup_id')}>"
    if kind == "date":
        return str(block.get("fallback") or "")
    if kind == "table":
        return "\n".join(" | ".join(map(_block, _dicts(row))) for row in block.get("rows") or ())
    if kind == "actions":
        # Buttons and menus.
        return ""
    if kind == "rich_text_quote":
        inner = "".join(map(_block, _dicts(block.get("elements"))))
        return "\n".join(f"> {line}" for line in inner.split("\n")) + "\n"
    text = block.get("text")
    own = _block(text) if isinstance(text, dict) else _text(text)
    parts = [*_dicts(block.get("elements")), *_dicts(block.get("fields"))]
    between = _BETWEEN_PARTS.get(str(kind), "")
    return between.join(filter(None, (own, *map(_block, parts))))


def _is_preview(item: Mapping[str, Any]) -> bool:
    """Return whether an attachment shows what a link in the text leads to."""
    return bool(item.get("from_url") or item.get("original_url"))


def _bot_texts(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the text of a bot's blocks, if longer than the message's own, and of attachments."""
    blocks = _text_of({"blocks": message.get("blocks")})
    if len(blocks) > len(_text(message.get("text")) or ""):
        yield blocks
    for item in _dicts(message.get("attachments")):
        if _is_preview(item):
            continue
        texts = [_text(item.get(key)) for key in ("pretext", "title", "text")]
        for field in _dicts(item.get("fields")):
            labelled = (_text(field.get("title")), _text(field.get("value")))
            texts.append(": ".join(filter(None, labelled)))
        content = "\n".join(filter(None, texts)) or _text(item.get("fallback"))
        if content:
            yield content


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: object) -> Sequence[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _without_query(value: object) -> str | None:
    """Return a URL without its query string, which grants access and changes with each export."""
    return value.partition("?")[0] if isinstance(value, str) else None


def _ts(value: object) -> str:
    """Return a message's time as Slack writes it, a string that identifies the message."""
    if not isinstance(value, str) or not re.fullmatch(r"\d{1,12}(?:\.\d{1,9})?", value):
        raise InvalidInput(f"ts: {value!r} is not a Slack timestamp, such as 1452837318.000002")
    return value


def _ms(ts: str) -> int:
    seconds, _, rest = ts.partition(".")
    return int(seconds) * 1000 + int(rest[:3].ljust(3, "0"))


def _read(entry: InputEntry, options: Options) -> ExportSource:
    return _DayFile(entry)


def _read_folder(folder: Folder, options: Options) -> ExportSource:
    return _Workspace(folder)


ADAPTER = Adapter("slack", _is_day, _read, _is_export, _read_folder)
