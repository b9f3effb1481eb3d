"""IRC logs of clients and bouncers: one file per channel, or per channel and day.

Logs have no ids, and most have no time zone. The day comes from lines that state it, or else from
the file's name. The channel comes from the name of the file or of its folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from recollect.schemas.errors import InvalidInput
from recollect.schemas.inbound import InboundEvent
from recollect.streams.adapters.adapter import (
    BYTE_ORDER_MARK,
    Adapter,
    ExportSource,
    ParseResult,
    SingleFileSource,
)
from recollect.streams.adapters.chats.chat_recognition import RecognisedChat
from recollect.streams.adapters.import_options import ChatPlace, LocalClock, Options
from recollect.streams.adapters.input.input_files import InputEntry, decoded_path
from recollect.streams.adapters.input.text_lines import decode_text, text_lines

_PLATFORM = "irc"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = "|".join(_MONTHS)
# The time of a line: alone, after an ISO date, or after a month and day.
_STAMP = re.compile(
    rf"""\[?(?:(?P<iso>\d{{4}}-\d\d-\d\d)[T ]|(?P<month>{_MONTH})\ +(?P<day>\d\d?)\ )?
    (?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?:\.\d+)?
    (?P<zone>Z|[+-]\d\d:?\d\d)?\]?(?=\s|<)""",
    re.VERBOSE | re.IGNORECASE,
)
# Lines that state the date of the lines after them.
_DAY_LINE = re.compile(
    rf"""(?:---\ (?:log\ opened|day\ changed)|\**\ ?(?:begin\ logging\ at)
    |session\ (?:start|time)(?:\ \([^)]*\))?:)\s+(?:[a-z]{{3}},?\s+)?
    (?P<month>{_MONTH})[a-z]*\s+(?P<day>\d\d?),?\s+(?:\d\d:\d\d(?::\d\d)?\s+)?(?P<year>\d{{4}})""",
    re.VERBOSE | re.IGNORECASE,
)
_LOG_MARKER = re.compile(
    r"--- |\*\*\*\* (?:BEGIN|ENDING)|Session (?:Start|Close|Time|Ident)", re.IGNORECASE
)
_MESSAGE = re.compile(r"<(?P<nick>[^<>\s][^<>]{0,63}|[ @+%&~!][^<>\s]{1,63})>(?:\s(?P<text>.*)|$)")
_ACTION = re.compile(r"(?:-?\*-?|\u2022)\s+(?P<nick>[^\s*]\S{0,63})\s(?P<text>.+)")
_TABBED = re.compile(r"(?P<nick>[^\t]{0,64})\t(?P<text>.*)")
_SYSTEM = re.compile(r"(?:===|-!-|\*\*\*|-->|<--|--|==|<->|\*)\s+(?P<text>\S.*)")
_SYSTEM_WITHOUT_PREFIX = re.compile(
    r"(?P<text>(?:\S+ \([^)]*\) (?:joined|left)|\S+ (?:kicked from|is now known as|sets mode)\b"
    r"|\S+ changed the topic\b|Topic changed on|Nick change:"
    r"|(?:Join|Part|Quit|Nick|Mode|Topic|Kick)\t).*)"
)
# Notices of services and servers: "-NickServ- This nick is registered."
_NOTICE = re.compile(
    r"-(?P<nick>[^\s-][^\s:(]{0,63}?)(?::[^\s-]+|\([^\s()]+\))?-\s+(?P<text>\S.*)"
    r"|!(?P<server_text>\S+ .*)"
)
# Konversation: the day in separate brackets, before the time.
_BRACKETED_DAY = re.compile(
    rf"\[\w{{3,12}},? (\d\d?) ({_MONTH})[a-z]* (\d{{4}})\] \[", re.IGNORECASE
)
# System text of clients, as opposed to actions of people such as "=== ada waves".
_SYSTEM_TEXT = re.compile(
    r"""(?:\S+\s+(?:[\[(][^\])]*[\])]\s+)?(?:has\ |have\ )?
    (?:joined|left|quit|parted|joins|kicked|was\ kicked|is\ now\ known
       |(?:sets|set|changed)\ (?:the\ )?(?:mode|topic)|changes\ topic|has\ changed)\b
    |(?:joins|parts|quits|topic|mode|names|users|irssi|channel|you|now\ talking|nick\ change
       |home\ page|disconnected|connecting|connected|server
       |netsplit|total|keepalive|buffer|playback)\b
    |mode/|\#|there\ are\ |retrieving)""",
    re.VERBOSE | re.IGNORECASE,
)
_RENAMED = re.compile(
    r"(?P<old>\S+)\s+is\s+now\s+known\s+as\s+(?P<new>\S+)"
    r"|Nick change:\s+(?P<was>\S+)\s+->\s+(?P<now>\S+)"
    r"|(?P<changed>\S+)\s+changed\s+nick\s+to\s+(?P<into>\S+)",
    re.IGNORECASE,
)
_JOINED_OR_LEFT = re.compile(
    r"(?:joins|parts|quits):\s+(?P<listed>\S+)|(?P<nick>\S+)\s+[\[(].*\b(?:joined|left|quit)\b",
    re.IGNORECASE,
)
_COLOURS = re.compile(
    r"\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[0-9a-f]{6})?|[\x02\x0f\x11\x16\x1d\x1e\x1f]",
    re.IGNORECASE,
)
# Prefixes of operators before a nick, and suffixes of people who are away.
_PREFIX = " @+%&~!"
_AWAY = re.compile(
    r"(?:[|\[({_-]+(?:away|brb|gone|zzz|sleep|sleeping|busy|work)[\])}]*"
    r"|[|\[({_-]*afk[\])}]*|[_`^]+)$"
)
_BRIDGE = re.compile(
    r"bridge|relay|discord|matrix|telegram|slack|mattermost|xmpp|teleirc|rocketchat", re.I
)
_BRIDGED = re.compile(r"[<\[](?P<nick>[^<>\[\]]{1,64})[>\]]:?\s+(?P<text>\S.*)")
_DAY_IN_NAME = re.compile(
    r"(?<!\d)((?:19|20)\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)"
)
_CHANNEL = re.compile(r"[#&][^\s,/\\]+")
_CLIENT = re.compile(r"[.](?:irssi|weechat|znc|hexchat|xchat|mirc)$", re.IGNORECASE)
_NO_NAME = frozenset({"", "raw", "log", "logs", "txt", "irc", "irclogs", "weechatlog", "ascii"})
_MAX_SAMPLED_LINES = 60


class _Line(NamedTuple):
    """A line of a log; `by_person`: a person wrote it, not a client or a server."""

    nick: str
    text: str
    by_person: bool
    action: bool = False


class _Log:
    """Parses a log line by line; earlier lines determine the day and the people of later ones."""

    def __init__(self, entry: InputEntry, timezone: ZoneInfo | None, channel: str | None) -> None:
        self._clock = None if timezone is None else LocalClock(timezone)
        self._day = _day_in_name(entry)
        self._channel = channel
        self._last: datetime | None = None
        # Nick -> the person's first nick, so that a person stays the same until they leave.
        self._people: dict[str, str] = {}

    def parse(self, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, ParseResult]]:
        for number, raw in lines:
            line = _normalise(raw)
            if not line.strip():
                continue
            try:
                event = self._event(line)
            except (InvalidInput, ValueError, OverflowError) as error:
                yield number, InvalidInput(str(error))
                continue
            if event is not None:
                yield number, event

    def _event(self, line: str) -> InboundEvent | None:
        if (day := _day_line(line)) is not None:
            self._day, self._last = day, None
            return None
        if _LOG_MARKER.match(line):
            return None
        stamp = _STAMP.match(line)
        at = self._time_of(stamp) if stamp else None
        parsed = _parse_line(line[stamp.end() :] if stamp else line, timed=stamp is not None)
        if parsed is None or (stamp is None and parsed.by_person and not parsed.action):
            raise InvalidInput("not a line of a known IRC log format")
        if at is None:
            at = self._last_time()
        return self._to_event(parsed, at)

    def _time_of(self, stamp: re.Match[str]) -> str:
        clock = time(int(stamp["hour"]) % 24, int(stamp["minute"]), int(stamp["second"] or 0))
        if stamp["iso"]:
            self._day = date.fromisoformat(stamp["iso"])
            self._last = None
        elif stamp["month"] and self._day is not None:
            month = _MONTHS.index(stamp["month"].lower()) + 1
            # Only the log's beginning names the year. After December, the next year begins.
            year = self._day.year + (month < self._day.month - 6)
            self._day, self._last = date(year, month, int(stamp["day"])), None
        if self._day is None:
            raise InvalidInput("this line has no date, and neither does any line before it")
        at = datetime.combine(self._day, clock)
        if self._last is not None and self._last - at > timedelta(hours=12):
            self._day += timedelta(days=1)
            at += timedelta(days=1)
        self._last = at
        if stamp["zone"]:
            return at.isoformat() + stamp["zone"]
        return self._local(at)

    def _last_time(self) -> str:
        if self._last is None and self._day is not None:
            self._last = datetime.combine(self._day, time())
        if self._last is None:
            raise InvalidInput("this line has no time, and neither does any line before it")
        return self._local(self._last)

    def _local(self, at: datetime) -> str:
        if self._clock is None:
            raise InvalidInput("this line has a time without a zone")
        return self._clock.zoned(at)

    def _to_event(self, parsed: _Line, at: str) -> InboundEvent:
        nick, text = parsed.nick, parsed.text
        metadata: dict[str, str] = {}
        bridged = _BRIDGED.match(text) if parsed.by_person and _BRIDGE.search(nick) else None
        if bridged is not None:
            metadata["bridge"] = nick
            nick, text = bridged["nick"].strip(), bridged["text"]
        if not parsed.by_person:
            self._track_nick(text)
        if parsed.action:
            text = f"{nick} {text}"
        name = nick or self._channel or _PLATFORM
        return InboundEvent(
            platform=_PLATFORM,
            sender_id=self._person_of(name),
            sender_name=name,
            occurred_at=at,
            content=text,
            kind="message" if parsed.by_person else "notice",
            peer_id=self._channel,
            peer_kind="channel" if self._channel and self._channel[0] in "#&" else None,
            metadata=metadata,
        )

    def _person_of(self, nick: str) -> str:
        folded = nick.lower()
        return self._people.get(folded) or _AWAY.sub("", folded) or folded

    def _track_nick(self, text: str) -> None:
        """Record changes of nicks, and forget the nick of a person who leaves."""
        if renamed := _RENAMED.match(text):
            old = renamed["old"] or renamed["was"] or renamed["changed"]
            new = renamed["new"] or renamed["now"] or renamed["into"]
            person = self._person_of(old)
            self._people.pop(old.lower(), None)
            self._people[new.lower()] = person
        elif gone := _JOINED_OR_LEFT.match(text):
            self._people.pop((gone["listed"] or gone["nick"]).lower(), None)


def _parse_line(line: str, *, timed: bool) -> _Line | None:
    """Parse a line without its time; None if it is not a log line."""
    rest = line.lstrip(" ")
    if line.startswith("\t"):
        # WeeChat: a nick or a symbol, then the text, separated by a tab.
        tabbed = _TABBED.match(line[1:])
        if tabbed is None:
            return None
        symbol, text = tabbed["nick"].strip(), tabbed["text"]
        if symbol in ("-->", "<--", "--", "=!=", ""):
            return _system_line(text) if text.strip() else None
        if symbol == "*":
            nick, _, text = text.partition(" ")
            return _Line(nick.strip(_PREFIX), text, by_person=True, action=True)
        return _Line(symbol.strip("<>" + _PREFIX), text, by_person=True)
    if message := _MESSAGE.match(rest):
        nick, text = message["nick"].strip(_PREFIX), message["text"] or ""
        if nick == "***":
            return _system_line(text)
        return _Line(nick, text.lstrip("\t"), by_person=True)
    if (
        timed
        and (action := _ACTION.match(rest))
        and not _SYSTEM_TEXT.match(rest.lstrip("*\u2022 \t"))
    ):
        return _Line(action["nick"].strip(_PREFIX), action["text"], by_person=True, action=True)
    if system := _SYSTEM.match(rest):
        text = system["text"]
        nick, _, action_text = text.partition(" ")
        if rest.startswith("===") and action_text and not _SYSTEM_TEXT.match(text):
            return _Line(nick, action_text, by_person=True, action=True)
        return _system_line(text)
    if timed and (bare := _SYSTEM_WITHOUT_PREFIX.match(rest)):
        return _system_line(bare["text"])
    if timed and (noticed := _NOTICE.match(rest)):
        text = noticed["text"] or noticed["server_text"]
        return _Line((noticed["nick"] or "").strip(_PREFIX), text, by_person=False)
    return None


def _normalise(raw: str) -> str:
    """Return a line without colours, and with Konversation's day in ISO form."""
    line = _COLOURS.sub("", raw).rstrip()
    if bracketed_day := _BRACKETED_DAY.match(line):
        day, month, year = bracketed_day.groups()
        number = _MONTHS.index(month.lower()) + 1
        return f"[{year}-{number:02}-{int(day):02} {line[bracketed_day.end() :]}"
    return line


def _system_line(text: str) -> _Line:
    words = text.split()
    nick = words[1] if len(words) > 1 and words[0].endswith(":") else words[0] if words else ""
    names_nick = re.match(
        r"[^\s/]+\s+[\[(]|\S+ (?:is now|has|was|changed nick)\b|(?:Joins|Parts|Quits):", text
    )
    return _Line(nick.strip(_PREFIX) if names_nick else "", text, by_person=False)


def _day_line(line: str) -> date | None:
    if (match := _DAY_LINE.match(line)) is None:
        return None
    month = _MONTHS.index(match["month"].lower()) + 1
    return date(int(match["year"]), month, int(match["day"]))


def _day_in_name(entry: InputEntry) -> date | None:
    if (match := _DAY_IN_NAME.search(entry.name)) is None:
        return None
    try:
        return date(*map(int, match.groups()))
    except ValueError:
        return None


def _channel_of(entry: InputEntry) -> str | None:
    """Return the channel from the name of a file or its folder."""
    *folders, file = ("", *decoded_path(entry.path).split("/"))
    stem = re.sub(r"(?:\.(?:txt|log|weechatlog|gz|raw|ascii))+$", "", file)
    stem = _DAY_IN_NAME.sub("", stem).strip("-_. ")
    for name in (stem, *folders[-1:]):
        if match := _CHANNEL.search(name):
            return _CLIENT.sub("", match[0].partition("..")[0]).rstrip("-_.").lower()
    words = [word for word in re.split(r"[^\w#&+-]+|_", stem.lower()) if word not in _NO_NAME]
    words = [word for word in words if not word.isdigit()]
    return ".".join(words) or None


def _recognises(start: bytes, name: str) -> bool:
    start = start.removeprefix(BYTE_ORDER_MARK)
    rows = [_normalise(decode_text(row)) for row in start.split(b"\n")[:-1]]
    rows = [row for row in rows or [decode_text(start)] if row.strip()][:_MAX_SAMPLED_LINES]
    recognised = parsed = 0
    for row in rows:
        stamp = _STAMP.match(row)
        read = _parse_line(row[stamp.end() :], timed=True) if stamp else None
        parsed += read is not None
        recognised += read is not None or bool(
            _SYSTEM.match(row) or _LOG_MARKER.match(row) or _DAY_LINE.match(row)
        )
    return parsed > 0 and recognised * 4 >= len(rows) * 3


def _open(entry: InputEntry, options: Options) -> ExportSource:
    start = entry.start().removeprefix(BYTE_ORDER_MARK)
    rows = [_normalise(decode_text(row)) for row in start.split(b"\n")]
    stamps = [stamp for row in rows if (stamp := _STAMP.match(row))]
    zone = None
    if not stamps or not all(stamp["zone"] for stamp in stamps):
        zone = options.zone_for(entry.path)
    dated = _day_in_name(entry) or any(map(_DAY_LINE.match, rows)) or any(s["iso"] for s in stamps)
    if not dated:
        raise InvalidInput(
            f"{entry.path} is an IRC log without a date; put the date into its name, as in "
            "'#channel_2004-11-15.log'"
        )

    def open_in(opened: InputEntry, place: ChatPlace) -> ExportSource:
        return SingleFileSource(
            opened, lambda one: _Log(one, zone, place.peer_id).parse(text_lines(one))
        )

    return RecognisedChat(
        entry, ChatPlace(_PLATFORM, _channel_of(entry)), open_in, options.find_places
    )


ADAPTER = Adapter(_PLATFORM, _recognises, _open)
