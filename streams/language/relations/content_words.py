"""The content words by which two messages may have the same topic."""

from __future__ import annotations

import re
from collections.abc import Iterable

from recollect.text.lexicon import FUNCTION_WORDS, MONTHS, PHATIC, RELATIONS, WEEKDAYS, word_set

#: The minimum length of a name or a number by which a value is recognised.
_SHORTEST_NAME = 3
_NO_TOPICS = FUNCTION_WORDS | PHATIC | WEEKDAYS.keys() | MONTHS.keys()
_BEGINS = re.compile(r"(?:\A|[.!?:;\n])[^\w\n]*\Z")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def content_words(text: str) -> frozenset[str]:
    """Return the content words of a text, stemmed."""
    words = frozenset(stemmed(word.group().lower() for word in _WORD.finditer(text)))
    return words | {match["what"].lower() for match in _OCCASION.finditer(text)}


def proper_words(text: str) -> dict[str, bool]:
    """Return the numbers and capitalised words of a text, in lower case.

    The value tells whether the word is surely no ordinary one: it does not only begin the text or a
    sentence.
    """
    found: dict[str, bool] = {}
    for word in _WORD.finditer(text):
        bare = re.sub("['’]s\\Z", "", word.group())
        lower = bare.lower()
        is_number = any(map(str.isdigit, bare))
        if (
            len(bare) < _SHORTEST_NAME
            or not (is_number or bare[0].isupper())
            or lower in _NO_TOPICS
            or lower in RELATIONS
        ):
            continue
        inside = is_number or not _BEGINS.search(text, 0, word.start())
        found[lower] = inside or found.get(lower, False)
    return found


def stemmed(words: Iterable[str]) -> Iterable[str]:
    """Yield the lower-case content words of a text, without their endings."""
    for word in words:
        bare = word.removesuffix("'s").removesuffix("’s")
        if (
            len(bare) > 2
            and not bare[0].isdigit()
            and bare not in _NO_TOPICS
            and bare.removesuffix("s") not in WEEKDAYS
            and bare not in _CUE_WORDS
        ):
            yield (
                re.sub(r"(?:ing|als?|ed|es|e|s)\Z", "", bare)
                if len(bare) > 5
                else bare.removesuffix("s")
            )


#: Events, which are courtesies elsewhere: "hearing" counts, except in "looking forward to hearing
#: you".
_OCCASION = re.compile(
    r"\b(?:the|an?|my|our|your|his|her|their|this|that|[\w]+['’]s) "
    r"(?:(?!for|to|of|from|nice|good|and)\w+ )?(?P<what>hearing|talk|course|chat|work|check)\b",
    re.IGNORECASE,
)
_CUE_WORDS = word_set(
    """actually correction meant scratch disregard instead postpone postponed rescheduled move moves
    moved moving change changed plan plans now fact longer room time date day new morning evening
    afternoon night tonight tomorrow today yesterday week o'clock same oops wait nope edit update
    misspoke mixed mistake bad wrong turns make"""
)
