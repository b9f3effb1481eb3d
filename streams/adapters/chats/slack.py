"""Slack: a workspace's export (people, channels, a file a channel and day), or a part of one."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, PeerKind
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import Adapter, Found, Part, Source, converted
from recollect.streams.adapters.import_options import Options
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import Damaged, Member
from recollect.streams.adapters.input.json_documents import items

_PLATFORM = "slack"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.json$")
_TS = re.compile(rb'"ts"\s*:\s*"\d{9,11}\.\d{6}"')
_TYPE = re.compile(rb'"type"\s*:\s*"message"')
#: The files that list a workspace's conversations, and what those are.
_LISTS: dict[str, PeerKind] = {
    "channels.json": "channel",
    "groups.json": "channel",
    "mpims.json": "group",
    "dms.json": "dm",
}
# Subtypes in which somebody says something; all others are what Slack tells.
_SPEECH = frozenset(
    {"bot_message", "me_message", "thread_broadcast", "reply_broadcast", "file_share"}
    | {"file_comment", "slackbot_response", "document_mention", "message_replied"}
)
_BOT_SUBTYPES = frozenset({"bot_message", "slackbot_response"})
_MARK = re.compile(r"<([@#!][^<>\n]+|[a-z][a-z+.-]+:[^<>\n]+)>")
_QUOTED = re.compile(r"(?:&gt;|>)(?:&gt;&gt;|>>)?[ ]?")


class _Channel(NamedTuple):
    id: str
    kind: PeerKind | None
    name: str


def _is_day(start: bytes, name: str) -> bool:
    """Return whether a file holds the messages of a channel and day."""
    head = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(b"[") and bool(_TS.search(head)) and bool(_TYPE.search(head))


def _is_export(folder: Folder) -> bool:
    """Return whether a folder is a workspace's export, or the folder of one channel."""
    files = folder.files()
    if any(name in _LISTS for name in files) and "users.json" in files:
        return True
    days = [name for name in files if _DAY.match(name)]
    if not days:
        return False
    try:
        return _is_day(folder.file(days[0]).start(), days[0])
    except InvalidInput:
        return False


class _People(NamedTuple):
    """Who is in a workspace: names by the ids of people and bots, and whose ids are programs'."""

    names: dict[str, str]
    programs: frozenset[str]


_NOBODY = _People({}, frozenset({"USLACKBOT"}))


class _Workspace(Source):
    """An export, as a whole or of one channel."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def parts(self) -> Iterator[Part]:
        damaged: list[tuple[str, Damaged]] = []
        people = _people(self._folder, damaged)
        channels = _channels(self._folder, damaged)
        for path, error in damaged:
            yield Part(path, iter([(1, error)]))
        yield from self._days(self._folder, _Channel("", None, _own_name(self._folder)), people)
        for name in self._folder.folders():
            channel = channels.get(name, _Channel("", None, name))
            yield from self._days(self._folder.folder(name), channel, people)

    def _days(self, folder: Folder, channel: _Channel, people: _People) -> Iterator[Part]:
        for name in folder.files():
            if _DAY.match(name):
                member = folder.file(name)
                yield Part(member.path, _messages(member, channel, people))


class _Day(Source):
    """A file of one channel and day alone."""

    def __init__(self, member: Member) -> None:
        self._member = member

    def parts(self) -> Iterator[Part]:
        *_, channel, _ = ("", *self._member.path.split("/"))
        found = _messages(self._member, _Channel("", None, channel), _NOBODY)
        yield Part(self._member.path, found)


def _own_name(folder: Folder) -> str:
    return folder.path.rstrip("/").rpartition("/")[2]


def _people(folder: Folder, damaged: list[tuple[str, Damaged]]) -> _People:
    """Return who is in a workspace; a bot has an id as a user, and another as a bot."""
    names: dict[str, str] = {}
    programs = set(_NOBODY.programs)
    for user in _listed(folder, "users.json", damaged):
        ids = [str(user.get("id") or "")]
        if isinstance(bot := _dict(user.get("profile")).get("bot_id"), str):
            ids.append(bot)
        if user.get("is_bot"):
            programs.update(ids)
        if name := _name_of(user):
            names.update((one, name) for one in ids if one)
    return _People(names, frozenset(programs))


def _name_of(user: Mapping[str, Any]) -> str | None:
    profile = _dict(user.get("profile"))
    names = (
        *(user.get("real_name"), profile.get("real_name"), profile.get("display_name")),
        *(user.get("name"), user.get("username")),
    )
    return next((name for name in names if isinstance(name, str) and name.strip()), None)


def _channels(folder: Folder, damaged: list[tuple[str, Damaged]]) -> dict[str, _Channel]:
    """Return each conversation under the names that its folder may have."""
    found: dict[str, _Channel] = {}
    for file, kind in _LISTS.items():
        for item in _listed(folder, file, damaged):
            if isinstance(id_ := item.get("id"), str):
                name = str(item.get("name") or id_)
                found[id_] = found[name] = _Channel(id_, kind, name)
    return found


def _listed(
    folder: Folder, name: str, damaged: list[tuple[str, Damaged]]
) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a list, as far as it can be read."""
    if name not in folder.files():
        return
    member = folder.file(name)
    try:
        for _, item in items(member, "item"):
            if isinstance(item, dict):
                yield item
    except Damaged as error:
        damaged.append((member.path, error))


def _messages(member: Member, channel: _Channel, people: _People) -> Iterator[tuple[int, Found]]:
    return converted(items(member, "item"), _Reader(channel, people).events)


class _Reader:
    """Makes events of the messages of one channel."""

    def __init__(self, channel: _Channel, people: _People) -> None:
        self._channel = channel
        self._place = channel.id or channel.name
        self._people = people

    def events(self, message: dict[str, Any]) -> Iterable[InboundEvent]:
        """Return what a message says: itself, its edit or deletion, and the reactions to it."""
        subtype = message.get("subtype")
        if subtype == "message_changed":
            changed = {"channel": None, **message["message"]}
            changed.setdefault("edited", {"ts": message["ts"]})
            return self.events(changed)
        ts = _ts(message.get("deleted_ts") or message["ts"])
        id_ = f"{self._place}:{ts}"
        if subtype in ("tombstone", "message_deleted"):
            return [self._deletion(id_, ts, message)]
        return [self._said(id_, ts, message), *self._reactions(id_, ts, message)]

    def _said(self, id_: str, ts: str, message: dict[str, Any]) -> InboundEvent:
        subtype = message.get("subtype")
        speech = subtype is None or subtype in _SPEECH
        comment = _dict(message.get("comment")) if subtype == "file_comment" else {}
        sender, name = self._sender({**message, **comment} if comment else message)
        bot = (
            bool(message.get("bot_id"))
            or subtype in _BOT_SUBTYPES
            or sender in self._people.programs
        )
        text = str(comment.get("comment") or _text_of(message))
        words, quoted = self._words(text)
        attachments = self._attachments(message, bot and not words)
        if bot and not words:
            words = "\n".join(self._plain(one) for one in _bot_texts(message))
        elif subtype == "file_share" and attachments and "uploaded a file" in words:
            # What Slack wrote for who uploaded it; their own words are the comment, if any.
            file = _dict(message.get("file"))
            initial = _dict(file.get("initial_comment")).get("comment")
            words = self._plain(str(initial)) if initial else ""
        if quoted and not words and not attachments:
            attachments = (Attachment(type="forward", caption=quoted),)
        thread = message.get("thread_ts")
        thread = _ts(thread) if thread and thread != message["ts"] else None
        common: dict[str, Any] = {
            "platform": _PLATFORM,
            "sender_id": sender,
            "sender_name": name,
            "peer_id": self._place or None,
            "peer_kind": self._channel.kind,
            "thread_id": thread,
            "reply_to": f"{self._place}:{thread}" if thread else None,
            "direction": "out" if bot and speech else None,
            "content": words,
            "attachments": attachments,
            "metadata": self._metadata(message, quoted),
        }
        edited = _dict(message.get("edited")).get("ts")
        if not speech:
            if not words and not attachments:
                common["content"] = str(subtype)
            return InboundEvent(id=id_, kind="notice", occurred_at=_ms(ts), **common)
        if edited is not None and (words or attachments):
            edited = _ts(edited)
            return InboundEvent(
                id=f"{id_}:edited:{edited}",
                kind="edit",
                target=id_,
                said_at=_ms(ts),
                occurred_at=_ms(edited),
                **common,
            )
        return InboundEvent(id=id_, occurred_at=_ms(ts), **common)

    def _deletion(self, id_: str, ts: str, message: dict[str, Any]) -> InboundEvent:
        sender, name = self._sender(_dict(message.get("previous_message")) or message)
        return InboundEvent(
            platform=_PLATFORM,
            id=f"{id_}:deleted",
            kind="deletion",
            target=id_,
            sender_id=sender,
            sender_name=name,
            peer_id=self._place or None,
            peer_kind=self._channel.kind,
            # When it was deleted no export says.
            occurred_at=_ms(_ts(message["ts"])),
            content="",
        )

    def _reactions(self, id_: str, ts: str, message: dict[str, Any]) -> Iterator[InboundEvent]:
        for reaction in _dicts(message.get("reactions")):
            sign = str(reaction["name"])
            for user in reaction.get("users") or ():
                yield InboundEvent(
                    platform=_PLATFORM,
                    id=f"{id_}:reaction:{sign}:{user}",
                    kind="reaction",
                    target=id_,
                    sender_id=str(user),
                    sender_name=self._people.names.get(str(user)),
                    peer_id=self._place or None,
                    peer_kind=self._channel.kind,
                    occurred_at=_ms(ts),
                    content=f":{sign}:",
                )

    def _sender(self, message: Mapping[str, Any]) -> tuple[str, str | None]:
        told = {"profile": message.get("user_profile"), "username": message.get("username")}
        named = _name_of(told) or _name_of(_dict(message.get("bot_profile")))
        for key in ("user", "bot_id"):
            if isinstance(id_ := message.get(key), str) and id_:
                return id_, self._people.names.get(id_) or named
        named = message.get("username")
        return (str(named), str(named)) if named else ("USLACK", "Slack")

    def _metadata(self, message: Mapping[str, Any], quoted: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self._channel.name and self._channel.name != self._place:
            found["channel"] = self._channel.name
        if quoted:
            found["quoted"] = quoted
        if isinstance(subtype := message.get("subtype"), str):
            found["subtype"] = subtype
        return found

    def _attachments(self, message: dict[str, Any], own: bool) -> tuple[Attachment, ...]:
        """Return files by name, what was shared with who said it, and links by their title.

        `own`: what is attached are the sender's own words, as bots send them.
        """
        found = []
        files = _dicts(message.get("files")) or _dicts([message.get("file")])
        for file in files:
            mime = _text(file.get("mimetype"))
            found.append(
                Attachment(
                    type="image" if (mime or "").startswith("image/") else "file",
                    name=_text(file.get("name")) or _text(file.get("title")) or _text(file["id"]),
                    url=_address(file.get("permalink") or file.get("url_private")),
                    mime_type=mime,
                    size=file["size"] if isinstance(file.get("size"), int) else None,
                )
            )
        for item in () if own else _dicts(message.get("attachments")):
            shared = item.get("is_share") or item.get("is_msg_unfurl")
            url = item.get("from_url") or item.get("title_link") or item.get("original_url")
            if shared:
                words = _text(item.get("text")) or _text(item.get("fallback")) or ""
                author = _text(item.get("author_name")) or _text(item.get("author_subname"))
                caption = self._plain(words) or None
                found.append(Attachment("forward", author, _address(url), caption=caption))
            else:
                title = _text(item.get("title")) or _text(item.get("fallback"))
                name = self._plain(title)[:200] if title else None
                found.append(Attachment("link", name, _address(url)))
        return tuple(found)

    def _words(self, text: str) -> tuple[str, str]:
        """Return what somebody says, and the lines that they quote."""
        said: list[str] = []
        quoted: list[str] = []
        rest = False
        for line in text.split("\n"):
            mark = _QUOTED.match(line)
            rest = rest or line.startswith(("&gt;&gt;&gt;", ">>>"))
            if mark or rest:
                quoted.append(line[mark.end() :] if mark else line)
            else:
                said.append(line)
        return self._plain("\n".join(said)).strip(), self._plain("\n".join(quoted)).strip()

    def _plain(self, text: str) -> str:
        """Return Slack's markup as it is shown."""
        return html.unescape(_MARK.sub(self._shown, text))

    def _shown(self, found: re.Match[str]) -> str:
        target, _, label = found[1].partition("|")
        if target.startswith("@"):
            name = self._people.names.get(target[1:]) or label or target[1:]
            return f"@{name.removeprefix('@')}"
        if target.startswith("#"):
            return f"#{label or target[1:]}"
        if target.startswith("!"):
            return label or f"@{target[1:].partition('^')[0]}"
        address = target.removeprefix("mailto:").removeprefix("tel:")
        return address if not label or label in address else f"{label} ({address})"


def _text_of(message: Mapping[str, Any]) -> str:
    """Return a message's text; where it is empty, the words of its blocks."""
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
    if kind == "rich_text_quote":
        inner = "".join(map(_block, _dicts(block.get("elements"))))
        return "\n".join(f"> {line}" for line in inner.split("\n")) + "\n"
    if isinstance(text := block.get("text"), dict):
        return str(text.get("text") or "")
    parts = [*_dicts(block.get("elements")), *_dicts(block.get("fields"))]
    between = "\n" if kind in ("rich_text_list", "section", "rich_text") else ""
    return between.join(filter(None, (_block(part) for part in parts)))


def _bot_texts(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a bot says in attachments."""
    for item in _dicts(message.get("attachments")):
        texts = [_text(item.get(key)) for key in ("pretext", "title", "text")]
        found = "\n".join(filter(None, texts)) or _text(item.get("fallback"))
        if found:
            yield found


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: object) -> Sequence[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _address(value: object) -> str | None:
    """Return an address without its query, which lets in whoever has it and changes each time."""
    return value.partition("?")[0] if isinstance(value, str) else None


def _ts(value: object) -> str:
    """Return a message's time as Slack writes it: it is the message's id, and no number."""
    if not isinstance(value, str) or not re.fullmatch(r"\d{1,12}(?:\.\d{1,9})?", value):
        raise InvalidInput(f"ts: {value!r} is no time of Slack's, as in 1452837318.000002")
    return value


def _ms(ts: str) -> int:
    seconds, _, rest = ts.partition(".")
    return int(seconds) * 1000 + int(rest[:3].ljust(3, "0"))


def _read(member: Member, options: Options) -> Source:
    return _Day(member)


def _read_folder(folder: Folder, options: Options) -> Source:
    return _Workspace(folder)


ADAPTER = Adapter("slack", _is_day, _read, _is_export, _read_folder)
