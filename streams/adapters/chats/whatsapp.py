"""WhatsApp: a chat as text, as iPhones and Android phones write it in many languages.

Lines have no zone and, on Android, no seconds. Whether the day or the month comes first is decided
from the whole file before anything is read, or must be given.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import msgspec

from recollect.schemas.errors import InvalidInput
from recollect.schemas.events import Attachment
from recollect.schemas.inbound import MAX_CONTENT_BYTES, InboundEvent
from recollect.streams.adapters.adapter import Adapter, ExportFile, ExportSource, ParseResult
from recollect.streams.adapters.chats.whatsapp_phrases import (
    AFTERNOON,
    ATTACHED,
    ATTACHED_ANDROID,
    CHAT_NAME,
    DELETED,
    EDITED,
    ISOLATES,
    LAST_MARK,
    MARKS,
    MORNING,
    NO_DAY_HALF,
    OMITTED,
    OPTION,
    OWN_OMITTED,
    PAGES,
    PLACE,
    POLL,
    SYSTEM_MESSAGE,
    VOTES,
)
from recollect.streams.adapters.import_options import DATE_ORDERS, DateOrder, Options, zoned
from recollect.streams.adapters.input.input_files import DamagedInput, InputEntry
from recollect.streams.adapters.input.text_lines import decoded, text_lines

_PLATFORM = "whatsapp"
# Digits of Arabic, Persian and Indic scripts, and no-break spaces.
_PLAIN = {
    **{first + digit: str(digit) for first in (0x660, 0x6F0, 0x966, 0x9E6) for digit in range(10)},
    **dict.fromkeys((0xA0, 0x202F, 0x2009), " "),
    0x60C: ",",
}
# Marks between the numbers of a date in Chinese, Japanese and Korean.
_CJK_DATE_MARKS = str.maketrans("年月日년월일", "-- ...")
_YEAR = re.compile(r"\[?\d{4}[年년]")
_BIDI = f"[{MARKS}]*"
_HEADER = re.compile(
    rf"(?P<open>\[)?{_BIDI}"
    rf"(?P<a>\d{{1,4}}){_BIDI}(?P<mark>[./-]|\. ){_BIDI}(?P<b>\d{{1,2}}){_BIDI}(?:[./-]|\. ){_BIDI}"
    r"(?P<c>\d{1,4})"
    rf"\.?{_BIDI},?\s+(?:(?:klo|kl\.?|um|à|at|às|a las|ore|o)\s+)?"
    rf"(?P<before>[^\W\d_]{{1,12}}\s?)?{_BIDI}"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
    rf"\s?(?P<after>[^\d\[\]:–-]{{0,16}}?)\s?"
    rf"(?(open)\]\s?|\s?{_BIDI}[-–]\s)"
)
# Signal's stamp.
_SIGNAL = re.compile(r"\[\d{4}-\d{2}-\d{2}, \d{2}:\d{2}\] ")
_NO_LETTERS = re.compile(rf"[\s.·{MARKS}\u200c]")
# A message must begin within the first lines, this many.
_MAX_LEADING_LINES = 5
# Maximum number of names in a chat.
_MAX_NAMES = 20_000
_NOON = "中午"
_QUOTES = (("“", "”"), ("«", "»"))


class _Header(NamedTuple):
    """The header of a message: its date as three numbers, its time, and where its text begins."""

    date: tuple[str, str, str]
    mark: str
    hour: int
    minute: int
    second: int
    day_half: str
    end: int


def _header(line: str) -> _Header | None:
    """Return the header at the start of a line, or None if the line continues a message."""
    stripped = line.lstrip(MARKS)
    if not (stripped.startswith("[") or stripped[:1].isdecimal()):
        return None
    # Character by character, so that offsets stay valid.
    plain = stripped[:120].translate(_PLAIN)
    if _YEAR.match(plain):
        plain = plain.translate(_CJK_DATE_MARKS)
    found = _HEADER.match(plain)
    if found is None:
        return None
    day_half = _NO_LETTERS.sub("", f"{found['before'] or ''}{found['after'] or ''}").lower()
    return _Header(
        (found["a"], found["b"], found["c"]),
        found["mark"].strip(),
        int(found["hour"]),
        int(found["minute"]),
        int(found["second"] or 0),
        day_half,
        len(line) - len(stripped) + found.end(),
    )


class _Survey(msgspec.Struct):
    """Facts about the whole file: the order of its dates, and names that contain a colon."""

    order: DateOrder | None = None
    names_with_colon: frozenset[str] = frozenset()
    senders: frozenset[str] = frozenset()


def _is_chat(start: bytes, name: str) -> bool:
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = start[: len(start) // 2 * 2].decode("utf-16", errors="replace")
    else:
        text = decoded(start)
    lines = [
        line for line in text.lstrip("\ufeff").split("\n")[: 4 * _MAX_LEADING_LINES] if line.strip()
    ]
    return any(
        _header(line) is not None and not _SIGNAL.match(line) for line in lines[:_MAX_LEADING_LINES]
    )


class _Chat(ExportSource):
    is_chronological = True

    def __init__(self, entry: InputEntry, zone: ZoneInfo, survey: _Survey) -> None:
        self._entry = entry
        self._zone = zone
        self._survey = survey
        self._name = _chat_name(entry.path)

    def parts(self) -> Iterator[ExportFile]:
        yield ExportFile(self._entry.path, self._parse())

    def _parse(self) -> Iterator[tuple[int, ParseResult]]:
        first_line, header, words, size = 0, None, [""], 0
        for number, line in text_lines(self._entry):
            found = _header(line)
            if found is None:
                if header is not None:
                    size += len(line)
                    # Of a message that is too long, keep just enough to be rejected.
                    if size <= MAX_CONTENT_BYTES + len(line):
                        words.append(line)
                elif line.strip():
                    yield number, InvalidInput("this line precedes any message")
                continue
            if header is not None:
                yield first_line, self._event(header, "\n".join(words))
            first_line, header, words, size = number, found, [line[found.end :]], 0
        if header is not None:
            yield first_line, self._event(header, "\n".join(words))

    def _event(self, header: _Header, raw: str) -> ParseResult:
        try:
            occurred_at = zoned(_local_time(header, self._survey.order), self._zone)
        except ValueError as error:
            return InvalidInput(str(error))
        sender, text = self._split_sender(raw)
        chat: dict[str, Any] = {
            "platform": _PLATFORM,
            "peer_id": self._name,
            "occurred_at": occurred_at,
        }
        if sender is None:
            about = _system_text(text)
            return InboundEvent(
                kind="notice", sender_id=self._name or _PLATFORM, content=about, **chat
            )
        fields = _message_fields(text)
        return InboundEvent(sender_id=sender, sender_name=sender, **fields, **chat)

    def _split_sender(self, raw: str) -> tuple[str | None, str]:
        """Return the sender, None for WhatsApp itself, and the text."""
        first, _, _ = raw.partition("\n")
        name, colon, _ = first.partition(": ")
        if any(name.count(begin) != name.count(end) for begin, end in _QUOTES) or (
            name.count('"') % 2
        ):
            # The name of a group, not a sender.
            return None, raw
        if colon and _name(name) in self._survey.names_with_colon:
            second = first[len(name) + 2 :].partition(": ")[0]
            name = f"{name}: {second}"
        elif not colon:
            # A message without text, whose space was lost.
            name = first.rstrip().removesuffix(":")
            if name == first.rstrip() or _name(name) not in self._survey.senders:
                return None, raw
            return _name(name), raw[len(first) :]
        return _name(name), raw[len(name) + 2 :]


def _message_fields(text: str) -> dict[str, Any]:
    """Return the event fields of a message: text, files, or a notice of WhatsApp."""
    from_whatsapp = text.startswith(tuple(MARKS))
    metadata: dict[str, Any] = {}
    if edited := EDITED.search(text):
        text = text[: edited.start()].rstrip(MARKS).rstrip()
        metadata["edited"] = True
    words = _clean(text)
    if DELETED.fullmatch(words):
        return {"kind": "notice", "content": words, "metadata": {"deleted": True}}
    file, words = _file(text, words, from_whatsapp)
    if file is not None:
        return {"content": words, "attachments": (file,), "metadata": metadata}
    if POLL.match(words):
        asked, options = _poll(VOTES.sub("", _system_text(words)))
        return {"content": asked, "attachments": (options,), "metadata": metadata}
    if words and (from_whatsapp or SYSTEM_MESSAGE.fullmatch(words)):
        # A call, a change of number, a pin: the mark before it cannot be typed.
        return {"kind": "notice", "content": _system_text(words), "metadata": metadata}
    if not words:
        return {"kind": "notice", "content": "(empty)", "metadata": metadata}
    return {"content": words, "metadata": metadata}


def _poll(words: str) -> tuple[str, Attachment]:
    """Return a poll's question, and its options as an attachment."""
    rows = words.split("\n")
    options = [found[1] for row in rows if (found := OPTION.fullmatch(row))]
    asked = "\n".join(row for row in rows if not OPTION.fullmatch(row))
    return asked, Attachment(type="poll", caption=" / ".join(options) or None)


def _file(text: str, words: str, from_whatsapp: bool) -> tuple[Attachment | None, str]:
    """Return the file of a message, and its caption.

    `from_whatsapp`: the message begins with a mark that only WhatsApp writes.
    """
    if found := ATTACHED.search(text):
        before = PAGES.search(text[: found.start()])
        if before:
            # "report.pdf • 3 pages": the file's name, not a caption.
            return Attachment(name=_clean(text[: before.start()]) or found[1]), ""
        return Attachment(name=found[1]), _clean(text[: found.start()])
    first, _, rest = text.partition("\n")
    if found := ATTACHED_ANDROID.fullmatch(first.rstrip()):
        return Attachment(name=_clean(found[1])), _clean(rest)
    if found := PLACE.fullmatch(words):
        return Attachment(type="location", url=found[1]), ""
    media = Attachment(type="media")
    first_clean = _clean(first)
    if (
        OMITTED.fullmatch(first_clean)
        or first_clean == "null"
        or (from_whatsapp and OWN_OMITTED.fullmatch(first_clean))
    ):
        return media, _clean(rest)
    *before_it, last = LAST_MARK.split(first)
    if before_it and not rest and (OMITTED.fullmatch(last) or OWN_OMITTED.fullmatch(last)):
        # The text before it is a caption, or the file's name.
        caption = _clean(before_it[0])
        pages = PAGES.search(caption)
        if pages is None:
            return media, caption
        return Attachment(name=_clean(caption[: pages.start()])), ""
    return None, words


def _clean(text: str) -> str:
    """Return a text without direction marks around it and around each "@name"."""
    return ISOLATES.sub("", text).strip(MARKS + " \t\r\n\u202f\xa0")


def _system_text(text: str) -> str:
    """Return text of WhatsApp itself, without direction marks."""
    return _clean("".join(sign for sign in text if sign not in MARKS))


def _name(written: str) -> str:
    """Return a name or number without marks; "~" precedes one that is not in the address book."""
    plain = "".join(sign for sign in written if sign not in MARKS)
    plain = " ".join(plain.replace("\u202f", " ").replace("\xa0", " ").split())
    return plain.removeprefix("~").strip() or "?"


def _local_time(header: _Header, order: DateOrder | None) -> datetime:
    """Return the local time of a message.

    Raises:
        ValueError: the date or the time is invalid.
    """
    a, b, c = header.date
    if len(a) > 2 or order == "ymd":
        year, month, day = a, b, c
    elif order == "mdy":
        month, day, year = a, b, c
    else:
        day, month, year = a, b, c
    number = int(year) + (2000 if len(year) <= 2 else 0)
    if number > 2400:
        # The Buddhist era.
        number -= 543
    if number < 1970:
        raise ValueError(f"{'/'.join(header.date)} is in another calendar, or not a date")
    hour = _hour(header)
    try:
        return datetime(number, int(month), int(day), hour, header.minute, header.second)
    except ValueError as error:
        written = header.mark.join(header.date)
        raise ValueError(
            f"{written} {header.hour}:{header.minute:02} is not a valid time: {error}"
        ) from None


def _hour(header: _Header) -> int:
    hour, day_half = header.hour % 24, header.day_half
    if hour > 12 or not day_half or day_half in NO_DAY_HALF:
        return hour
    if day_half in MORNING:
        return hour % 12
    if day_half in AFTERNOON:
        return hour % 12 + 12 if day_half != _NOON or hour < 11 else hour
    if hour == 0:
        return 0
    raise ValueError(f"unknown half of the day {day_half!r}")


def _chat_name(path: str) -> str | None:
    """Return the chat's name from WhatsApp's name for the file or its folder."""
    *_, folder, file = ("", *re.split(r"[/\\]", path))
    for name in (file, folder):
        stem = re.sub(r"(?:\.(?:txt|zip|gz))+$", "", name, flags=re.IGNORECASE)
        if found := CHAT_NAME.fullmatch(_name(stem)):
            return found["name"]
    return None


def _survey(entry: InputEntry, options: Options) -> _Survey:
    """Read a whole file for its date order and names.

    Raises:
        InvalidInput: the order of its dates is ambiguous, and none was given.
    """
    dates = _DateOrders()
    first: Counter[str] = Counter()
    second: Counter[tuple[str, str]] = Counter()
    try:
        for _, line in text_lines(entry):
            if (header := _header(line)) is None:
                continue
            dates.add(header)
            names = line[header.end :].split(": ", 2)
            if len(names) > 1 and len(first) < _MAX_NAMES:
                first[_name(names[0])] += 1
                if len(names) > 2 and len(second) < _MAX_NAMES:
                    second[_name(names[0]), names[1]] += 1
    except DamagedInput:
        # Parsing the file will report it.
        pass
    whole = frozenset(
        name for (name, _), count in second.items() if count >= 3 and count == first[name]
    )
    order = dates.order(entry.path, options.date_order)
    return _Survey(order, whole, frozenset(first))


class _DateOrders:
    """The possible orders of a file's dates."""

    def __init__(self) -> None:
        self._impossible: Counter[DateOrder] = Counter()
        self._backwards: Counter[DateOrder] = Counter()
        self._last: dict[DateOrder, tuple[int, int, int]] = {}
        self._marks: set[str] = set()
        self._ambiguous = 0
        self._count = 0

    def add(self, header: _Header) -> None:
        """Count a date that does not begin with a four-digit year."""
        if len(header.date[0]) > 2:
            return
        self._count += 1
        a, b, c = map(int, header.date)
        self._marks.add(header.mark)
        self._ambiguous += a != b
        for order in DATE_ORDERS:
            day, month, year = {"dmy": (a, b, c), "mdy": (b, a, c), "ymd": (c, b, a)}[order]
            if not (1 <= month <= 12 and 1 <= day <= 31):
                self._impossible[order] += 1
                continue
            day_key = (year, month, day)
            self._backwards[order] += day_key < self._last.get(order, day_key)
            self._last[order] = day_key

    def order(self, path: str, given: DateOrder | None) -> DateOrder | None:
        """Return the order of a file's dates; the file's own evidence overrides `given`.

        A two-digit year comes first only if that is given.

        Raises:
            InvalidInput: the order is ambiguous.
        """
        if not self._count:
            return None
        dmy, mdy = self._impossible["dmy"], self._impossible["mdy"]
        if given == "ymd" and not self._impossible["ymd"]:
            return "ymd"
        if dmy != mdy:
            # A few pasted lines may look like headers.
            return "dmy" if dmy < mdy else "mdy"
        if given is not None:
            return given
        if not self._ambiguous or "." in self._marks or "-" in self._marks:
            # No country writes the month first with these.
            return "dmy"
        dmy, mdy = self._backwards["dmy"], self._backwards["mdy"]
        if bool(dmy) != bool(mdy):
            # A chat is chronological.
            return "mdy" if dmy else "dmy"
        raise InvalidInput(
            f"{path} does not show whether the day or the month comes first in its dates; give it "
            "with --date-order dmy or --date-order mdy (in the library date_order=)"
        )


def _read(entry: InputEntry, options: Options) -> ExportSource:
    return _Chat(entry, options.zone_for(entry.path), _survey(entry, options))


ADAPTER = Adapter("whatsapp", _is_chat, _read)
