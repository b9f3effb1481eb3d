"""Weekdays that are part of a name and denote no day: "Focus Friday", "the Black Friday Sale team".

Inside a sentence, a capitalised word and the weekday after it are a name if they alliterate, or if
a determiner precedes them: "our Film Friday". People's names are excluded: "I see Tom Tuesday"
means a day. A few combinations are names in any context.
"""

from __future__ import annotations

import re

from recollect.text.dates.date_tokens import joined, word_at, word_before
from recollect.text.lexicon import (
    FUNCTION_WORDS,
    HONORIFICS,
    MONTHS,
    PHATIC,
    RELATIONS,
    WEEKDAYS,
    word_set,
)
from recollect.text.nicknames import other_names
from recollect.text.tokenizer import Tokens

#: Each of these forms a name with a weekday, in any case; the first are holidays.
_NAMING = word_set(
    "black good ash cyber easter palm boxing shrove maundy whit holy pancake fat giving super "
    "casual taco throwback meatless freaky wacky manic bloody"
)
#: These do so only if capitalised.
_NAMING_WRITTEN = _NAMING | word_set("focus follow flashback motivation wellness man girl ruby")
_WHICH = word_set(
    "the a an our my your their his her its on this next last every each another no any"
)
_OWN = word_set("the a an our my your their his her its called named titled entitled dubbed")
_OF_SOMEBODY = RELATIONS | HONORIFICS | MONTHS.keys() | WEEKDAYS.keys()
_COMMON = FUNCTION_WORDS | PHATIC
_NO_NAME = FUNCTION_WORDS | _OF_SOMEBODY
#: "We are in Munich Monday": a place, not part of a name.
_AT_PLACE = frozenset({"in", "near"})
#: In a quoted name, all words are capitalised: 'Focus Friday', "The Monday Club".
_CALLED = re.compile(
    r"(?<!\w)['\"\u2018“](?!(?:On|By|For|From|Until|Since) )"
    r"(?:(?:[A-Z][\w&-]*[ -]){1,4}[A-Z]\w+day|(?:[A-Z][\w&-]*[ -]){0,3}[A-Z]\w+day"
    r"(?:[ -][A-Z][\w&-]*){1,3})['\"’”]"
)


#: In characters: how far before a weekday a name that contains it may begin.
_FAR = 120


def in_name(tokens: Tokens, index: int) -> bool:
    """Whether the weekday at an index is part of a name."""
    start = tokens.starts[index]
    if _names(tokens, index):
        return True
    near = _CALLED.finditer(tokens.text, max(start - _FAR, 0), start + _FAR)
    return any(match.start() < start < match.end() for match in near)


def _names(tokens: Tokens, index: int) -> bool:
    """Whether the weekday at an index is part of a name."""
    before = word_before(tokens, index) if index and _apart(tokens, index - 1) else ""
    written = tokens.words[index][0].isupper()
    if before in (_NAMING_WRITTEN if written and _is_capital(tokens, index - 1) else _NAMING):
        return True
    if not written:
        return False
    if before == "named" or (before in _OWN and _goes_on(tokens, index)):
        return True
    if not before or before in _OF_SOMEBODY or not _is_capital(tokens, index - 1):
        return False
    if index < 2 or not joined(tokens, index - 2):
        return False  # any word may begin a sentence
    which = word_at(tokens, index - 2)
    if which in _WHICH or which.endswith("'s"):
        return True
    alike = before[0] == tokens.lowers[index][0] and before not in _COMMON
    return alike and which not in _AT_PLACE and not other_names(before)


def _apart(tokens: Tokens, index: int) -> bool:
    """Whether only a space or a hyphen follows a word."""
    return tokens.gap(index) in (" ", "-")


def _is_capital(tokens: Tokens, index: int) -> bool:
    word = tokens.words[index]
    return word[0].isupper() and not (len(word) > 1 and word.isupper())


def _goes_on(tokens: Tokens, index: int) -> bool:
    """Whether a capitalised word follows that is neither a person's name nor another day."""
    after = word_at(tokens, index + 1)
    if not after or not _apart(tokens, index) or after in _NO_NAME:
        return False
    return _is_capital(tokens, index + 1) and not other_names(after)
