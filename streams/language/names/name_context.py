"""What a name's own words and its context say about the referent."""

from __future__ import annotations

import re

from recollect.streams.language.names.gazetteer import LOCAL_PLACES
from recollect.text.lexicon import RELATIONS, word_set

# "my uncle Tom", "our old friend Zephyr": somebody close to the speaker, distinct from namesakes.
_OF_THE_SPEAKER = re.compile(
    r"\b(?:my|our)\s+(?:[a-z][a-z-]*\s+){0,2}([a-z-]+),?\s+$", re.IGNORECASE
)
_CLOSE = (RELATIONS - {"named"}) | word_set(
    """dad daddy mummy mommy mama papa granny gran nana stepdad stepmum stepmom stepsister
    stepbrother grandson granddaughter godmother godfather godson goddaughter ex fiancée spouse
    cat dog puppy kitten pet horse rabbit hamster parrot nanny"""
)
_BEFORE = 80
_OPENING, _CLOSING = "\"'\u201c\u201d\u201e\u00ab\u2018", "\"'\u201d\u201c\u00bb\u2019"


def is_of_the_speaker(text: str, start: int) -> bool:
    """Return whether the words before a name state a relation to the speaker: "my uncle"."""
    found = _OF_THE_SPEAKER.search(text, max(0, start - _BEFORE), start)
    return found is not None and found[1].lower() in _CLOSE


def is_quoted(text: str, start: int, name: str) -> bool:
    """Return whether a name at `start` is by itself in quotation marks."""
    end = start + len(name)
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    return bool(before and after) and before in _OPENING and after in _CLOSING


def is_local_place(normalized: str) -> bool:
    """Return whether a name is one that many buildings share: Room 101, Floor 3."""
    word, _, number = normalized.partition(" ")
    return word in LOCAL_PLACES and number[:1].isdigit()
