"""Dates with a number or a month: "3 May", "May 2026", "on the 15th", "2026-05-07"."""

from __future__ import annotations

from datetime import date

from recollect.text.dates.calendar_days import day_of, year_days
from recollect.text.dates.calendar_days import month as month_days
from recollect.text.dates.clause_tense import choose_or_nearest, direction_of, is_rescheduled
from recollect.text.dates.date_tokens import (
    DIGITS,
    day_number,
    joined,
    word_after,
    word_at,
    word_before,
    year_number,
)
from recollect.text.dates.found_dates import Found
from recollect.text.lexicon import MONTHS, ORDINALS, WEEKDAYS, word_set
from recollect.text.tokenizer import Tokens, bare

UNITS = {
    name: unit
    for unit, names in {
        "hour": "minute minutes min mins hour hours hr hrs",
        "day": "day days",
        "week": "week weeks wk wks",
        "month": "month months",
        "year": "year years yr yrs",
    }.items()
    for name in names.split()
}
RANGE_WORDS = frozenset({"to", "through", "thru", "till"})
_MONTH_OPENERS = word_set(
    """in since until till during through around early late mid last this next of by before
    after"""
)
_YEAR_OPENERS = word_set(
    "in since until till during of by from before after around circa summer spring autumn fall "
    "winter early late mid"
)
#: Month names that are also words or given names: alone they need an opener, and the first two
#: also a capital.
_UNSURE_MONTHS = frozenset({"may", "march", "april", "june", "august", "jan", "mar", "sep", "dec"})
DAY_OPENERS = frozenset({"on", "by", "until", "till", "since", "this", "last", "next"})
AFTER_DAY_OF_MONTH = word_set(
    "at and with for but so we i because when if to or as then it he she they will was is not "
    "instead from"
)
_DAY_OF_MONTH_OPENERS = frozenset({"on", "by", "until", "till", "since", "from", "to"})
#: After "11 to 22 may" one of these shows that the month is meant.
_AFTER_LOWER_MAY = word_set("at and with for but so we i because when if to or as then in from now")


def month_by_tense(month: int, today: int, direction: int) -> tuple[int, int]:
    """Return the days of the month that the tense means, or of the nearest."""
    here = date.fromordinal(today)
    spans = [
        month_days(year * 12 + month - 1) for year in range(max(here.year - 1, 1), here.year + 2)
    ]
    return choose_or_nearest(spans, today, direction)


def days_with_number(around: int, day: int) -> list[int]:
    """The days with that number, from three months before `around` to three after."""
    here = date.fromordinal(around)
    days = []
    for month in range(here.year * 12 + here.month - 4, here.year * 12 + here.month + 3):
        ordinal = day_of(month // 12, month % 12 + 1, day) if 12 <= month < 120_000 else None
        if ordinal is not None:
            days.append(ordinal)
    return days


def month_alone(tokens: Tokens, index: int, today: int) -> Found | None:
    """May 3, May 3-5, May 3rd, 2026, May 2026, in May, mid-June."""
    word = bare(tokens.lowers[index])
    name = word.removeprefix("mid-")
    month = MONTHS[name]
    if joined(tokens, index, "."):
        following = word_at(tokens, index + 1)
        year = year_number(following)
        if year is not None:
            return Found(index, index + 2, *month_days(year * 12 + month - 1), False)
        if following == "of" and joined(tokens, index + 1):
            year = year_number(word_at(tokens, index + 2))
            if year is not None:
                return Found(index, index + 3, *month_days(year * 12 + month - 1), False)
        if name not in ("may", "march") or tokens.words[index][0].isupper():
            dated = _month_then_day(tokens, index, month, today)
            if dated is not None:
                return dated
    before = word_before(tokens, index)
    if before == "of" and (day := ORDINALS.get(word_before(tokens, index - 1), 0)):
        left = index - 3 if word_before(tokens, index - 2) == "the" else index - 2
        return _yearless(tokens, left, index + 1, month, day, day, today)
    if before == "in" and word_before(tokens, index - 1) in WEEKDAYS:
        return None  # "That Friday in March" is one day of it.
    if word.startswith("mid-"):
        before = "mid"
    if before not in _MONTH_OPENERS:
        return None
    if name in ("may", "march") and tokens.words[index].islower():
        if before not in ("in", "since", "until", "of"):
            return None
    elif name in _UNSURE_MONTHS and before in ("by", "before", "after", "of", "around", "this"):
        return None
    span = month_by_tense(month, today, direction_of(tokens, index, index + 1))
    return Found(index, index + 1, *span, True)


def _month_then_day(tokens: Tokens, index: int, month: int, today: int) -> Found | None:
    following = word_at(tokens, index + 1)
    first_text, _, last_text = following.partition("-")
    first = day_number(first_text)
    if first is None:
        return None
    last = day_number(last_text) if last_text else first
    if last is None or last < first:
        return None
    right = index + 2
    year = year_number(word_at(tokens, right)) if joined(tokens, right - 1, ",") else None
    if year is not None:
        return _dated(index, right + 1, year, month, first, last)
    return _yearless(tokens, index, right, month, first, last, today)


def _dated(left: int, right: int, year: int, month: int, first: int, last: int) -> Found | None:
    first_day = day_of(year, month, first)
    last_day = day_of(year, month, last)
    if first_day is None or last_day is None:
        return None
    return Found(left, right, first_day, last_day, False)


def _yearless(
    tokens: Tokens, left: int, right: int, month: int, first: int, last: int, today: int
) -> Found | None:
    here = date.fromordinal(today).year
    # Eight years either way reach the next 29 February, whatever the century.
    reach = 8 if (month, last) == (2, 29) else 1
    spans = []
    for year in range(max(here - reach, 1), min(here + reach, 9999) + 1):
        first_day, last_day = day_of(year, month, first), day_of(year, month, last)
        if first_day is not None and last_day is not None:
            spans.append((first_day, last_day))
    if not spans:
        return None
    span = choose_or_nearest(spans, today, direction_of(tokens, left, right))
    return Found(left, right, *span, True)


def at_number(tokens: Tokens, index: int, today: int) -> Found | None:
    """Return the date that the number at an index begins, or is part of, if any."""
    lower = word_at(tokens, index)
    if not lower or lower[0] not in DIGITS:
        return None
    if len(lower) >= 8 and (whole := whole_date(lower)) is not None:
        return Found(index, index + 1, whole, whole, False)
    year = year_number(lower)
    if year is not None:
        if word_before(tokens, index) in _YEAR_OPENERS and word_after(tokens, index) not in UNITS:
            return Found(index, index + 1, *year_days(year), False)
        return None
    dated = day_and_month(tokens, index, today)
    if dated is not None:
        return dated
    day = day_number(lower)
    return None if day is None else _day_of_month(tokens, index, today, lower, day)


def day_and_month(tokens: Tokens, index: int, today: int) -> Found | None:
    """3 May, 3rd of May 1990, 3-5 May, 3 to 5 May."""
    lower = word_at(tokens, index)
    if not lower or lower[0] not in DIGITS:
        return None
    first_text, _, last_text = lower.partition("-")
    first = day_number(first_text)
    last = day_number(last_text) if last_text else first
    end = index
    if not last_text and (later := _range_end(tokens, index)) is not None:
        end, last = later
    if first is None or last is None or last < first:
        return None
    named = end + 1
    if word_after(tokens, end) == "of":
        named += 1
    name = bare(word_at(tokens, named))
    if name not in MONTHS or not joined(tokens, named - 1, "."):
        return None
    numbered = named == end + 2 and not lower.isdecimal()  # "the 9th of march"
    if name in ("may", "march", "mar") and tokens.words[named].islower() and not numbered:
        after = word_after(tokens, named)
        before = word_before(tokens, index)
        opened = before in DAY_OPENERS | {"from", "to", "but"} | frozenset(WEEKDAYS)
        if not opened or (after and after not in _AFTER_LOWER_MAY):
            return None
    right = named + 1
    year = year_number(word_at(tokens, right)) if joined(tokens, named, ",.") else None
    if year is not None:
        return _dated(index, right + 1, year, MONTHS[name], first, last)
    return _yearless(tokens, index, right, MONTHS[name], first, last, today)


def _range_end(tokens: Tokens, index: int) -> tuple[int, int] | None:
    """The token and day of the end of "11 to 22 May" or "11–22 May"."""
    end = index + 2 if word_after(tokens, index) in RANGE_WORDS else index + 1
    if end == index + 1 and (end >= len(tokens.words) or tokens.gap(index).strip() != "–"):
        return None
    day = day_number(word_at(tokens, end)) if word_at(tokens, end) else None
    return None if day is None or word_at(tokens, end)[0] not in DIGITS else (end, day)


def _day_of_month(tokens: Tokens, index: int, today: int, lower: str, day: int) -> Found | None:
    """On the 15th, where nothing follows that it could count."""
    if lower.isdecimal() or word_before(tokens, index) != "the":
        return None
    opener = word_before(tokens, index - 1)
    if opener not in _DAY_OF_MONTH_OPENERS:
        return None
    if opener in ("from", "to") and not is_rescheduled(tokens, index - 1):
        return None
    after = word_after(tokens, index)
    if after and after not in AFTER_DAY_OF_MONTH:
        return None
    spans = [(ordinal, ordinal) for ordinal in days_with_number(today, day)]
    if not spans:
        return None
    span = choose_or_nearest(spans, today, direction_of(tokens, index - 1, index + 1))
    return Found(index - 1, index + 1, *span, True)


def whole_date(lower: str) -> int | None:
    """2026-05-07, 2026/05/07, 2026-05-07t14:00, 07.05.2026; 5/25/2026 if one part is > 12."""
    if lower[10:11] in ("", "t") and (lower[4:5], lower[7:8]) in (("-", "-"), ("/", "/")):
        parts = lower[:4], lower[5:7], lower[8:10]
        if all(part.isdecimal() for part in parts):
            return day_of(int(parts[0]), int(parts[1]), int(parts[2]))
        return None
    for separator in "./":
        pieces = lower.split(separator)
        if len(pieces) == 3 and all(
            (piece.isdecimal() and len(piece) == width) or (len(piece) == 1 and piece.isdecimal())
            for piece, width in zip(pieces, (2, 2, 4), strict=True)
        ):
            one, two, year = (int(piece) for piece in pieces)
            if separator == "." or one > 12 or one == two:
                return day_of(year, two, one)
            # 5/7/2026 is one day in Boston and another in Berlin: only one reading may be valid.
            return day_of(year, one, two) if two > 12 else None
    return None
