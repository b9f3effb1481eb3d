"""Values in a text: days, times, places, and numbers with their units."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from datetime import date

from msgspec import Struct

from recollect.text.dates.dates_in_text import find_dates
from recollect.text.dates.found_dates import as_reference, local_day
from recollect.text.lexicon import MONTHS, WEEKDAYS
from recollect.text.tokenizer import tokenise

_TIME = re.compile(
    r"(?<![\d.:])(?P<hour>[01]?\d|2[0-3])[:h](?P<minute>[0-5]\d)(?![\d:])"
    r"(?: ?(?P<half>[ap])\.?m\b)?",
    re.IGNORECASE,
)
_HOURS = (
    *("one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_ANY_HOUR = rf"(?P<hour>{'|'.join(_HOURS)}|1[0-2]|[1-9])"
#: "9 am", "half past six", "at seven": an hour, with or without a.m. or p.m.
_HOUR = (
    re.compile(rf"(?<![\w.:]){_ANY_HOUR} ?(?P<half>[ap])\.?m\b", re.IGNORECASE),
    re.compile(rf"\b(?P<part>half|(?:a )?quarter) past {_ANY_HOUR}\b", re.IGNORECASE),
    re.compile(
        rf"\b(?:at|until|till|around|instead of|rather than) {_ANY_HOUR}(?: o['’]?clock)?"
        r"(?=\W*\Z|[.,;!?)](?!\d)| (?:in the|on|now|instead|sharp|tomorrow|today|tonight|this|with|"
        r"for|and|not|because|so|as|already|rather|after all)\b)",
        re.IGNORECASE,
    ),
)
_ORDINAL = re.compile(
    r"\b(?P<day>[12]?\d|3[01])(?:st|nd|rd|th)\b(?! (?:floor|time|birthday|grade|century|street))",
    re.IGNORECASE,
)
_WEEKLY = re.compile(r"\b(?P<day>(?:mon|tues|wednes|thurs|fri|satur|sun)day)s\b", re.IGNORECASE)
_NUMBERED = re.compile(
    r"\b(?P<what>room|apartment|apt|gate|platform|floor|flight|bus|line|page|chapter|table)\.? "
    r"(?P<number>\d+[a-z]?)\b",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"(?<![\d.,])(?P<number>\d+(?:[.,]\d+)*) ?(?P<unit>kg|g|km|cm|lb|dollars|euros|pounds|%|"
    r"percent|minutes|hours|people|guests|seats)(?!\w)",
    re.IGNORECASE,
)
#: Nouns for things that are counted.
_COUNT = re.compile(
    r"(?<![\d.,:])(?P<number>\d+) (?P<unit>(?!years|months|weeks|days|times|minutes|hours)"
    r"[a-z]{3,}s)\b(?! old| ago)"
)
_CODE = re.compile(
    r"\b(?P<what>code|pin|password|combination)\b(?: (?:of|for|to) [\w'’ ]{2,20}?)?(?: is|:)"
    r"(?: now)? (?P<number>\w*\d\w*)\b",
    re.IGNORECASE,
)
_OFTEN = re.compile(r"\b(?P<often>once|twice|thrice|(?:three|four|five|six) times)\b", re.I)
_MONTH = re.compile(
    rf"\b(?:in|to|until|till|for|by|since|from|is|it['’]s) (?P<month>{'|'.join(MONTHS)})\b(?! ?\d)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d./:-])(?P<year>(?:19|20)\d\d)(?![\d/:-]|\.\d)")
#: Nouns for venues.
_PLACE = re.compile(
    r"\b(?P<place>(?:(?!the|an?|our|my|at|in|to|of|on|from|and|this|that|new)[a-z]+ )?"
    r"(?:hall|library|church|office|kitchen|school|studio|gym|park|caf[eé]|restaurant|theat(?:re|er)|"
    r"hotel|bar|club|museum|basement|garden|pool|lab|cinema|chapel|barn|boathouse|canteen))\b",
    re.IGNORECASE,
)
_WHERE = re.compile(r"(?:\b(?:at|in|to|from|not|,) |, )(?:the |our |a )?\Z", re.IGNORECASE)
#: Kinds of values for which dates must be found, or excluded.
_DATED = frozenset({"day", "year"})


class Value(Struct, frozen=True):
    """A day, a time, a numbered thing or an amount; `text` as it was written.

    The key of a day is its date, or just "-12" for "the 12th"; the key of an hour without a.m. or
    p.m. begins with "~".
    """

    kind: str
    key: str
    text: str

    def is_as(self, other: Value) -> bool:
        """Whether two values may be the same."""
        if self.kind != other.kind:
            return False
        if self.kind == "time" and "~" in (self.key[0], other.key[0]):
            return _on_the_dial(self.key) == _on_the_dial(other.key)
        for one, two in ((self, other), (other, self)):
            # "Not Friday but Thursday": any date that is a Friday.
            if one.kind == "day" and one.text.lower() in WEEKDAYS and two.key[0] != "-":
                return one.key == two.key or _weekday(one.key) == _weekday(two.key)
        short, long = sorted((self.key, other.key), key=len)
        return short == long or (short.startswith("-") and long.endswith(short))


def _on_the_dial(time: str) -> tuple[int, str]:
    hour, _, minute = time.removeprefix("~").partition(":")
    return int(hour) % 12, minute


def _times(text: str) -> list[tuple[Value, int]]:
    """Return the times of day in a text, with their positions."""
    found: list[tuple[Value, int]] = []
    for match in _TIME.finditer(text):
        hour = _of_half(int(match["hour"]), match["half"]) if match["half"] else int(match["hour"])
        found.append((Value("time", f"{hour:02}:{match['minute']}", match.group()), match.start()))
    for pattern in _HOUR:
        for match in pattern.finditer(text):
            said = match.groupdict()
            name, part = said["hour"].lower(), (said.get("part") or "").lower()
            hour = _HOURS.index(name) + 1 if name in _HOURS else int(name)
            minute = "30" if part == "half" else "15" if part else "00"
            half = said.get("half")
            key = f"{_of_half(hour, half):02}" if half else f"~{hour:02}"
            begin = match.start("hour")
            written = text[begin : match.end()] if half else said["hour"]
            found.append((Value("time", f"{key}:{minute}", written), begin))
    return found


def _of_half(hour: int, half: str) -> int:
    return hour % 12 + 12 * (half.lower() == "p")


def _weekday(day: str) -> int:
    return date.fromisoformat(day).weekday()


def is_among(value: Value, values: Iterable[Value]) -> bool:
    """Whether a value may be one of these."""
    return any(value.is_as(other) for other in values)


def values_in(
    text: str, at_ms: int, utc_offset: int, kinds: Set[str] = _DATED
) -> list[tuple[Value, int]]:
    """Return the values in a text, with their positions.

    Dates are searched only if a day or a year is among the wanted `kinds`.
    """
    found: list[tuple[Value, int]] = []
    if not _DATED.isdisjoint(kinds):
        tokens = tokenise(text)
        for day in find_dates(tokens, local_day(at_ms, utc_offset), []):
            reference = as_reference(tokens, day)
            if reference.first == reference.last:
                found.append((Value("day", reference.first, reference.text), reference.start))
    days = [(place, place + len(value.text)) for value, place in found]
    for match in _ORDINAL.finditer(text):
        if not any(start < match.end() and match.start() < end for start, end in days):
            value = Value("day", f"-{int(match['day']):02}", match.group())
            found.append((value, match.start()))
    for match in _MONTH.finditer(text):
        found.append((Value("month", match["month"].lower(), match["month"]), match.start("month")))
    for match in _YEAR.finditer(text):
        if not any(start <= match.start() < end for start, end in days):
            found.append((Value("year", match["year"], match["year"]), match.start()))
    found += _times(text)
    for match in _PLACE.finditer(text):
        if _WHERE.search(text, max(0, match.start() - 12), match.start()):
            found.append((Value("place", match["place"].lower(), match.group()), match.start()))
    for match in _WEEKLY.finditer(text):
        found.append((Value("weekly", match["day"].lower(), match.group()), match.start()))
    for match in _NUMBERED.finditer(text):
        kind = f"numbered {match['what'].lower().replace('apt', 'apartment')}"
        found.append((Value(kind, match["number"].lower(), match.group()), match.start()))
    for match in _AMOUNT.finditer(text):
        kind = f"amount {match['unit'].lower()}"
        found.append((Value(kind, match["number"].replace(",", "."), match.group()), match.start()))
    for match in _COUNT.finditer(text):
        if _AMOUNT.match(text, match.start()) is None:
            value = Value(f"count {match['unit']}", match["number"], match.group())
            found.append((value, match.start()))
    for match in _CODE.finditer(text):
        value = Value("numbered code", match["number"].lower(), match["number"])
        found.append((value, match.start("number")))
    for match in _OFTEN.finditer(text):
        found.append((Value("often", match["often"].lower(), match.group()), match.start()))
    return found
