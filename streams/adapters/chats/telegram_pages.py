"""Telegram: the pages of Telegram Desktop's HTML export (`messages.html`, `messages2.html`, …).

A page names a chat and its people, but has no ids of them, only those of the messages in the chat.
Several chats may have the same name, so that a message is identified by its time as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, timezone
from html import unescape
from html.parser import HTMLParser
from typing import NamedTuple

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    ExportFile,
    ExportSource,
    ParseResult,
    SingleFileSource,
    convert,
)
from recollect.streams.adapters.chats.chat_recognition import RecognisedChat
from recollect.streams.adapters.import_options import ChatPlace, LocalClock, Options
from recollect.streams.adapters.input.folders import Folder
from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry

_PLATFORM = "telegram"
_PAGE = re.compile(r"messages(?P<number>\d*)\.html\Z")
_TITLE = re.compile(rb"<title>\s*Exported Data\s*</title>")
_FIRST = re.compile(r'<div class="message [^">]{1,100}" id="message(\d+)"')
_MESSAGE = re.compile(rb'<div class="message (?:default|service)\b')
_HEADER = re.compile(
    r'<div class="page_header">.{0,2000}?<div class="text bold">\s*(?P<name>.{1,1000}?)\s*</div>',
    re.DOTALL,
)
_STAMPS = re.compile(r'class="pull_right date details" title="([^"]{1,60})"')
_STAMP = re.compile(
    r"(?P<time>\d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d)"
    r"(?: UTC(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d))?\Z"
)
_ANSWERED = re.compile(r"#go_to_message(\d+)\Z")
_VIA = re.compile(r" via @\w+\Z")
_PLACE = re.compile(r"-?\d{1,3}(?:\.\d{1,20})?,\s?-?\d{1,3}(?:\.\d{1,20})?")
_MENTION_OR_TAG = re.compile(r"[@#$/]")
_ADDRESS = re.compile(r"\w+:")
_SCHEME = re.compile(r"\A\w+:(?://)?(?:www\.)?|/\Z")
_DELETED = "Deleted Account"
# What a link or a box with one of these classes shows.
_MEDIA = {
    "photo_wrap": "image", "media_photo": "image", "sticker_wrap": "sticker",
    "video_file_wrap": "video", "animated_wrap": "video", "media_video": "video",
    "media_voice_message": "audio", "media_audio_file": "audio", "media_file": "file",
    "media_contact": "contact", "media_location": "location", "media_live_location": "location",
    "media_venue": "location", "media_game": "game", "media_invoice": "invoice",
    "media_call": "call",
}  # fmt: skip
# Elements whose text is a field of a message.
_FIELDS = {
    "from_name": "name", "text": "text", "title": "title", "description": "description",
    "status": "status", "question": "question", "answer": "answer",
}  # fmt: skip
_VOID = frozenset({"br", "img", "meta", "link", "hr", "input"})
_CHUNK_BYTES = 1 << 16
_MAX_DEPTH = 100
# A tag or a comment that is longer than any message is damage; it would be read again and again.
_MAX_PENDING_CHARACTERS = 1 << 18


class _Media(NamedTuple):
    kind: str
    address: str | None


class _Message:
    """A message of a page, as far as it is read. `forward`: the fields of what is forwarded."""

    def __init__(self, line: int, id: str, *, joined: bool) -> None:
        self.line = line
        self.id = id
        self.joined = joined
        self.stamp = ""
        self.answered: str | None = None
        self.is_forward = False
        self.media: list[_Media] = []
        self.fields: dict[str, list[str]] = {}
        self.forwarded_from: list[str] = []
        self.quotations: list[str] = []

    def field(self, name: str) -> str:
        return "".join(self.fields.get(name, ())).strip()


class _Page(HTMLParser):
    """Reads the messages of a page, which is fed to it in pieces."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[_Message] = []
        self._message: _Message | None = None
        # The open elements of the message: tag, classes, and address of a link.
        self._open: list[tuple[str, frozenset[str], str]] = []
        # The pieces of the text of the open link.
        self._link_text: list[str] | None = None

    @property
    def is_within_message(self) -> bool:
        """Whether the end of a message is still to come."""
        return self._message is not None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        fields = {name: value or "" for name, value in attrs}
        classes = frozenset(fields.get("class", "").split())
        if self._message is None:
            if tag == "div" and {"message", "default"} <= classes:
                id_ = fields.get("id", "").removeprefix("message")
                self._message = _Message(self.getpos()[0], id_, joined="joined" in classes)
                self._open = [(tag, classes, "")]
            return
        if tag in _VOID:
            if tag == "br":
                self.handle_data("\n")
            return
        message = self._message
        if len(self._open) > _MAX_DEPTH:
            raise DamagedInput(f"the elements of a message are more than {_MAX_DEPTH} levels deep")
        self._open.append((tag, classes, fields.get("href", "")))
        if tag == "a":
            self._link_text = []
        if "date" in classes and not message.stamp:
            message.stamp = fields.get("title", "")
        if {"forwarded", "body"} <= classes:
            message.is_forward = True
        kind = next((_MEDIA[one] for one in sorted(classes) if one in _MEDIA), None)
        if kind is not None:
            message.media.append(_Media(kind, fields.get("href")))
        if "answer" in classes:
            message.fields.setdefault("answer", []).append("\n")
        answered = _ANSWERED.search(fields.get("href", ""))
        if answered is not None and self._within("reply_to"):
            message.answered = answered[1]

    def handle_endtag(self, tag: str) -> None:
        if self._message is None or tag in _VOID:
            return
        while self._open and self._open[-1][0] != tag:
            self._open.pop()
        if not self._open:
            self._finish()
            return
        _, _, address = self._open.pop()
        words, self._link_text = "".join(self._link_text or ()), None
        if tag == "a" and self._within("text"):
            said = _SCHEME.sub("", words.strip()) == _SCHEME.sub("", address)
            if _ADDRESS.match(address) and not said and not _MENTION_OR_TAG.match(words):
                self.handle_data(f" ({address})")
        if not self._open:
            self._finish()

    def handle_data(self, data: str) -> None:
        message = self._message
        if message is None:
            return
        if self._link_text is not None:
            self._link_text.append(data)
        if self._within("text"):
            if any(tag == "blockquote" for tag, _, _ in self._open):
                message.quotations.append(data)
            else:
                message.fields.setdefault("text", []).append(data)
            return
        _, classes, _ = self._open[-1]
        name = next((_FIELDS[one] for one in classes if one in _FIELDS), None)
        if name == "name" and self._within("forwarded"):
            message.forwarded_from.append(data)
        elif name is not None:
            message.fields.setdefault(name, []).append(data)

    def _within(self, class_: str) -> bool:
        return any(class_ in classes for _, classes, _ in self._open)

    def _finish(self) -> None:
        if self._message is not None:
            self.found.append(self._message)
        self._message, self._open = None, []


def _messages(entry: InputEntry) -> Iterator[tuple[int, _Message]]:
    """Yield the messages of a page, with their lines."""
    page = _Page()
    with entry.open() as file:
        pending = b""
        while chunk := file.read(_CHUNK_BYTES):
            # A character of several bytes may be cut in two.
            whole, mark, rest = (pending + chunk).rpartition(b"\n")
            pending = rest if mark else b""
            damage = None
            try:
                page.feed((whole + mark if mark else rest).decode(errors="replace"))
            except DamagedInput as error:
                damage = error
            yield from ((one.line, one) for one in page.found)
            if len(page.rawdata) > _MAX_PENDING_CHARACTERS:
                damage = DamagedInput("a tag or a comment does not end")
            if damage is not None:
                raise damage
            page.found = []
        page.feed(pending.decode(errors="replace"))
        yield from ((one.line, one) for one in page.found)
    if page.is_within_message:
        raise DamagedInput("the page ends within a message; what precedes it was imported")


class _Chat:
    """Converts the messages of a page, in order.

    `ids`: the id of each message that precedes the page, by number; those of the page are added.
    """

    def __init__(self, name: str | None, ids: dict[str, str], options: Options) -> None:
        self._name = name
        self._ids = ids
        self._clock = LocalClock(options.timezone) if options.timezone is not None else None
        self._sender = ""
        self._forwarded_from = ""

    def events(self, message: _Message) -> Iterator[InboundEvent]:
        """Yield the event of a message."""
        if not message.joined:
            self._sender = message.field("name") or _DELETED
        if message.forwarded_from:
            self._forwarded_from = "".join(message.forwarded_from).strip()
        sender = _VIA.sub("", self._sender)
        call = next((one for one in message.media if one.kind == "call"), None)
        text = message.field("text") or message.field("question")
        files = [] if call is not None else list(_attachments(message))
        quoted = "".join(message.quotations).strip()
        if message.is_forward:
            author = _VIA.sub("", self._forwarded_from) or None
            words = "\n".join(filter(None, (quoted, text)))
            forward = Attachment(type="forward", name=author, caption=words or None)
            text, quoted, files = "", "", [forward, *files]
        elif not text:
            text, quoted = quoted, ""
        if call is not None:
            text = f"phone call: {message.field('status')}"
        if not text and not files:
            files = [Attachment(type="unsupported")]
        metadata = {"channel": self._name} if self._name else {}
        at = self._time(message.stamp)
        # The deleted accounts of a chat have the same name: at least those of others differ.
        is_deleted = sender == _DELETED and self._name is not None
        yield InboundEvent(
            platform=_PLATFORM,
            kind="notice" if call is not None else "message",
            id=self._id(message.id, at),
            sender_id=f"{self._name}:{sender}" if is_deleted else sender,
            sender_name=None if is_deleted else sender,
            # Nobody typed a text that was sent through a bot.
            direction="out" if sender != self._sender else None,
            occurred_at=at.isoformat(),
            content=text,
            peer_id=self._name,
            reply_to=self._ids.get(message.answered or ""),
            attachments=tuple(files),
            metadata={**metadata, "quoted": quoted} if quoted else metadata,
        )

    def _id(self, number: str, at: datetime) -> str | None:
        if not number or not self._name:
            return None
        self._ids[number] = f"{self._name}:{number}:{int(at.timestamp())}"
        return self._ids[number]

    def _time(self, stamp: str) -> datetime:
        found = _STAMP.match(stamp)
        if found is None:
            raise InvalidInput("the message has no time")
        day, clock = found["time"].split()
        local = datetime.fromisoformat(f"{'-'.join(reversed(day.split('.')))}T{clock}")
        if found["sign"]:
            offset = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
            zone = timezone(offset if found["sign"] == "+" else -offset)
            return local.replace(tzinfo=zone)
        if self._clock is None:
            raise InvalidInput("the message has a time without a zone; give it as `timezone`")
        return self._clock.at(local)


def _attachments(message: _Message) -> Iterator[Attachment]:
    title, description, status = map(message.field, ("title", "description", "status"))
    for kind, address in message.media:
        file = address.rpartition("/")[2] or None if address else None
        if kind == "image" and title == "Sticker":
            yield Attachment(type="sticker", name=status.partition(",")[0] or file)
        elif kind == "contact":
            yield Attachment(type=kind, name=" ".join(filter(None, (title, status))) or None)
        elif kind == "location":
            place = _PLACE.search(status) or _PLACE.search(address or "")
            names = filter(None, (title if description else "", description))
            yield Attachment(
                type=kind,
                name=", ".join(names) or None,
                url=f"geo:{place[0].replace(' ', '')}" if place is not None else None,
            )
        elif kind in ("game", "invoice"):
            yield Attachment(type=kind, name=title or None)
        else:
            # The title of a file that has a name of its own; otherwise, what kind of file it is.
            yield Attachment(type=kind, name=title or file if kind == "file" else file)
    if "question" in message.fields:
        answers = re.findall(r"^[ \t]*- (.*)", message.field("answer"), re.MULTILINE)
        yield Attachment(type="poll", caption=" / ".join(map(str.strip, answers)) or None)


def is_page(start: bytes) -> bool:
    """Return whether a file is a page with messages; other pages list chats or contacts."""
    head = start.removeprefix(BYTE_ORDER_MARK).lstrip()
    return (
        head[:15].lower() == b"<!doctype html>"
        and _TITLE.search(head) is not None
        and _MESSAGE.search(head) is not None
    )


def pages_of(folder: Folder) -> list[InputEntry]:
    """Return the pages of the chat of a folder, the oldest messages first.

    Raises:
        DamagedInput: a page cannot be read.
    """
    numbered = sorted(
        (int(found["number"] or 1), name)
        for name in folder.files()
        if (found := _PAGE.match(name)) is not None
    )
    pages = [folder.file(name) for _, name in numbered]
    return pages if pages and all(is_page(page.start()) for page in pages) else []


def open_page(entry: InputEntry, options: Options) -> ExportSource:
    """Open a page; its chat is recognised by name or by its messages.

    Raises:
        InvalidInput: the page has times without a zone, and none was given.
    """
    return _open(entry, _name(entry), {}, options)


def _name(entry: InputEntry) -> str | None:
    """Return the name of a page's chat; with a number, if that of any deleted account."""
    start = entry.start().decode(errors="replace")
    header, first = _HEADER.search(start), _FIRST.search(start)
    name = unescape(header["name"]) if header is not None else None
    return f"{name} {first[1]}" if name == _DELETED and first is not None else name


def _open(
    entry: InputEntry, name: str | None, ids: dict[str, str], options: Options
) -> ExportSource:
    """Open a page of a chat with this name; `ids`: of the messages on the pages before it."""
    start = entry.start().decode(errors="replace")
    stamps = filter(None, map(_STAMP.match, _STAMPS.findall(start)))
    if not all(stamp["sign"] for stamp in stamps):
        options.zone_for(entry.path)

    def open_in(opened: InputEntry, place: ChatPlace) -> ExportSource:
        def parse(one: InputEntry) -> Iterator[tuple[int, ParseResult]]:
            return convert(_messages(one), _Chat(place.peer_id, ids, options).events)

        return SingleFileSource(opened, parse)

    return RecognisedChat(entry, ChatPlace(_PLATFORM, name), open_in, options.find_places)


class Pages(ExportSource):
    """The pages of a chat, in order."""

    def __init__(self, pages: Sequence[InputEntry], options: Options) -> None:
        ids: dict[str, str] = {}
        self._pages = [_open(page, _name(pages[0]), ids, options) for page in pages]

    def parts(self) -> Iterator[ExportFile]:
        for page in self._pages:
            yield from page.parts()
