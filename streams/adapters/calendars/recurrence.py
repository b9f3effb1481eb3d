"""Recurrence rules of calendars (RFC 5545, RRULE) in words."""

from __future__ import annotations

import re
from datetime import date

_UNITS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_WEEKDAYS = {
    "MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday",
    "SA": "Saturday", "SU": "Sunday",
}  # fmt: skip
_ORDINALS = {"1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth", "-1": "last"}
_DAY = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
# The number of a day or a month.
_NUMBER = re.compile(r"0?\d{1,2}")
_COUNT = re.compile(r"\d{1,9}")
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
_UNTIL = re.compile(r"(\d{4})(\d\d)(\d\d)")
_PUT_INTO_WORDS = frozenset(
    {"FREQ", "INTERVAL", "BYDAY", "BYMONTHDAY", "BYMONTH", "UNTIL", "COUNT", "WKST"}
)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def format_day(day: date, *, weekday: bool = True) -> str:
    """Return a day in words, such as "Tuesday 9 January 2024"."""
    words = f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
    return f"{list(_WEEKDAYS.values())[day.weekday()]} {words}" if weekday else words


def join_words(words: list[str]) -> str:
    """Return words as a list in a sentence: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def rule_in_words(rule: str) -> str:
    """Return a recurrence rule in words; a rule that is too complicated is quoted as it is."""
    parts = dict(part.upper().split("=", 1) for part in rule.split(";") if "=" in part)
    unit = _UNITS.get(parts.get("FREQ", ""))
    interval, days = parts.get("INTERVAL", "1"), _days_in_words(parts.get("BYDAY", ""))
    month_days = _month_days_in_words(parts.get("BYMONTHDAY", ""))
    months = _months_in_words(parts.get("BYMONTH", ""))
    counts = (interval, parts.get("COUNT", "1"))
    is_known = (
        not {*parts} - _PUT_INTO_WORDS
        and all(map(_COUNT.fullmatch, counts))
        and not (days and month_days)
    )
    if unit is None or days is None or month_days is None or months is None or not is_known:
        return f"repeated by the rule {rule}"
    words = f"every {unit}" if int(interval) <= 1 else f"every {int(interval)} {unit}s"
    if months:
        words += f" in {months}"
    if days or month_days:
        words += f" on {days or month_days}"
    if until := _UNTIL.match(parts.get("UNTIL", "")):
        try:
            last = date(*map(int, until.groups()))
        except ValueError:
            return f"repeated by the rule {rule}"
        words += f" until {format_day(last, weekday=False)}"
    elif "COUNT" in parts:
        words += f", {int(parts['COUNT'])} times"
    return words


def _month_days_in_words(given: str) -> str | None:
    """Return days of the month in words; None if one is malformed or counted from the end."""
    days = []
    for one in filter(None, given.split(",")):
        if one == "-1":
            days.append("the last day")
        elif _NUMBER.fullmatch(one) and 1 <= int(one) <= 31:
            number = int(one)
            ending = "th" if 11 <= number <= 13 else _ENDINGS.get(number % 10, "th")
            days.append(f"the {number}{ending}")
        else:
            return None
    return join_words(days)


def _months_in_words(given: str) -> str | None:
    """Return months in words; None if one is malformed."""
    numbers = list(filter(None, given.split(",")))
    if not all(_NUMBER.fullmatch(one) and 1 <= int(one) <= 12 for one in numbers):
        return None
    return join_words([_MONTHS[int(one) - 1] for one in numbers])


def _days_in_words(given: str) -> str | None:
    """Return days of the week in words; None if one is malformed or has a rare ordinal."""
    days = []
    for one in filter(None, given.split(",")):
        found = _DAY.fullmatch(one)
        if found is None or (found[1] and found[1].lstrip("+") not in _ORDINALS):
            return None
        ordinal = f"the {_ORDINALS[found[1].lstrip('+')]} " if found[1] else ""
        days.append(ordinal + _WEEKDAYS[found[2]])
    return join_words(days)
