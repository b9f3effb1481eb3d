"""WhatsApp: a chat as text, as phones of Apple's and of Android write it in many languages.

A line says no zone and, on Android, no seconds; which number of a date is the month no line says,
so it is decided from the whole file before anything is read, or asked for.
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
from recollect.streams.adapters.adapter import Adapter, Found, Part, Source
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
    NEITHER,
    OMITTED,
    OPTION,
    OWN_OMITTED,
    PAGES,
    PLACE,
    POLL,
    TOLD,
    VOTES,
)
from recollect.streams.adapters.import_options import DATE_ORDERS, DateOrder, Options, zoned
from recollect.streams.adapters.input.input_files import Damaged, Member
from recollect.streams.adapters.input.text_lines import decoded, text_lines

_PLATFORM = "whatsapp"
# Digits of Arabic, Persian and Indic scripts, and blanks that break no line.
_PLAIN = {
    **{first + digit: str(digit) for first in (0x660, 0x6F0, 0x966, 0x9E6) for digit in range(10)},
    **dict.fromkeys((0xA0, 0x202F, 0x2009), " "),
    0x60C: ",",
}
# What stands between the numbers of a date in Chinese, Japanese and Korean.
_OF_DATES = str.maketrans("年月日년월일", "-- ...")
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
# Only Signal writes this.
_SIGNAL = re.compile(r"\[\d{4}-\d{2}-\d{2}, \d{2}:\d{2}\] ")
_NO_LETTERS = re.compile(rf"[\s.·{MARKS}\u200c]")
# Of so many lines at its beginning one must be the first of a message.
_MAX_LEADING_LINES = 5
# Names in one chat; a file with more is none.
_MAX_NAMES = 20_000
_NOON = "中午"
_QUOTES = (("“", "”"), ("«", "»"))


class _Header(NamedTuple):
    """How a message begins: its date as three numbers, its time, and where its words begin."""

    date: tuple[str, str, str]
    mark: str
    hour: int
    minute: int
    second: int
    half: str
    end: int


def _header(line: str) -> _Header | None:
    """Return how a line begins a message; None: it goes on with the one before."""
    stripped = line.lstrip(MARKS)
    if not (stripped.startswith("[") or stripped[:1].isdecimal()):
        return None
    # Sign for sign, so that places stay what they are.
    plain = stripped[:120].translate(_PLAIN)
    if _YEAR.match(plain):
        plain = plain.translate(_OF_DATES)
    found = _HEADER.match(plain)
    if found is None:
        return None
    half = _NO_LETTERS.sub("", f"{found['before'] or ''}{found['after'] or ''}").lower()
    return _Header(
        (found["a"], found["b"], found["c"]),
        found["mark"].strip(),
        int(found["hour"]),
        int(found["minute"]),
        int(found["second"] or 0),
        half,
        len(line) - len(stripped) + found.end(),
    )


class _Survey(msgspec.Struct):
    """What the whole file tells: the order of its dates, and which names hold a colon."""

    order: DateOrder | None = None
    whole_names: frozenset[str] = frozenset()
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


class _Chat(Source):
    in_time = True

    def __init__(self, member: Member, zone: ZoneInfo, survey: _Survey) -> None:
        self._member = member
        self._zone = zone
        self._survey = survey
        self._name = _chat_name(member.path)

    def parts(self) -> Iterator[Part]:
        yield Part(self._member.path, self._found())

    def _found(self) -> Iterator[tuple[int, Found]]:
        begun, header, words, size = 0, None, [""], 0
        for number, line in text_lines(self._member):
            found = _header(line)
            if found is None:
                if header is not None:
                    size += len(line)
                    # Of one that is too long, as much as shows that it is.
                    if size <= MAX_CONTENT_BYTES + len(line):
                        words.append(line)
                elif line.strip():
                    yield number, InvalidInput("no message begins here, and none is before it")
                continue
            if header is not None:
                yield begun, self._event(header, "\n".join(words))
            begun, header, words, size = number, found, [line[found.end :]], 0
        if header is not None:
            yield begun, self._event(header, "\n".join(words))

    def _event(self, header: _Header, said: str) -> Found:
        try:
            occurred_at = zoned(_moment(header, self._survey.order), self._zone)
        except ValueError as error:
            return InvalidInput(str(error))
        sender, text = self._parted(said)
        chat: dict[str, Any] = {
            "platform": _PLATFORM,
            "peer_id": self._name,
            "occurred_at": occurred_at,
        }
        if sender is None:
            about = _told(text)
            return InboundEvent(
                kind="notice", sender_id=self._name or _PLATFORM, content=about, **chat
            )
        fields = _said(text)
        return InboundEvent(sender_id=sender, sender_name=sender, **fields, **chat)

    def _parted(self, said: str) -> tuple[str | None, str]:
        """Return who says something, and what; nobody: WhatsApp does."""
        first, _, _ = said.partition("\n")
        name, colon, _ = first.partition(": ")
        if any(name.count(begin) != name.count(end) for begin, end in _QUOTES) or (
            name.count('"') % 2
        ):
            # What a group was called, and not who says something.
            return None, said
        if colon and _name(name) in self._survey.whole_names:
            second = first[len(name) + 2 :].partition(": ")[0]
            name = f"{name}: {second}"
        elif not colon:
            # A message without words, whose blank was lost.
            name = first.rstrip().removesuffix(":")
            if name == first.rstrip() or _name(name) not in self._survey.senders:
                return None, said
            return _name(name), said[len(first) :]
        return _name(name), said[len(name) + 2 :]


def _said(text: str) -> dict[str, Any]:
    """Return what stands in a message: words, files by name, or what WhatsApp says of it."""
    own = text.startswith(tuple(MARKS))
    metadata: dict[str, Any] = {}
    if edited := EDITED.search(text):
        text = text[: edited.start()].rstrip(MARKS).rstrip()
        metadata["edited"] = True
    words = _clean(text)
    if DELETED.fullmatch(words):
        return {"kind": "notice", "content": words, "metadata": {"deleted": True}}
    file, words = _file(text, words, own)
    if file is not None:
        return {"content": words, "attachments": (file,), "metadata": metadata}
    if POLL.match(words):
        asked, options = _poll(VOTES.sub("", _told(words)))
        return {"content": asked, "attachments": (options,), "metadata": metadata}
    if words and (own or TOLD.fullmatch(words)):
        # A call, a change of number, a pin: nobody typed the mark before it.
        return {"kind": "notice", "content": _told(words), "metadata": metadata}
    if not words:
        return {"kind": "notice", "content": "(empty)", "metadata": metadata}
    return {"content": words, "metadata": metadata}


def _poll(words: str) -> tuple[str, Attachment]:
    """Return what a poll asks, and its options, which nobody says."""
    rows = words.split("\n")
    options = [found[1] for row in rows if (found := OPTION.fullmatch(row))]
    asked = "\n".join(row for row in rows if not OPTION.fullmatch(row))
    return asked, Attachment(type="poll", caption=" / ".join(options) or None)


def _file(text: str, words: str, own: bool) -> tuple[Attachment | None, str]:
    """Return the file that came with a message, and what was said to it.

    `own`: the message begins with a mark that only WhatsApp sets.
    """
    if found := ATTACHED.search(text):
        before = PAGES.search(text[: found.start()])
        if before:
            # "report.pdf • 3 pages": the name that it had, and nothing that anybody said.
            return Attachment(name=_clean(text[: before.start()]) or found[1]), ""
        return Attachment(name=found[1]), _clean(text[: found.start()])
    first, _, rest = text.partition("\n")
    if found := ATTACHED_ANDROID.fullmatch(first.rstrip()):
        return Attachment(name=_clean(found[1])), _clean(rest)
    if found := PLACE.fullmatch(words):
        return Attachment(type="location", url=found[1]), ""
    media = Attachment(type="media")
    told = _clean(first)
    if OMITTED.fullmatch(told) or told == "null" or (own and OWN_OMITTED.fullmatch(told)):
        return media, _clean(rest)
    *before_it, last = LAST_MARK.split(first)
    if before_it and not rest and (OMITTED.fullmatch(last) or OWN_OMITTED.fullmatch(last)):
        # What stands before it was said to the file, or is its name.
        said = _clean(before_it[0])
        pages = PAGES.search(said)
        if pages is None:
            return media, said
        return Attachment(name=_clean(said[: pages.start()])), ""
    return None, words


def _clean(text: str) -> str:
    """Return a text without the marks around it, and without those around each "@name"."""
    return ISOLATES.sub("", text).strip(MARKS + " \t\r\n\u202f\xa0")


def _told(text: str) -> str:
    """Return what WhatsApp wrote itself, without its marks."""
    return _clean("".join(sign for sign in text if sign not in MARKS))


def _name(written: str) -> str:
    """Return a name or number without marks; "~" stands before one that is in no address book."""
    plain = "".join(sign for sign in written if sign not in MARKS)
    plain = " ".join(plain.replace("\u202f", " ").replace("\xa0", " ").split())
    return plain.removeprefix("~").strip() or "?"


def _moment(header: _Header, order: DateOrder | None) -> datetime:
    """Return the local time of a message.

    Raises:
        ValueError: it is none; the message says why.
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
        raise ValueError(f"{'/'.join(header.date)} is in another calendar, or no date of a chat")
    hour = _hour(header)
    try:
        return datetime(number, int(month), int(day), hour, header.minute, header.second)
    except ValueError as error:
        written = header.mark.join(header.date)
        raise ValueError(
            f"{written} {header.hour}:{header.minute:02} is no time: {error}"
        ) from None


def _hour(header: _Header) -> int:
    hour, half = header.hour % 24, header.half
    if hour > 12 or not half or half in NEITHER:
        return hour
    if half in MORNING:
        return hour % 12
    if half in AFTERNOON:
        return hour % 12 + 12 if half != _NOON or hour < 11 else hour
    if hour == 0:
        return 0
    raise ValueError(f"which half of the day {half!r} is, is not known")


def _chat_name(path: str) -> str | None:
    """Return the chat's name, where the file or what it lies in is called as WhatsApp does."""
    *_, folder, file = ("", *re.split(r"[/\\]", path))
    for name in (file, folder):
        stem = re.sub(r"(?:\.(?:txt|zip|gz))+$", "", name, flags=re.IGNORECASE)
        if found := CHAT_NAME.fullmatch(_name(stem)):
            return found["name"]
    return None


def _surveyed(member: Member, options: Options) -> _Survey:
    """Read a whole file for what only all of it tells, and keep little of it.

    Raises:
        InvalidInput: nothing in it decides the order of its dates, and none was given.
    """
    dates = _Dates()
    first: Counter[str] = Counter()
    second: Counter[tuple[str, str]] = Counter()
    try:
        for _, line in text_lines(member):
            if (header := _header(line)) is None:
                continue
            dates.add(header)
            names = line[header.end :].split(": ", 2)
            if len(names) > 1 and len(first) < _MAX_NAMES:
                first[_name(names[0])] += 1
                if len(names) > 2 and len(second) < _MAX_NAMES:
                    second[_name(names[0]), names[1]] += 1
    except Damaged:
        # Reading it for good will say so.
        pass
    whole = frozenset(
        name for (name, _), count in second.items() if count >= 3 and count == first[name]
    )
    order = dates.order(member.path, options.date_order)
    return _Survey(order, whole, frozenset(first))


class _Dates:
    """Which orders the dates of a file may be in."""

    def __init__(self) -> None:
        self._impossible: Counter[DateOrder] = Counter()
        self._backwards: Counter[DateOrder] = Counter()
        self._last: dict[DateOrder, tuple[int, int, int]] = {}
        self._marks: set[str] = set()
        self._ambiguous = 0
        self._count = 0

    def add(self, header: _Header) -> None:
        """Note a date that does not begin with a year of four digits."""
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
            moment = (year, month, day)
            self._backwards[order] += moment < self._last.get(order, moment)
            self._last[order] = moment

    def order(self, path: str, given: DateOrder | None) -> DateOrder | None:
        """Return the order of a file's dates; where the file decides it, whatever was given.

        Two digits are never taken for a year that comes first unless that is said.

        Raises:
            InvalidInput: nothing decides it.
        """
        if not self._count:
            return None
        dmy, mdy = self._impossible["dmy"], self._impossible["mdy"]
        if given == "ymd" and not self._impossible["ymd"]:
            return "ymd"
        if dmy != mdy:
            # A line that somebody pasted may look like a message's first; few do.
            return "dmy" if dmy < mdy else "mdy"
        if given is not None:
            return given
        if not self._ambiguous or "." in self._marks or "-" in self._marks:
            # No country writes the month first with those.
            return "dmy"
        dmy, mdy = self._backwards["dmy"], self._backwards["mdy"]
        if bool(dmy) != bool(mdy):
            # A chat goes forward in time.
            return "mdy" if dmy else "dmy"
        raise InvalidInput(
            f"nothing in {path} says whether its dates have the day or the month first; say it "
            "with --date-order dmy or --date-order mdy (in the library date_order=)"
        )


def _read(member: Member, options: Options) -> Source:
    return _Chat(member, options.zone_for(member.path), _surveyed(member, options))


ADAPTER = Adapter("whatsapp", _is_chat, _read)
