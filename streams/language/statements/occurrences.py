"""Occurrences: days of a statement that differ from the days that it names.

"I met Zhuoma this morning. We talked about prices." The second happens on the day that the message
named last, or on the day of the message if it named none. The reader judges what happens once.

Some words before a date make it a period:

- "until Friday": from the day of the message to Friday
- "since May": from May to the day of the message
- "from May": from the first day of May

Of two dates, one within the other, the narrower one counts: "in June, on the 14th".
"""

from __future__ import annotations

from datetime import date

import msgspec

from recollect.streams.language.grammar.analysis import Statement
from recollect.streams.language.grammar.text_reading import TextReading
from recollect.streams.language.statements.document import Findings
from recollect.text.dates.found_dates import Found, local_day
from recollect.text.lexicon import word_set

#: Words of what happens again and again.
_RECURRENT = word_set(
    """every weekly daily monthly yearly annually hourly fortnightly always usually mondays tuesdays
    wednesdays thursdays fridays saturdays sundays weekends weekdays mornings evenings nights"""
)
#: Words before the last day of a period, before the first day of one that lasts until now, and
#: before the first day of one without an end.
_UNTIL, _SINCE, _FROM = word_set("until till til thru through"), "since", "from"
#: Words that may stand between one of these and the date.
_BETWEEN = word_set("the about around roughly approximately at least on in")
_VERBS = word_set("is was are were has had will would")
_YEAR_DIGITS = 4
#: The minimum probability (percent) that a statement happens once.
_OCCURS = 28


def with_occurrence(statement: Statement, findings: Findings) -> Statement:
    """Return a statement with the days of its period, or of what happens once and names none."""
    today = local_day(findings.document.at_ms, findings.document.utc_offset_minutes)
    if statement.dates:
        return _with_period(statement, findings, today)
    reading = findings.document.reading
    if reading is None:
        return statement
    read = reading.sentence_at(statement.start)
    if read is None or read.occurs < _OCCURS or recurs(statement, findings):
        return statement
    named = _named_before(statement, findings)
    days = (today, today)
    if named is not None and not (named.first > today and _is_past(statement, reading)):
        days = (named.first, named.last)
    return _happening(statement, *days)


def _happening(statement: Statement, first: int, last: int) -> Statement:
    days = (date.fromordinal(first).isoformat(), date.fromordinal(last).isoformat())
    return msgspec.structs.replace(statement, happens=days)


def _with_period(statement: Statement, findings: Findings, today: int) -> Statement:
    """Return a statement with the days of its period, if a word before one of its dates gives it.

    `today`: the ordinal of the day of the message.
    """
    dates = findings.dates_in(statement.start, statement.end)
    if len(dates) < len(statement.dates):
        return statement
    lowers = findings.tokens.lowers
    narrow = [each for each in dates if not any(_narrows(one, each, lowers) for one in dates)]
    periods = [_period(each, findings, today, alone=len(dates) == 1) for each in narrow]
    if periods == [(each.first, each.last) for each in dates]:
        return statement
    return _happening(
        statement, min(first for first, _ in periods), max(last for _, last in periods)
    )


def _narrows(date: Found, other: Found, lowers: list[str]) -> bool:
    """Whether a date gives the days of another more exactly.

    One that itself gives days, such as "from 1 to 9 June", is as exact as it is meant.
    """
    within = other.first <= date.first and date.last <= other.last
    shorter = date.last - date.first < other.last - other.first
    words = lowers[other.left : other.right]
    gives_days = other.said == "weekday" or any(
        word[0].isdigit() and len(word) != _YEAR_DIGITS for word in words
    )
    return within and shorter and not gives_days


def _period(found: Found, findings: Findings, today: int, *, alone: bool) -> tuple[int, int]:
    """Return the first and the last day of the period that a date and the word before it mean."""
    lowers = findings.tokens.lowers
    before = opening_of(lowers, found)
    if found.is_time:
        return found.first, found.last
    if before in _UNTIL and today <= found.last:
        return today if alone else found.first, found.last
    after = lowers[found.right] if found.right < len(lowers) else ""
    # "Since Monday was a holiday" gives a reason.
    if before == _SINCE and found.first <= today and after not in _VERBS:
        return found.first, today
    # "From 3 to 9 May" is one date.
    if before == _FROM and found.right - found.left == 1 and found.first > today:
        return found.first, found.first
    return found.first, found.last


def opening_of(lowers: list[str], found: Found) -> str:
    """Return the word that opens a date, which may be part of it: "until about"."""
    if lowers[found.left] in _UNTIL:
        return lowers[found.left]
    at = found.left - 1
    while at > 0 and lowers[at] in _BETWEEN:
        at -= 1
    return lowers[at] if at >= 0 else ""


def recurs(statement: Statement, findings: Findings) -> bool:
    """Whether a statement has a word of what happens again and again."""
    left, right = findings.token_range(statement.start, statement.end)
    return not _RECURRENT.isdisjoint(findings.tokens.lowers[left:right])


def _is_past(statement: Statement, reading: TextReading) -> bool:
    """Whether a statement has a verb in the past tense, and so is about no day to come."""
    words = reading.words_in(statement.start, statement.end)
    return any(each.tag == "VBD" for each in words)


def _named_before(statement: Statement, findings: Findings) -> Found | None:
    """Return the last date before a statement in its paragraph."""
    text, starts = findings.text, findings.tokens.starts
    paragraph = text.rfind("\n\n", 0, statement.start)
    before = [each for each in findings.dates if paragraph < starts[each.left] < statement.start]
    return before[-1] if before else None
