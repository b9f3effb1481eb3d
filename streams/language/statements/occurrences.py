"""Occurrences: the days of what happens once, at a time that its statement does not name.

"I met Zhuoma this morning. We talked about prices." The second happens on the day that the message
named last, and without one on the day of the message. The reader judges what happens once.
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
#: From this probability on, in percent, a statement happens once.
_OCCURS = 28


def with_occurrence(statement: Statement, findings: Findings) -> Statement:
    """Return a statement with the days on which it happens, if it happens once and names none."""
    reading = findings.document.reading
    if statement.dates or reading is None:
        return statement
    read = reading.sentence_at(statement.start)
    if read is None or read.occurs < _OCCURS or recurs(statement, findings):
        return statement
    today = local_day(findings.document.at_ms, findings.document.utc_offset_minutes)
    named = _named_before(statement, findings)
    days = (today, today)
    if named is not None and not (named.first > today and _is_past(statement, reading)):
        days = (named.first, named.last)
    first, last = (date.fromordinal(day).isoformat() for day in days)
    return msgspec.structs.replace(statement, happens=(first, last))


def recurs(statement: Statement, findings: Findings) -> bool:
    """Whether a statement has a word of what happens again and again."""
    left, right = findings.token_range(statement.start, statement.end)
    return not _RECURRENT.isdisjoint(findings.tokens.lowers[left:right])


def _is_past(statement: Statement, reading: TextReading) -> bool:
    """Whether a statement has a verb in the past tense, and so is about no day to come."""
    return any(
        each.tag == "VBD" and statement.start <= each.start < statement.end
        for each in reading.words
    )


def _named_before(statement: Statement, findings: Findings) -> Found | None:
    """Return the last date before a statement in its paragraph."""
    text, starts = findings.text, findings.tokens.starts
    paragraph = text.rfind("\n\n", 0, statement.start)
    before = [each for each in findings.dates if paragraph < starts[each.left] < statement.start]
    return before[-1] if before else None
