"""WhatsApp: a chat as text, as iPhones and Android phones write it in many languages.

Times have no time zone and, on Android, no seconds. Whether the day or the month comes first is
decided from the whole file before anything is read, or must be given.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.ids import content_source_id
from recollect.schemas.inbound import InboundEvent
from recollect.schemas.times import parse_time
from recollect.streams.adapters.adapter import Adapter, ExportFile, ExportSource, ParseResult
from recollect.streams.adapters.chats.chat_recognition import RecognisedChat, is_talk
from recollect.streams.adapters.chats.whatsapp_headers import (
    DateOrders,
    Header,
    HeaderStyle,
    Years,
    header_of,
    local_time,
)
from recollect.streams.adapters.chats.whatsapp_phrases import (
    ATTACHED,
    ATTACHED_ANDROID,
    CHAT_NAMES,
    DIRECTION_EMBEDDINGS,
    ISOLATES,
    LAST_MARK,
    MARKS,
    OPTION,
    OWN_MARKS,
    PAGES,
    PLACE,
    POLL,
    VOTES,
    bracketed_phrase,
    bracketed_phrase_at_end,
    is_deletion,
    is_edit_mark,
    is_marked_notice,
    is_omitted,
    is_system_message,
    may_be_whatsapp_phrase,
)
from recollect.streams.adapters.import_options import (
    ChatPlace,
    DateOrder,
    LocalClock,
    Options,
)
from recollect.streams.adapters.input.input_files import (
    DamagedInput,
    InputEntry,
    UncountedInput,
    decoded_path,
)
from recollect.streams.adapters.input.text_lines import decode_text, text_lines
from recollect.streams.adapters.long_messages import MAX_MESSAGE_BYTES

_PLATFORM = "whatsapp"
# The beginning of a line of a Signal export.
_SIGNAL = re.compile(r"\[\d{4}-\d{2}-\d{2}, \d{2}:\d{2}\] ")
# Notes and documents: no phone exports a chat under such a name.
_DOCUMENT_NAME = re.compile(r"\.(?:md|markdown|mdown|rst|org|adoc|html?|csv|tsv)\Z", re.IGNORECASE)
# File names: one that WhatsApp itself gives; and one used inside archives, or chosen by people.
_OWN_FILE = re.compile(r"whats ?app", re.IGNORECASE)
_CHAT_FILE = re.compile(r"\A_?chats?\b", re.IGNORECASE)
# What browsers append to the name of a file that is there already.
_COPY_NUMBER = re.compile(r" \(\d+\)\Z")
# The first message must begin within this many lines.
_MAX_LEADING_LINES = 5
# Maximum number of names in a chat.
_MAX_NAMES = 20_000
# Maximum number of words of a name at the beginning of a notice.
_MAX_NAME_WORDS = 6
# A phrase that ends at least this many messages is an edit mark.
_MIN_EDIT_MARKS = 3
# Quotation marks by which names are quoted in many languages, each kind in pairs: „a“, “a”, »a«.
_QUOTES = ('"“”„‟', "«»‹›", "「」『』")  # noqa: RUF001


class _Survey(msgspec.Struct):
    """Facts about the whole file.

    `order`: the order of its dates. `first_year`: the year of its first message, if no year is
    written. `placeholders` and
    `edit_marks`: repeated phrases in angle brackets, in positions where only WhatsApp writes them.
    `group`: the sender that stands for the group itself; all of its lines were written by WhatsApp.
    """

    order: DateOrder | None = None
    style: HeaderStyle = "usual"
    first_year: int | None = None
    names_with_colon: frozenset[str] = frozenset()
    senders: frozenset[str] = frozenset()
    placeholders: frozenset[str] = frozenset()
    edit_marks: frozenset[str] = frozenset()
    group: str | None = None


def _is_chat(start: bytes, name: str) -> bool:
    if _DOCUMENT_NAME.search(name):
        return False
    lines = _written_lines(start)
    is_own_name = _OWN_FILE.search(name) is not None
    is_chat_name = _CHAT_FILE.search(name) is not None
    style = _style_of(lines)
    if style != "usual" and not (is_own_name or is_chat_name):
        return False
    if not any(
        header_of(line, style) is not None and not _SIGNAL.match(line)
        for line in lines[:_MAX_LEADING_LINES]
    ):
        return False
    return is_own_name or is_talk(_senders(lines, style), accept_any=is_chat_name)


def _written_lines(start: bytes) -> list[str]:
    """Return the lines at the beginning of a file, without blank ones."""
    lines = decode_text(start).lstrip("\ufeff").split("\n")
    return [line for line in lines if line.strip()]


def _style_of(lines: Sequence[str]) -> HeaderStyle:
    """Return how a chat writes its headers."""
    leading = lines[:_MAX_LEADING_LINES]
    styles: tuple[HeaderStyle, ...] = ("usual", "colon", "written")
    return next(
        (style for style in styles if any(header_of(line, style) for line in leading)), "usual"
    )


def _senders(lines: Iterable[str], style: HeaderStyle) -> Iterator[str | None]:
    """Yield the sender of each message; None if WhatsApp itself wrote it."""
    for line in lines:
        if (header := header_of(line, style)) is not None:
            sender, separator, _ = line[header.end :].partition(": ")
            yield _name(sender) if separator else None


class _Chat(ExportSource):
    is_chronological = True

    def __init__(
        self, entry: InputEntry, zone: ZoneInfo, survey: _Survey, name: str | None
    ) -> None:
        self._entry = entry
        self._clock = LocalClock(zone)
        self._survey = survey
        self._name = name
        self._marked: Counter[str] = Counter()

    def parts(self) -> Iterator[ExportFile]:
        yield ExportFile(self._entry.path, self._parse())

    def _parse(self) -> Iterator[tuple[int, ParseResult]]:
        first_line, header, words, size = 0, None, [""], 0
        years = Years(self._survey.first_year)
        for number, line in text_lines(self._entry):
            line_header = header_of(line, self._survey.style)
            if line_header is None:
                if header is not None:
                    size += len(line)
                    # Of a message that is too long, keep just enough that it is rejected.
                    if size <= MAX_MESSAGE_BYTES + len(line):
                        words.append(line)
                elif line.strip():
                    yield number, InvalidInput("this line precedes the first message")
                continue
            if header is not None:
                yield first_line, self._event(header, "\n".join(words))
            header = years.dated(line_header, self._survey.order)
            first_line, words, size = number, [line[header.end :]], 0
        if header is not None:
            yield first_line, self._event(header, "\n".join(words))

    def _event(self, header: Header, raw: str) -> ParseResult:
        try:
            occurred_at = self._clock.zoned(local_time(header, self._survey.order))
        except ValueError as error:
            return InvalidInput(str(error))
        sender, text = self._split_sender(raw)
        chat: dict[str, Any] = {
            "platform": _PLATFORM,
            "peer_id": self._name,
            "occurred_at": occurred_at,
        }
        if sender is None:
            notice = _system_text(text)
            return InboundEvent(
                kind="notice", sender_id=self._name or _PLATFORM, content=notice, **chat
            )
        fields = self._message_fields(text, sender, header)
        if text.startswith(tuple(MARKS)) and not {"kind", "attachments"} & fields.keys():
            fields["content"] = DIRECTION_EMBEDDINGS.sub("", fields["content"])
            # An id of its own, because an earlier build may have imported the text as a notice.
            fields["id"] = self._marked_id(sender, occurred_at, fields["content"])
        return InboundEvent(sender_id=sender, sender_name=sender, **fields, **chat)

    def _marked_id(self, sender: str, occurred_at: str, content: str) -> str:
        place = f"{self._name or ''}\x1fmarked"
        at, _ = parse_time(occurred_at, "occurred_at")
        first = content_source_id(_PLATFORM, sender, place, at, content, 0)
        ordinal = self._marked[first]
        self._marked[first] += 1
        return content_source_id(_PLATFORM, sender, place, at, content, ordinal)

    def _split_sender(self, raw: str) -> tuple[str | None, str]:
        """Return (sender, or None if WhatsApp itself wrote it; text)."""
        first, _, _ = raw.partition("\n")
        name, colon, _ = first.partition(": ")
        if any(sum(map(name.count, marks)) % 2 for marks in _QUOTES):
            # The colon is inside quotation marks, in the name of a group: there is no sender.
            return None, raw
        if colon and _name(name) in self._survey.names_with_colon:
            second = first[len(name) + 2 :].partition(": ")[0]
            name = f"{name}: {second}"
        elif not colon:
            # A message without text, whose space after the colon was stripped.
            name = first.rstrip().removesuffix(":")
            if name == first.rstrip() or _name(name) not in self._survey.senders:
                return None, raw
            return _name(name), raw[len(first) :]
        return _name(name), raw[len(name) + 2 :]

    def _message_fields(self, text: str, sender: str, header: Header) -> dict[str, Any]:
        """Return the event fields of a message: text, files, or a notice of WhatsApp."""
        marked = text.startswith(OWN_MARKS)
        metadata: dict[str, Any] = {}
        if (phrase := bracketed_phrase_at_end(text)) and self._is_edit_mark(phrase[1]):
            text = text[: phrase[0]].rstrip(MARKS).rstrip()
            metadata["edited"] = True
        words = _clean(text)
        if is_deletion(words):
            return {"kind": "notice", "content": words, "metadata": {"deleted": True}}
        file, words = self._file(text, words, header)
        if file is not None:
            return {"content": words, "attachments": (file,), "metadata": metadata}
        if POLL.match(words):
            question, options = _poll(VOTES.sub("", _system_text(words)))
            return {"content": question, "attachments": (options,), "metadata": metadata}
        if words and (is_system_message(words) or (marked and self._is_notice(text, sender))):
            # A call, a change of number, a pin.
            return {"kind": "notice", "content": _system_text(words), "metadata": metadata}
        if not words:
            return {"kind": "notice", "content": "(empty)", "metadata": metadata}
        return {"content": words, "metadata": metadata}

    def _is_edit_mark(self, phrase: str) -> bool:
        return is_edit_mark(phrase) or phrase in self._survey.edit_marks

    def _is_notice(self, text: str, sender: str) -> bool:
        """Return whether a text that begins with a mark is a notice of WhatsApp."""
        if sender == self._survey.group or is_marked_notice(text):
            return True
        # "Ada added Bob": a group's notices begin with the name of a member.
        words = _system_text(text).removeprefix("~").split()[: _MAX_NAME_WORDS + 1]
        return text.startswith("\u200e") and any(
            " ".join(words[:count]) in self._survey.senders for count in range(1, len(words))
        )

    def _file(self, text: str, words: str, header: Header) -> tuple[Attachment | None, str]:
        """Return the file of a message, and its caption."""
        if attached := ATTACHED.search(text):
            before = PAGES.search(text[: attached.start()])
            if before:
                # "report.pdf • 3 pages": the file's name, not a caption.
                return Attachment(name=_clean(text[: before.start()]) or attached[1]), ""
            return Attachment(name=attached[1]), _clean(text[: attached.start()])
        first, _, rest = text.partition("\n")
        if attached := ATTACHED_ANDROID.fullmatch(first.rstrip()):
            return Attachment(name=_clean(attached[1])), _clean(rest)
        if attached := PLACE.fullmatch(words):
            return Attachment(type="location", url=attached[1]), ""
        media = Attachment(type="media")
        first_clean = _clean(first)
        repeated = not header.apple and bracketed_phrase(first_clean) in self._survey.placeholders
        if repeated or first_clean == "null" or is_omitted(first_clean, text[:1]):
            return media, _clean(rest)
        mark = LAST_MARK.search(first)
        if mark is not None and not rest and is_omitted(first[mark.end() :], mark[0]):
            # The text before it is a caption, or the file's name.
            caption = _clean(first[: mark.start()])
            pages = PAGES.search(caption)
            if pages is None:
                return media, caption
            return Attachment(name=_clean(caption[: pages.start()])), ""
        return None, words


def _poll(words: str) -> tuple[str, Attachment]:
    """Return a poll's question, and its options as an attachment."""
    rows = words.split("\n")
    options = [found[1] for row in rows if (found := OPTION.fullmatch(row))]
    question = "\n".join(row for row in rows if not OPTION.fullmatch(row))
    return question, Attachment(type="poll", caption=" / ".join(options) or None)


def _clean(text: str) -> str:
    """Return a text without direction marks around it and around each "@name"."""
    return ISOLATES.sub("", text).strip(MARKS + " \t\r\n\u202f\xa0")


def _system_text(text: str) -> str:
    """Return a text of WhatsApp itself without its direction marks."""
    return _clean("".join(char for char in text if char not in MARKS))


def _name(written: str) -> str:
    """Return a name or number without marks, and without "~", which marks unknown contacts."""
    plain = "".join(char for char in written if char not in MARKS)
    plain = " ".join(plain.replace("\u202f", " ").replace("\xa0", " ").split())
    return plain.removeprefix("~").strip() or "?"


def _chat_name(path: str) -> str | None:
    """Return the chat's name from WhatsApp's name for the file or its folder.

    Some programs replace spaces with underscores, and some file systems decompose accents.
    """
    *_, folder, file = ("", *re.split(r"[/\\]", decoded_path(path)))
    for name in (file, folder):
        stem = re.sub(r"(?:\.(?:txt|zip|gz))+$", "", name, flags=re.IGNORECASE)
        stem = unicodedata.normalize("NFC", _name(stem))
        if " " not in _COPY_NUMBER.sub("", stem):
            stem = _name(stem.replace("_", " "))
        for pattern in CHAT_NAMES:
            if match := pattern.fullmatch(stem):
                return match["name"]
    return None


class _Surveyor:
    """Collects the facts that only a whole file shows."""

    def __init__(self, style: HeaderStyle) -> None:
        self._style = style
        # Whether the messages so far have years and begin with the day or the month, as those of
        # Android phones; and whether the years are left out from some message on.
        self._may_omit_years = False
        self._omits_years = False
        # Headers whose years may not be written; the order of their dates is known at the end.
        self._written: list[Header] = []
        self._dates = DateOrders()
        self._first: Counter[str] = Counter()
        self._second: Counter[tuple[str, str]] = Counter()
        self._brackets: Counter[str] = Counter()
        self._ends: Counter[str] = Counter()
        # The sender of the first message if WhatsApp wrote it, and whether that sender also has
        # messages that WhatsApp did not write.
        self._group: str | None = None
        self._group_writes_messages = False

    def add(self, line: str) -> None:
        """Add a line."""
        if (bracketed := bracketed_phrase_at_end(line)) and len(self._ends) < _MAX_NAMES:
            self._ends[bracketed[1]] += 1
        if (header := self._header(line)) is None:
            return
        if self._style == "written":
            self._written.append(header._replace(end=0))
        else:
            self._dates.add(header)
        names = line[header.end :].split(": ", 2)
        if len(names) < 2 or len(self._first) >= _MAX_NAMES:
            return
        sender, text = _name(names[0]), ": ".join(names[1:])
        if not self._first and text.startswith(OWN_MARKS) and is_marked_notice(text):
            self._group = sender
        if sender == self._group and not text.startswith(OWN_MARKS):
            self._group_writes_messages = True
        self._first[sender] += 1
        if len(names) > 2 and len(self._second) < _MAX_NAMES:
            self._second[sender, names[1]] += 1
        phrase = None if header.apple else bracketed_phrase(text)
        if phrase is not None and len(self._brackets) < _MAX_NAMES:
            self._brackets[phrase] += 1

    def _header(self, line: str) -> Header | None:
        """Return the header of a line.

        The style changes where the years end: old Android phones wrote none in messages of the
        current year, which are the last ones of a chat.
        """
        header = header_of(line, self._style)
        if self._omits_years and header is not None and header.has_year and not header.apple:
            # The lines without a year were pasted into a message.
            self._style, self._omits_years = "usual", False
            self._written.clear()
        elif self._style == "usual" and header is not None:
            self._may_omit_years = not header.apple and len(header.date[0]) <= 2
        elif self._may_omit_years and not self._omits_years and header is None:
            header = header_of(line, "written")
            if header is None or header.date[2] or not self._is_of_known_sender(line, header):
                return None
            self._style, self._omits_years = "written", True
        return header

    def _is_of_known_sender(self, line: str, header: Header) -> bool:
        sender, separator, _ = line[header.end :].partition(": ")
        return bool(separator) and _name(sender) in self._first

    def survey(self, entry: InputEntry, given_order: DateOrder | None) -> _Survey:
        """Return the facts about the lines so far.

        Raises:
            InvalidInput: the order of the dates is ambiguous and was not given, or the given one is
                impossible; or the years of the dates are unknown.
        """
        for header in self._written:
            self._dates.add(header)
        order = self._dates.order(entry.path, given_order)
        names_with_colon = frozenset(
            name
            for (name, _), count in self._second.items()
            if count >= 3 and count == self._first[name]
        )
        is_group = len(self._first) > 2 and not self._group_writes_messages
        return _Survey(
            order,
            self._style,
            self._first_year(entry, order),
            names_with_colon,
            frozenset(self._first),
            frozenset(
                phrase
                for phrase, count in self._brackets.items()
                if count > 1 and may_be_whatsapp_phrase(phrase)
            ),
            frozenset(
                phrase
                for phrase, count in self._ends.items()
                if count >= _MIN_EDIT_MARKS and may_be_whatsapp_phrase(phrase)
            ),
            self._group if is_group else None,
        )

    def _first_year(self, entry: InputEntry, order: DateOrder | None) -> int | None:
        """Return the year of the first message; None if years are written from the first one on."""
        if self._omits_years or not self._written or self._written[0].has_year:
            return None
        if entry.modified_at is None:
            raise InvalidInput(
                f"the dates of {entry.path} have no year, so they need the file's modification "
                "time; import it as a file or a folder, not from standard input"
            )
        years = Years()
        for header in self._written:
            years.dated(header, order)
        return years.first_year(entry.modified_at.date())


def _survey(entry: InputEntry, options: Options) -> _Survey:
    """Read a whole file for its date order, its names, and WhatsApp's own phrases.

    Raises:
        InvalidInput: the order of its dates is ambiguous.
    """
    surveyor = _Surveyor(_style_of(_written_lines(entry.start())))
    try:
        for _, line in text_lines(entry):
            surveyor.add(line)
    except DamagedInput:
        # Parsing the file will report the damage.
        pass
    return surveyor.survey(entry, options.date_order)


def _read(entry: InputEntry, options: Options) -> ExportSource:
    zone, survey = options.zone_for(entry.path), _survey(UncountedInput(entry), options)
    return RecognisedChat(
        entry,
        ChatPlace(_PLATFORM, _chat_name(entry.path)),
        lambda opened, place: _Chat(opened, zone, survey, place.peer_id),
        options.find_places,
    )


ADAPTER = Adapter("whatsapp", _is_chat, _read)
