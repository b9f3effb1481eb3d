"""Telegram: the exports of Telegram Desktop, of one chat or of all, as JSON or as pages (HTML)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Any

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment, PeerKind
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    Adapter,
    ExportSource,
    ParseResult,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.chats.telegram_pages import Pages, is_page, open_page, pages_of
from recollect.streams.adapters.import_options import LocalClock, Options
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import InputEntry
from recollect.streams.adapters.input.json_documents import nested

_PLATFORM = "telegram"
_JSON = "result.json"
# The pages that an export in both forms has beside its JSON: of one chat, or of all.
_FIRST_PAGES = ("messages.html", "export_results.html")
_MESSAGES = ("messages.item", "chats.list.item.messages.item", "left_chats.list.item.messages.item")
_TYPE = re.compile(rb'"type"\s*:\s*"(?:message|service|unsupported)"')
_WHEN = re.compile(rb'"date(?:_unixtime)?"\s*:\s*"\d')
_UNIX = re.compile(rb'"(?:date|edited)_unixtime"\s*:')
_TEXT = re.compile(rb'"(?:text|text_entities|actor|action)"\s*:')
_FULL_EXPORT_KEYS = (b'"personal_information"', b'"frequent_contacts"', b'"left_chats"', b'"chats"')
# The id prefix and the kind of each type of chat.
_CHATS: dict[str, tuple[str, PeerKind]] = {
    "personal_chat": ("user", "dm"),
    "bot_chat": ("user", "dm"),
    "saved_messages": ("user", "dm"),
    "replies": ("user", "dm"),
    "verification_codes": ("user", "dm"),
    "private_group": ("chat", "group"),
    "public_group": ("chat", "group"),
    "private_supergroup": ("channel", "group"),
    "public_supergroup": ("channel", "group"),
    "private_channel": ("channel", "channel"),
    "public_channel": ("channel", "channel"),
}
_MEDIA = {
    "voice_message": "audio",
    "audio_file": "audio",
    "video_message": "video",
    "video_file": "video",
    "animation": "video",
    "sticker": "sticker",
}
# The parts of a URL that its text may omit.
_SCHEME = re.compile(r"\A\w+://(?:www\.)?|/\Z")
# Fields of a service message beyond its action.
_DETAILS = (
    *("title", "new_title", "text", "gift_text", "members", "duration_seconds"),
    *("discard_reason", "emoticon", "game_message_id", "score", "amount", "currency"),
    *("reason_domain", "period", "boosts"),
)


def _is_export(start: bytes, name: str) -> bool:
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not text.startswith(b"{"):
        return False
    if all(pattern.search(text) for pattern in (_TYPE, _WHEN, _TEXT)) and b'"messages"' in text:
        return True
    return b'"personal_information"' in text and any(one in text for one in _FULL_EXPORT_KEYS[1:])


def _recognises(start: bytes, name: str) -> bool:
    return _is_export(start, name) or is_page(start)


def _is_folder(folder: Folder) -> bool:
    """Return whether a folder has the pages of a chat, or an export in both forms."""
    return _has_both(folder) or bool(pages_of(folder))


def _has_both(folder: Folder) -> bool:
    files = folder.files()
    return (
        _JSON in files
        and any(page in files for page in _FIRST_PAGES)
        and _is_export(folder.file(_JSON).start(), _JSON)
    )


def _read_folder(folder: Folder, options: Options) -> ExportSource:
    if _has_both(folder):
        return _read(folder.file(_JSON), options)
    return Pages(pages_of(folder), options)


def _read(entry: InputEntry, options: Options) -> ExportSource:
    start = entry.start()
    if is_page(start):
        return open_page(entry, options)
    local: tzinfo | None = options.timezone
    if _WHEN.search(start) and not _UNIX.search(start):
        # Exports from before 2022 have only local times.
        local = options.zone_for(entry.path)
    return SingleFileSource(entry, lambda one: _parse(one, local))


def _parse(entry: InputEntry, local: tzinfo | None) -> Iterator[tuple[int, ParseResult]]:
    records = ((n, (known, value)) for n, known, value in nested(entry, *_MESSAGES))
    clocks, topics = _Clocks(local), _Topics()
    return convert(records, lambda one: _events(_Chat(one[0], local, clocks), one[1], topics))


class _Clocks:
    """The clock of the current chat, for exports from before 2022, which have only local times."""

    def __init__(self, local: tzinfo | None) -> None:
        self._local = local
        self._chat = ""
        self._clock = LocalClock(local or UTC)

    def of(self, chat: str) -> LocalClock | None:
        """Return the clock of a chat; None if the time zone is unknown."""
        if chat != self._chat:
            self._chat, self._clock = chat, LocalClock(self._local or UTC)
        return None if self._local is None else self._clock


class _Topics:
    """The topics of the current chat. A message belongs to the topic of the message it answers."""

    def __init__(self) -> None:
        self._chat = ""
        self._titles: dict[object, str] = {}
        self._topic_of: dict[object, object] = {}

    def of(self, chat: str, message: Mapping[str, Any]) -> tuple[object, str] | None:
        """Return the number and the title of a message's topic, or None if it is in none."""
        if chat != self._chat:
            self._chat, self._titles, self._topic_of = chat, {}, {}
        number, answered = message.get("id"), message.get("reply_to_message_id")
        if message.get("action") == "topic_created":
            self._titles[number] = str(message.get("title") or "")
            self._topic_of[number] = number
        elif answered in self._topic_of and "reply_to_peer_id" not in message:
            self._topic_of[number] = self._topic_of[answered]
        topic = self._topic_of.get(number)
        return None if topic is None else (topic, self._titles[topic])


class _Chat:
    """A chat's id and kind."""

    def __init__(self, fields: Mapping[str, Any], local: tzinfo | None, clocks: _Clocks) -> None:
        self.type = str(fields.get("type") or "")
        self.kind: PeerKind | None
        family, self.kind = _CHATS.get(self.type, ("", None))
        id_ = fields.get("id")
        # A one-to-one chat has the other person's name, but that person is identified by id.
        name = fields.get("name") if self.kind in ("group", "channel") else None
        self.metadata: dict[str, Any] = {"channel": str(name)} if name else {}
        self.has_id = id_ is not None
        self.id = f"{family}{id_}" if id_ is not None else str(fields.get("name") or "chat")
        self.local = local
        self.clock = clocks.of(self.id)

    def message_id(self, id_: object, peer: object = None) -> str:
        """Return the id of a message of this chat, or of another."""
        return f"{peer or self.id}:{id_}"


def _events(chat: _Chat, message: Mapping[str, Any], topics: _Topics) -> Iterator[InboundEvent]:
    kind = message.get("type")
    if kind not in ("message", "service", "unsupported") or not _has_time(message):
        raise InvalidInput(f"Telegram exported no text or no time for this record of type {kind!r}")
    at = _parse_time(message, "date", chat.local, chat.clock)
    number = message.get("id")
    id_ = chat.message_id(number) if number is not None and chat.has_id else None
    common: dict[str, Any] = {
        "platform": _PLATFORM,
        "peer_id": chat.id,
        "peer_kind": chat.kind,
    }
    topic = topics.of(chat.id, message) if chat.has_id else None
    if topic is not None:
        common["thread_id"] = chat.message_id(topic[0])
        chat.metadata |= {"topic": topic[1]} if topic[1] else {}
    if kind == "service":
        yield _notice(chat, message, id_, at, common)
        return
    sender, name = _person(message, "from", chat)
    common |= {"sender_id": sender, "sender_name": name}
    by_program = "via_bot" in message or "inline_bot_buttons" in message
    if by_program or (chat.type == "bot_chat" and sender == chat.id):
        # Only bots have buttons, and nobody typed a text that was sent through a bot.
        common["direction"] = "out"
    if (answered := message.get("reply_to_message_id")) is not None and (
        chat.has_id and (topic is None or answered != topic[0])
    ):
        common["reply_to"] = chat.message_id(answered, message.get("reply_to_peer_id"))
    content, quoted = _split_quotes(message)
    attachments = list(_attachments(message))
    if "forwarded_from" in message or "forwarded_from_id" in message:
        author = message.get("forwarded_from") or message.get("forwarded_from_id")
        forward = Attachment(
            type="forward", name=str(author) if author else None, caption=content or None
        )
        content, attachments = "", [forward, *attachments]
    elif not content and quoted:
        content, quoted = quoted, ""
    if not content and not attachments:
        attachments = [Attachment(type=str(message.get("media_type") or "unsupported"))]
    common |= {
        "content": content,
        "attachments": tuple(attachments),
        "metadata": {**chat.metadata, "quoted": quoted} if quoted else chat.metadata,
    }
    edited = _edit_time(message, chat.local, at)
    if edited is not None and id_ is not None:
        yield InboundEvent(
            **common,
            kind="edit",
            id=f"{id_}:edited:{_seconds(edited)}",
            target=id_,
            occurred_at=edited.isoformat(),
            said_at=at.isoformat(),
        )
    else:
        yield InboundEvent(**common, id=id_, occurred_at=at.isoformat())
    if id_ is not None:
        yield from _reactions(chat, message, id_, at)


def _notice(
    chat: _Chat,
    message: Mapping[str, Any],
    id_: str | None,
    at: datetime,
    common: Mapping[str, Any],
) -> InboundEvent:
    sender, name = _person(message, "actor", chat)
    action = str(message.get("action") or "service").replace("_", " ")
    details: list[str] = []
    for key in _DETAILS:
        value = message.get(key)
        if key in ("text", "gift_text"):
            value = _text(value)
        if isinstance(value, list):
            value = ", ".join(str(one) for one in value if one is not None)
        if value not in (None, "", 0):
            details.append(str(value))
    pinned = message.get("message_id")
    return InboundEvent(
        **common,
        metadata=chat.metadata,
        kind="notice",
        id=id_,
        sender_id=sender,
        sender_name=name,
        occurred_at=at.isoformat(),
        content=f"{action}: {', '.join(details)}" if details else action,
        target=chat.message_id(pinned) if pinned is not None and chat.has_id else None,
    )


def _reactions(
    chat: _Chat, message: Mapping[str, Any], id_: str, at: datetime
) -> Iterator[InboundEvent]:
    """Yield the reactions whose senders the export names."""
    for reaction in message.get("reactions") or ():
        emoji = reaction.get("emoji") or reaction.get("document_id") or reaction.get("type")
        for one in reaction.get("recent") or ():
            sender, name = _person(one, "from", chat)
            when = _parse_time(one, "date", at.tzinfo) if _has_time(one) else at
            yield InboundEvent(
                platform=_PLATFORM,
                kind="reaction",
                id=f"{id_}:reaction:{sender}:{emoji}"[:500],
                target=id_,
                sender_id=sender,
                sender_name=name,
                occurred_at=when.isoformat(),
                content=str(emoji),
                peer_id=chat.id,
                peer_kind=chat.kind,
            )


def _person(message: Mapping[str, Any], field: str, chat: _Chat) -> tuple[str, str | None]:
    """Return the id and name of a message's sender; without an id, the name serves as the id."""
    name, id_ = message.get(field), message.get(f"{field}_id")
    name = str(name) if name else None
    if isinstance(id_, int):
        # Exports from before 2021 identify users by number only.
        return f"user{id_}", name
    return str(id_ or name or chat.id), name


def _split_quotes(message: Mapping[str, Any]) -> tuple[str, str]:
    """Return a message's own text, and its quotations."""
    parts = message.get("text_entities")
    if not isinstance(parts, list) or not parts:
        parts = message.get("text")
    if not isinstance(parts, list):
        words, quoted = _text(parts).strip(), ""
    else:
        cited = [one for one in parts if isinstance(one, dict) and one.get("type") == "blockquote"]
        words = _text([one for one in parts if one not in cited]).strip()
        quoted = "\n\n".join(_text([one]).strip() for one in cited)
    poll = message.get("poll")
    if isinstance(poll, dict):
        words = "\n".join(filter(None, (words, _text(poll.get("question")))))
    listed = message.get("todo_list")
    if isinstance(listed, dict):
        items = [one.get("text") for one in listed.get("answers") or listed.get("items") or ()]
        words = "\n".join((words or _text(listed.get("title")), *(f"- {_text(i)}" for i in items)))
    return words, quoted


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return _text(value.get("text"))
    text = ""
    for part in value if isinstance(value, list) else ():
        link = isinstance(part, dict) and part.get("type") == "link"
        # Some tools drop the spaces between pieces, but a link always begins a new word.
        needs_space = link and text and (text[-1].isalnum() or text[-1] in ":,;.!?")
        text += f" {_text(part)}" if needs_space else _text(part)
        if isinstance(part, dict) and part.get("type") == "text_link":
            address = str(part.get("href") or "")
            if address and _SCHEME.sub("", _text(part)) != _SCHEME.sub("", address):
                text += f" ({address})"
    return text


def _attachments(message: Mapping[str, Any]) -> Iterator[Attachment]:
    media = message.get("media_type")
    if "photo" in message:
        yield Attachment(
            type="image",
            name=_file_name(message.get("photo")),
            size=_size(message.get("photo_file_size")),
        )
    if "file" in message or media in _MEDIA:
        name = message.get("file_name") or _file_name(message.get("file"))
        if media == "sticker":
            name = message.get("sticker_emoji") or name
        elif media == "audio_file":
            artist_and_title = filter(None, (message.get("performer"), message.get("title")))
            name = name or " - ".join(map(str, artist_and_title))
        mime = str(message.get("mime_type") or "")
        family = mime.partition("/")[0]
        yield Attachment(
            type=_MEDIA.get(
                str(media), family if family in ("image", "audio", "video") else "file"
            ),
            name=str(name)[:1000] if name else None,
            mime_type=mime or None,
            size=_size(message.get("file_size")),
        )
    place = message.get("location_information")
    if isinstance(place, dict):
        names = filter(None, (message.get("place_name"), message.get("address")))
        yield Attachment(
            type="location",
            name=", ".join(map(str, names)) or None,
            url=f"geo:{place.get('latitude')},{place.get('longitude')}",
        )
    contact = message.get("contact_information")
    if isinstance(contact, dict):
        parts = (contact.get(key) for key in ("first_name", "last_name", "phone_number"))
        yield Attachment(type="contact", name=" ".join(str(one) for one in parts if one) or None)
    poll = message.get("poll")
    if isinstance(poll, dict):
        # The options become an attachment, because they are not statements of a person.
        answers = [one.get("text") for one in poll.get("answers") or () if isinstance(one, dict)]
        yield Attachment(type="poll", caption=" / ".join(map(_text, answers)) or None)
    if title := message.get("game_title"):
        yield Attachment(type="game", name=str(title))
    invoice = message.get("invoice_information")
    if isinstance(invoice, dict):
        yield Attachment(type="invoice", name=str(invoice.get("title") or "") or None)


def _file_name(value: object) -> str | None:
    """Return a file's name; None for a file that was not exported, which has a note in brackets."""
    if not isinstance(value, str) or value.startswith("("):
        return None
    return re.split(r"[/\\]", value)[-1][:1000] or None


def _size(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None


def _has_time(message: Mapping[str, Any]) -> bool:
    return bool(message.get("date_unixtime") or message.get("date"))


def _parse_time(
    message: Mapping[str, Any],
    field: str,
    local: tzinfo | None,
    clock_of_chat: LocalClock | None = None,
) -> datetime:
    """Return a time of a message, in the exporter's time zone if that is known.

    `clock_of_chat` resolves local times that are ambiguous because clocks are set back; give it
    only for times in ascending order.
    """
    local_time, unix = message.get(field), message.get(f"{field}_unixtime")
    clock = datetime.fromisoformat(str(local_time)) if local_time else None
    if unix is not None:
        utc = datetime.fromtimestamp(int(unix), UTC)
        if clock is None or clock.tzinfo is not None:
            return utc
        offset = timedelta(minutes=round((clock - utc.replace(tzinfo=None)).total_seconds() / 60))
        return utc.astimezone(timezone(offset)) if abs(offset) <= timedelta(hours=15) else utc
    if clock is None:
        raise InvalidInput("the record has no timestamp")
    if clock.tzinfo is not None:
        return clock
    if local is None:
        raise InvalidInput(
            "the record has a time without a zone; give the exporter's zone as `timezone`"
        )
    return clock_of_chat.at(clock) if clock_of_chat is not None else clock.replace(tzinfo=local)


def _edit_time(message: Mapping[str, Any], local: tzinfo | None, at: datetime) -> datetime | None:
    """Return the time of the last edit, or None; some versions write 1970 if there is none."""
    if not (message.get("edited") or message.get("edited_unixtime")):
        return None
    edited = _parse_time(message, "edited", local or at.tzinfo)
    return edited if edited.year > 1971 else None


def _seconds(time: datetime) -> int:
    return int(time.timestamp())


ADAPTER = Adapter("telegram", _recognises, _read, _is_folder, _read_folder)
