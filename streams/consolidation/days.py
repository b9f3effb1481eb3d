"""Days as people write them: 7 May 2023, 19 to 25 Jun 2023, Jul 2023, 2022."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import UTC, date, datetime

from recollect.streams.consolidation.repeated_names import name_expression
from recollect.text.dates.resolved_dates import periods_in_numbers

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_ISO = re.compile(r"\((\d{4}-\d\d-\d\d)(?: to (\d{4}-\d\d-\d\d))?\)")

#: A span of a calendar's entry: (2025-01-18 09:00:00 to 2025-01-18 09:30:00).
_SPAN = re.compile(
    r"\((\d{4}-\d\d-\d\d) (\d\d:\d\d)(?::\d\d)? to (\d{4}-\d\d-\d\d) (\d\d:\d\d)(?::\d\d)?\)"
)
#: The times between which a calendar's entry has whole days.
_WHOLE_DAYS = ("00:00", "23:59")
#: A day or a month as people write it, before what it was resolved to: 4 May (2026-05-04).
_WRITTEN_DAYS = re.compile(
    r"(?<!\w)(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?(?: of)? )?"
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|"
    r"Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
    r"(?: (?P<day_after>\d{1,2})(?:st|nd|rd|th)?)?(?P<year>,? \d{4})? "
    r"\((?P<first>\d{4}-\d\d-\d\d)(?: to (?P<last>\d{4}-\d\d-\d\d))?\)",
    re.IGNORECASE,
)
_MONTH = f"(?:{'|'.join(_MONTHS)})"
#: Days or a month as `named_days` writes them, in brackets.
_DAYS_AT_END = re.compile(
    rf"\((?:\d{{1,2}} (?:{_MONTH} (?:\d{{4}} )?)?to )?(?:\d{{1,2}} )?{_MONTH} \d{{4}}\)$"
)
_ENDS_WITH_DAYS = re.compile(r"\([^()]*\b\d{4}\)$")

#: Days written out: January 5th, 2026; 5 January 2026.
_WRITTEN_OUT = re.compile(
    rf"\b(?:{_MONTH}[a-z]*\.? \d{{1,2}}(?:st|nd|rd|th)?,? |"
    rf"\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{_MONTH}[a-z]*\.?,? )\d{{4}}\b"
)
#: Words for a past day that is not resolved.
_UNRESOLVED = re.compile(
    r"\b(?:ago|yesterday|recently|lately|the other day|last (?:night|week|weekend|month|year))\b"
    r"(?! \()",
    re.IGNORECASE,
)

_UNIT = (
    r"(?:night|day|week|weekend|month|year|spring|summer|autumn|fall|winter|"
    r"(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?)"
)
#: Words that need a relative word after them.
_NOT_AFTER = "".join(
    rf"(?<!\b{word} )"
    for word in ("for", "of", "from", "since", "until", "by", "to", "later", "earlier")
)
#: Relative words ("yesterday") before the resolved day; said on another day, they mean another.
_RELATIVE = re.compile(
    rf"(?<![\w-]){_NOT_AFTER}(?:just |only |about )?(?:yesterday|today|tonight|tomorrow|"
    r"this (?:morning|afternoon|evening)|"
    rf"(?:last|next|this|this past|this coming|the other) {_UNIT}|"
    rf"(?:a few|a couple of|(?!half )\w+) (?:days?|weeks?|weekends?|months?|years?) ago)"
    rf"(?: (?:morning|afternoon|evening|night))? (?=\(\d{{4}}-)",
    re.IGNORECASE,
)


#: A resolved day with the day written out after it: (2026-02-27) (February 27th).
_SPELT_AGAIN = re.compile(rf"(\(\d{{4}}-\d\d-\d\d\)) \({_MONTH}[a-z]* \d{{1,2}}(?:st|nd|rd|th)?\)")


def day_of(at: int) -> str:
    """Return the day of a time (unix ms) in UTC, as YYYY-MM-DD."""
    return datetime.fromtimestamp(at / 1_000, UTC).date().isoformat()


def named_days(first: date, last: date) -> str:
    """Return the days from `first` to `last`, both included, in words."""
    if first == last:
        return f"{first.day} {_month(first)}"
    starts, ends = first.day == 1, last.day == monthrange(last.year, last.month)[1]
    if starts and ends and first.year == last.year:
        if (first.month, last.month) == (1, 12):
            return str(first.year)
        if first.month == last.month:
            return _month(first)
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day} to {last.day} {_month(last)}"
    if first.year == last.year:
        return f"{first.day} {_MONTHS[first.month - 1]} to {last.day} {_month(last)}"
    return f"{first.day} {_month(first)} to {last.day} {_month(last)}"


def with_named_days(text: str) -> str:
    """Return a text with its resolved dates, such as (2023-05-07), in words.

    >>> with_named_days("Dinner (2025-01-18 19:00:00 to 2025-01-18 21:30:00)")
    'Dinner (18 Jan 2025, 19:00 to 21:30)'
    """
    return _SPAN.sub(_named_span, _ISO.sub(_named, text))


def with_years(text: str) -> str:
    """Return a text in which a resolved day or month that repeats the words before it is a year.

    >>> with_years("Ada moves on 4 May (2026-05-04), or in June (2026-06-01 to 2026-06-30)")
    'Ada moves on 4 May 2026, or in June 2026'
    """
    return _WRITTEN_DAYS.sub(_year_after, text)


def with_short_days(text: str, days: tuple[str, str] | None, name: str) -> str:
    """Return a text without words such as "last week" before the days that they mean.

    Days that open the text before `name` or a comma are left out too, if they are the `days` that
    it is about.

    >>> with_short_days("Ada swam yesterday (2023-05-07).", None, "Ada")
    'Ada swam (2023-05-07).'
    >>> with_short_days("Yesterday (2023-05-07), Ada swam.", ("2023-05-07", "2023-05-07"), "Ada")
    'Ada swam.'
    """
    if "(" not in text:
        return text
    text = periods_in_numbers(text)
    short = _without_repeated_days(_RELATIVE.sub("", _SPELT_AGAIN.sub(r"\1", text)))
    opening = _ISO.match(short)
    if not opening:
        return short
    after = short[opening.end() :]
    rest = after.removeprefix(",").lstrip()
    is_own = days is not None and (opening[1], opening[2] or opening[1]) == days
    is_named = name and re.match(rf"{name_expression(name)}(?:['’]s)? ", rest)
    if is_own and (is_named or after.startswith(",")):
        return rest
    # A sentence does not begin with days in brackets.
    start = text.index(opening[0])
    return text[:start] + _without_repeated_days(_RELATIVE.sub("", text[start:]))


def _without_repeated_days(text: str) -> str:
    """Return a text in which the same days stand in brackets only once."""
    seen: set[str] = set()
    parts, at = [], 0
    for found in _ISO.finditer(text):
        if found[0] in seen:
            parts.append(text[at : found.start()].rstrip())
            at = found.end()
        seen.add(found[0])
    return "".join([*parts, text[at:]])


def quoted(text: str) -> str:
    """Return a text in quotation marks; days in brackets that end it come after them.

    >>> quoted("the train leaves tomorrow (8 May 2023)")
    '“the train leaves tomorrow” (8 May 2023)'
    """
    days = _DAYS_AT_END.search(text)
    words = text[: days.start()].rstrip() if days else text
    return f"“{words}” {days[0]}" if days and words else f"“{text}”"


def with_remarks(text: str, remarks: Sequence[str]) -> str:
    """Append remarks to a text in brackets; reuse the brackets of days that end the text.

    >>> with_remarks("Ada swam", ["said 7 May 2023"])
    'Ada swam (said 7 May 2023)'
    >>> with_remarks("moved to Oslo (7 May 2023)", ["ended since"])
    'moved to Oslo (7 May 2023, ended since)'
    """
    if not remarks:
        return text
    added = ", ".join(remarks)
    return f"{text[:-1]}, {added})" if _ENDS_WITH_DAYS.search(text) else f"{text} ({added})"


def names_days(text: str) -> bool:
    """Return whether a text has dates with a year: resolved, or written out."""
    return any(each.search(periods_in_numbers(text)) for each in (_ISO, _SPAN, _WRITTEN_OUT))


def is_about_another_day(text: str) -> bool:
    """Return whether a text has words for a past day that are not resolved, such as "recently"."""
    return _UNRESOLVED.search(text) is not None


def _named(found: re.Match[str]) -> str:
    try:
        first = date.fromisoformat(found[1])
        last = date.fromisoformat(found[2]) if found[2] else first
    except ValueError:
        return found[0]
    return f"({named_days(first, last)})"


def _year_after(found: re.Match[str]) -> str:
    try:
        first = date.fromisoformat(found["first"])
        last = date.fromisoformat(found["last"] or found["first"])
    except ValueError:
        return found[0]
    day = found["day"] or found["day_after"]
    days = (int(day),) * 2 if day else (1, monthrange(first.year, first.month)[1])
    is_repeated = (
        not (found["day"] and found["day_after"])
        and _MONTHS[first.month - 1] == found["month"][:3].capitalize()
        and (first.day, last.day) == days
        and (first.year, first.month) == (last.year, last.month)
        and (not found["year"] or int(found["year"][-4:]) == first.year)
    )
    if not is_repeated:
        return found[0]
    written = found[0][: found.start("first") - found.start() - 2]
    if found["year"]:
        return written
    return f"{written}, {first.year}" if found["day_after"] else f"{written} {first.year}"


def _named_span(found: re.Match[str]) -> str:
    try:
        first, last = date.fromisoformat(found[1]), date.fromisoformat(found[3])
    except ValueError:
        return found[0]
    if (found[2], found[4]) == _WHOLE_DAYS:
        return f"({named_days(first, last)})"
    if first == last:
        return f"({named_days(first, first)}, {found[2]} to {found[4]})"
    starts, ends = named_days(first, first), named_days(last, last)
    return f"({starts} {found[2]} to {ends} {found[4]})"


def _month(day: date) -> str:
    return f"{_MONTHS[day.month - 1]} {day.year}"
