"""Beginnings: the day from which a statement holds, if that day is still to come.

"I start at Globex on 1 September", said in July, ends no earlier employer before that day; nor does
"I leave Initech in May". A date is a beginning with a verb of change or of the future ("I'm moving
to Oslo in May"), or after words such as "from". "I live in Oslo until May" holds today.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import msgspec

from recollect.schemas.attributes import MASK, is_single_valued
from recollect.streams.language.attributes.modality import STATES, verb_group
from recollect.streams.language.grammar.analysis import Ending, Statement
from recollect.streams.language.grammar.text_reading import ReadWord, TextReading
from recollect.streams.language.grammar.verbs import base_form
from recollect.streams.language.statements.document import Findings
from recollect.streams.language.statements.occurrences import opening_of
from recollect.text.dates.found_dates import Found, local_day
from recollect.text.lexicon import word_set

#: Attributes whose values hold from birth, or are days themselves.
_TIMELESS = frozenset({"birthday", "age", "gender", f"{MASK}'s date", f"{MASK}'s name"})
#: Words before the day on which a state begins, and before its last day.
_BEGINNING = word_set("from starting beginning effective")
_LAST = word_set("until till til thru through by before to")
#: Tags of a verb that, beside a day to come, says what happens then: "I start", "I'm moving".
_PRESENT = frozenset({"VBP", "VBZ", "VB", "VBG"})
#: Verbs that say what is so, in their base forms.
_NO_CHANGES = STATES | {"cost"}
#: The maximum number of words between "is" and the day that it gives: "is on the".
_BEFORE_DAY = 2


def with_beginning(statement: Statement, findings: Findings) -> Statement:
    """Return a statement with the day from which it holds, if it is a later day."""
    document = findings.document
    if document.reading is None or not statement.dates:
        return statement
    today = local_day(document.at_ms, document.utc_offset_minutes)
    dates = findings.dates_in(statement.start, statement.end)
    # A statement that names a day up to today, too, is about that one.
    if not dates or any(each.first <= today for each in dates):
        return statement
    day = min(dates, key=lambda each: each.first)
    if day.is_time or not _begins(day, statement, findings, document.reading):
        return statement
    return msgspec.structs.replace(statement, begins=date.fromordinal(day.first).isoformat())


def _begins(day: Found, statement: Statement, findings: Findings, reading: TextReading) -> bool:
    """Whether what a statement says holds, or ends, from a day on."""
    claim, text, lowers = statement.claim, findings.text, findings.tokens.lowers
    opening = opening_of(lowers, day)
    if opening in _LAST:
        return False
    starts = opening in _BEGINNING or lowers[max(0, day.left - 2) : day.left] == ["as", "of"]
    words = reading.words_in(statement.start, statement.end)
    if claim is not None and _has_beginning(claim.attribute):
        at = text.find(claim.value, statement.start, statement.end)
        before = [each for each in words if each.end <= at]
        changes = _changes(before, text, _last_verb(before), of_thing=MASK in claim.attribute)
        return starts or changes
    if statement.ending is None or not _ends_state(statement.ending):
        return False
    verb = _first_verb(words)
    return starts or _is_on(day, words, verb, findings) or _changes(words, text, verb)


def _has_beginning(attribute: str) -> bool:
    return is_single_valued(attribute) and attribute not in _TIMELESS


def _changes(
    words: Sequence[ReadWord], text: str, verb: int | None, *, of_thing: bool = False
) -> bool:
    """Whether a verb is one of change, or in the future.

    `of_thing`: what a thing will be at some time, such as its place, is known of that time already.
    """
    if verb is None:
        return False
    first, _ = verb_group(words, verb)
    tags = [each.tag for each in words[first : verb + 1]]
    if "MD" in tags and not of_thing:
        return True
    is_state = base_form(text[words[verb].start : words[verb].end].lower()) in _NO_CHANGES
    return not is_state and tags[-1] in _PRESENT


def _is_on(day: Found, words: Sequence[ReadWord], verb: int | None, findings: Findings) -> bool:
    """Whether a sentence says on which day something is: "my last day is on 3 May"."""
    if verb is None:
        return False
    lowers, (_, after) = findings.tokens.lowers, findings.token_range(0, words[verb].end)
    is_near = after <= day.left <= after + _BEFORE_DAY
    return is_near and base_form(lowers[after - 1]) == "be"


def _ends_state(ending: Ending) -> bool:
    """Whether what a statement ends is, most probably, something of a person's life.

    The date of something that is called off is no day on which anything ends.
    """
    likely = max(ending.attributes, key=lambda each: each[1], default=("", 0))
    return bool(likely[0]) and MASK not in likely[0]


def _first_verb(words: Sequence[ReadWord]) -> int | None:
    """Return the place of the last verb of the first group of verbs."""
    first = next((place for place, each in enumerate(words) if _is_verb(each)), None)
    if first is None:
        return None
    _, end = verb_group(words, first)
    while end < len(words) and (_is_verb(words[end]) or words[end].tag == "TO"):
        end += 1
    return max(place for place in range(first, end) if _is_verb(words[place]))


def _last_verb(words: Sequence[ReadWord]) -> int | None:
    """Return the place of the last verb."""
    return max((place for place, each in enumerate(words) if _is_verb(each)), default=None)


def _is_verb(word: ReadWord) -> bool:
    return word.tag.startswith("VB")
