"""Headers of WhatsApp's messages: their dates and times, as phones write them in many countries.

Old Android phones wrote the month's name, and no year in messages of the current year. Text that is
copied out of WhatsApp Web has headers too, with the time first.
"""

# ruff: noqa: RUF001

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple

from recollect.schemas.errors import InvalidInput
from recollect.streams.adapters.chats.month_names import month_number
from recollect.streams.adapters.chats.whatsapp_phrases import (
    AFTERNOON,
    MARKS,
    MORNING,
    NO_DAY_HALF,
)
from recollect.streams.adapters.import_options import DATE_ORDERS, DateOrder

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
_DATE = (
    rf"(?P<a>\d{{1,4}}){_BIDI}(?P<mark>[./-]|\. ){_BIDI}(?P<b>\d{{1,2}}){_BIDI}(?:[./-]|\. ){_BIDI}"
    r"(?P<c>\d{1,4})"
)
_DATE_AND_TIME = (
    rf"{_BIDI}{_DATE}"
    # In Bulgarian and Ukrainian, the word "year", abbreviated, may follow the year; with the
    # Buddhist calendar, the era.
    rf"\.?(?:\s?(?:[гр]\.|BE\b))?{_BIDI},?{_BIDI}\s+"
    r"(?:(?:klo|kl\.?|um|à|at|às|a las|ore|o)\s+)?"
    rf"(?P<before>[^\W\d_]{{1,12}}\s?)?{_BIDI}"
    # "21:25:07", "21.25", and in Canada's French "21 h 25 min 07 s".
    r"(?P<hour>\d{1,2})(?:[:.]|\s?h\s?)(?P<minute>\d{2})"
    r"(?:(?:[:.]|\s?min\s?)(?P<second>\d{2})(?:\s?s\b)?)?"
    r"\s?(?P<after>[^\d\[\]:–-]{0,16}?)\s?"
)
_HEADER = re.compile(rf"(?P<open>\[)?{_DATE_AND_TIME}(?(open)\]\s?|\s?{_BIDI}[-–]\s)")
# "20/06/16, 13:59:59: ", and without seconds only before the sender: "6/20/16, 1:59 PM: Ada: ".
_COLON_HEADER = re.compile(rf"{_DATE_AND_TIME}(?(second):\s|:\s(?=[^:\n]{{1,60}}:\s))")
_CLOCK = (
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
    r"\s?(?P<half>[ap]\.?\s?m\b\.?)?"
)
# "12 Apr", "Apr 12, 2014", "12. de abril de 2014", and without a year "12/4".
_WRITTEN_DATE = (
    r"(?:(?P<day>\d{1,2})\.?\s(?:de\s)?(?P<month>[^\W\d_]{3,12})\b\.?(?:,?\s(?:de\s)?(?P<year>\d{4}))?"
    r"|(?P<named>[^\W\d_]{3,12})\b\.?\s(?P<on>\d{1,2})(?:,?\s(?P<of>\d{4}))?"
    r"|(?P<a>\d{1,2})(?P<mark>[./-])(?P<b>\d{1,2})\.?)"
)
_WRITTEN_HEADERS = (
    re.compile(rf"{_BIDI}{_WRITTEN_DATE},?\s{_CLOCK}\s?[-–]\s", re.IGNORECASE),
    re.compile(rf"{_BIDI}{_CLOCK},?\s{_WRITTEN_DATE}\s?[-–]\s", re.IGNORECASE),
)
# "[15:05, 25/06/2020] ", "[3:05 PM, 6/25/2020] ".
_WEB_HEADER = re.compile(
    rf"\[{_BIDI}(?P<before>[^\W\d_]{{1,12}}\s?)?{_BIDI}"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
    rf"\s?(?P<after>[^\d\[\]:,–-]{{0,16}}?)\s?{_BIDI},\s?{_BIDI}{_DATE}\.?{_BIDI}\]\s?"
)
_NO_LETTERS = re.compile(rf"[\s.·{MARKS}\u200c]")
_NOON = "中午"
#: WhatsApp's first year.
FIRST_YEAR = 2009
# AM/PM markers of languages that write the year of a date first.
_YEAR_FIRST_DAY_HALVES = frozenset(
    {"오전", "오후", "午前", "午後", "上午", "下午", "凌晨", "早上", "清晨", "中午", "晚上", "傍晚"}
)
# The year 2009 in the Buddhist era without its century, and what makes such a year a Gregorian one.
_FIRST_BUDDHIST_YEAR, _BUDDHIST_CENTURY = 52, 1957
# A date that is earlier than the one before it by more days is in the next year.
_MAX_BACKWARD_DAYS = 2
# In place of a year that is not written.
_LEAP_YEAR = 2012
# An order is wrong if it makes the intervals between messages this many times longer.
_LEAP = 20


#: How a chat writes its headers: usually; ending in a colon, as iPhones wrote them until 2018; or
#: with the month's name or without a year, as old Android phones wrote them.
HeaderStyle = Literal["usual", "colon", "written"]


class Header(NamedTuple):
    """The header of a message: its date as three numbers, its time, and where its text begins.

    A date with the month's name is in the order year, month, day. A year that is not written is an
    empty text, at the beginning or, if the month is a number, at the end. `apple`: as iPhones and
    WhatsApp Web write it: in square brackets, or followed by a colon.
    """

    apple: bool
    date: tuple[str, str, str]
    mark: str
    hour: int
    minute: int
    second: int
    day_half: str
    end: int

    @property
    def has_year(self) -> bool:
        """Whether its year is written."""
        return all(self.date)


def header_of(line: str, style: HeaderStyle = "usual") -> Header | None:
    """Return the header at the start of a line, or None if the line continues a message.

    Lines of logs may look like headers that end in a colon, and lines of any message like those
    without a year, so the caller must know that the file is such a chat. In a chat with "written"
    headers, those of the usual style occur too.
    """
    stripped = line.lstrip(MARKS)
    if style == "written" and (written := _written_header(stripped, len(line) - len(stripped))):
        return written
    if not (stripped.startswith("[") or stripped[:1].isdecimal()):
        return None
    # Each character becomes one character, so that offsets stay valid.
    plain = stripped[:120].translate(_PLAIN)
    if _YEAR.match(plain):
        plain = plain.translate(_CJK_DATE_MARKS)
    if style == "colon":
        match = _COLON_HEADER.match(plain)
    else:
        match = _HEADER.match(plain) or _WEB_HEADER.match(plain)
    if match is None:
        return None
    day_half = _NO_LETTERS.sub("", f"{match['before'] or ''}{match['after'] or ''}").lower()
    return Header(
        style == "colon" or plain.startswith("["),
        (match["a"], match["b"], match["c"]),
        match["mark"].strip(),
        int(match["hour"]),
        int(match["minute"]),
        int(match["second"] or 0),
        day_half,
        len(line) - len(stripped) + match.end(),
    )


def _written_header(stripped: str, offset: int) -> Header | None:
    """Return the header with the month's name or without a year at the start of a text, or None."""
    plain = stripped[:120].translate(_PLAIN)
    match = next((found for one in _WRITTEN_HEADERS if (found := one.match(plain))), None)
    if match is None:
        return None
    if match["a"]:
        written = (match["a"], match["b"], "")
    else:
        month = month_number(match["month"] or match["named"])
        if month is None:
            return None
        written = (match["year"] or match["of"] or "", str(month), match["day"] or match["on"])
    return Header(
        False,
        written,
        match["mark"] or "-",
        int(match["hour"]),
        int(match["minute"]),
        int(match["second"] or 0),
        _NO_LETTERS.sub("", match["half"] or "").lower(),
        offset + match.end(),
    )


class Years:
    """The years of the messages of a chat, which are in order of time.

    `first`: the year of the first message, if it is not written.
    """

    def __init__(self, first: int | None = None) -> None:
        self._year = first or FIRST_YEAR
        # The day of the last message, as a day of a leap year.
        self._day: date | None = None
        #: How many years later the last message is than the first.
        self.passed = 0

    def dated(self, header: Header, order: DateOrder | None) -> Header:
        """Return a header with its year."""
        a, b, c = header.date
        year = ""
        if header.has_year:
            year, month, day = _year_month_day(header, order)
        else:
            month, day = (b, c) if not a else (b, a) if order == "dmy" else (a, b)
        try:
            on: date | None = date(_LEAP_YEAR, int(month), int(day))
        except ValueError:
            # The message will be rejected.
            on = self._day
        if year:
            self._year = _full_year(int(year))
        elif on and self._day and (self._day - on).days > _MAX_BACKWARD_DAYS:
            self._year += 1
            self.passed += 1
        self._day = on
        return header if year else header._replace(date=(str(self._year), month, day))

    def first_year(self, last_day: date) -> int:
        """Return the year of the first message, if the last one is no later than a day."""
        latest = last_day + timedelta(days=1)
        is_later = self._day is not None and self._day > latest.replace(year=_LEAP_YEAR)
        return latest.year - is_later - self.passed


class DateOrders:
    """The possible orders of a file's dates.

    An order is impossible for a date if it gives an invalid day, a day before WhatsApp existed, or
    a day in the future.
    """

    def __init__(self) -> None:
        self._impossible: Counter[DateOrder] = Counter()
        self._backward_steps: Counter[DateOrder] = Counter()
        # The last dates, those with a year and those without one.
        self._last: dict[tuple[DateOrder, bool], date] = {}
        # The total number of days between successive messages.
        self._distance: Counter[DateOrder] = Counter()
        self._marks: set[str] = set()
        self._year_first = False
        self._ambiguous = 0
        self._count = 0
        self._sample = ""
        self._end = date.today() + timedelta(days=2)

    def add(self, header: Header) -> None:
        """Count the date of a header, unless its order is known."""
        if len(header.date[0]) != 1 and len(header.date[0]) != 2:
            return
        self._count += 1
        a, b, c = (int(one or _LEAP_YEAR) for one in header.date)
        self._marks.add(header.mark)
        self._ambiguous += a != b
        if not self._sample and a != b:
            self._sample = header.mark.join(header.date)
        self._year_first |= header.day_half in _YEAR_FIRST_DAY_HALVES and c <= 31
        for order in DATE_ORDERS:
            # Where the year comes first, the month does if there is no year.
            year_first = (c, b, a) if header.has_year else (b, a, c)
            day, month, year = {"dmy": (a, b, c), "mdy": (b, a, c), "ymd": year_first}[order]
            try:
                on = date(_full_year(year), month, day)
            except ValueError:
                on = None
            if on is None or not (on.year >= FIRST_YEAR and on < self._end):
                self._impossible[order] += 1
                continue
            last = self._last.get((order, header.has_year), on)
            self._backward_steps[order] += on < last
            self._distance[order] += abs((on - last).days)
            self._last[order, header.has_year] = on

    def order(self, path: str, given_order: DateOrder | None) -> DateOrder | None:
        """Return the order of a file's dates; the file's own evidence overrides `given_order`.

        Raises:
            InvalidInput: the order is ambiguous, or the given one is impossible.
        """
        if not self._count:
            return None
        # A few pasted lines may look like headers, so the fewest impossible dates count.
        fewest = min(self._impossible[order] for order in DATE_ORDERS)
        possible = [order for order in DATE_ORDERS if self._impossible[order] == fewest]
        if given_order in possible:
            return given_order
        if possible == ["ymd"] or (self._year_first and "ymd" in possible):
            return "ymd"
        candidates = [order for order in possible if order != "ymd"]
        if "ymd" in possible and self._is_year_first(candidates):
            return "ymd"
        if len(candidates) == 1:
            return candidates[0]
        if given_order is not None:
            raise InvalidInput(
                f"the dates of {path} cannot be in the order {given_order}: read that way, "
                f"{self._sample} is no date, or is before {FIRST_YEAR}; leave date_order out, "
                f"or give {' or '.join(candidates)}"
            )
        if not self._ambiguous or "." in self._marks or "-" in self._marks:
            # No country writes the month first with these separators.
            return "dmy"
        dmy, mdy = self._backward_steps["dmy"], self._backward_steps["mdy"]
        if bool(dmy) != bool(mdy):
            # A chat is chronological.
            return "mdy" if dmy else "dmy"
        raise InvalidInput(
            f"{path} does not show whether the day or the month comes first in its dates; give "
            "date_order dmy or mdy"
        )

    def _is_year_first(self, others: Sequence[DateOrder]) -> bool:
        """Return whether the year comes first, if the other orders are possible too.

        This is rare, so the evidence must be clear: with every other order, times run backwards or
        leap over years from one message to the next.
        """
        distance = self._distance["ymd"]
        return not self._backward_steps["ymd"] and all(
            self._backward_steps[order] or self._distance[order] > _LEAP * max(distance, 1)
            for order in others
        )


def _full_year(number: int) -> int:
    """Return a year with its century, in the Gregorian calendar."""
    if number < 100:
        return number + (_BUDDHIST_CENTURY if number >= _FIRST_BUDDHIST_YEAR else 2000)
    # The Buddhist era.
    return number - 543 if number > 2400 else number


def _year_month_day(header: Header, order: DateOrder | None) -> tuple[str, str, str]:
    """Return the numbers of a date that has a year, the year first."""
    a, b, c = header.date
    if len(a) > 2 or order == "ymd":
        return a, b, c
    return (c, a, b) if order == "mdy" else (c, b, a)


def local_time(header: Header, order: DateOrder | None) -> datetime:
    """Return the local time of a message.

    Raises:
        ValueError: the date or the time is invalid.
    """
    year, month, day = _year_month_day(header, order)
    number = _full_year(int(year))
    if number < 1970:
        raise ValueError(f"{'/'.join(header.date)} is in another calendar, or not a date")
    if number < FIRST_YEAR or number > date.today().year + 1:
        raise ValueError(
            f"{header.mark.join(header.date)} is read as the year {number}, but WhatsApp has no "
            "messages from that year"
        )
    hour = _hour(header)
    try:
        return datetime(number, int(month), int(day), hour, header.minute, header.second)
    except ValueError as error:
        written = header.mark.join(header.date)
        raise ValueError(
            f"{written} {header.hour}:{header.minute:02} is not a valid time: {error}"
        ) from None


def _hour(header: Header) -> int:
    hour, day_half = header.hour % 24, header.day_half
    if hour > 12 or not day_half or day_half in NO_DAY_HALF:
        return hour
    if day_half in MORNING:
        return hour % 12
    if day_half in AFTERNOON:
        return hour % 12 + 12 if day_half != _NOON or hour < 11 else hour
    if hour == 0:
        return 0
    raise ValueError(f"{day_half!r} means neither a.m. nor p.m.")
