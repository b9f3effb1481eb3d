"""Whether two sentences name the same thing of a kind: "the swimming lessons", "Max's lessons".

A thing is named by a noun, and qualified by its owner, by the words before the noun and by the
phrase after it: "the deadline for the grant". Things with different qualifiers are different; a
bare "the lessons" may be any.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from recollect.streams.language.grammar.verbs import THIRDS, is_past
from recollect.text.lexicon import DAY_WORDS, FUNCTION_WORDS, MONTHS, WEEKDAYS, word_set

_TOKEN = re.compile(r"[^\W_][\w'’-]*|[^\w\s]")
_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])\Z")
#: Prepositions after a noun that say which one of its kind it is.
_OF_WHICH = word_set("for of to with at in from about")
_ARTICLES = word_set("the a an my our your his her their")
#: Adjectives that name no other thing: the new appointment is the old one, moved.
_SAME = word_set("new next last latest current usual same old original")
#: The maximum number of qualifying words before the noun, and after it.
_MOST_BEFORE, _MOST_AFTER = 4, 3


class Qualifiers(NamedTuple):
    """What a sentence says of which thing of a kind it means; empty if nothing."""

    owner: str
    words: frozenset[str]

    def is_same(self, other: Qualifiers) -> bool:
        """Whether two things of a kind may be the same."""
        if self.owner and other.owner and self.owner != other.owner:
            return False
        return self.words <= other.words or other.words <= self.words


def qualifiers(text: str, thing: str) -> Qualifiers:
    """Return the qualifiers of the first mention of a thing in a text.

    `thing`: the name of its speaker, whose things need no owner, and its noun: "ada's lessons".
    """
    whose, _, noun = thing.rpartition(" ")
    lowers = [each.lower() for each in _TOKEN.findall(text)]
    if noun not in lowers:
        return Qualifiers("", frozenset())
    place = lowers.index(noun)
    owner, found = _before(lowers[:place])
    found |= _after(lowers[place + 1 :])
    is_speaker = owner in _POSSESSIVE.sub("", whose).split()
    return Qualifiers(owner, frozenset(found if is_speaker or not owner else found | {owner}))


def _before(lowers: Sequence[str]) -> tuple[str, set[str]]:
    """Return the owner, or "", and the words just before a noun."""
    found: set[str] = set()
    for lower in reversed(lowers[-_MOST_BEFORE:]):
        if _POSSESSIVE.search(lower):
            return _POSSESSIVE.sub("", lower), found
        if _ends_phrase(lower):
            break
        if lower not in _SAME and not _is_time(lower):
            found.add(lower.removesuffix("s"))
    return "", found


def _after(lowers: Sequence[str]) -> set[str]:
    """Return the words of the phrase after a noun that says which one it is."""
    found: set[str] = set()
    if not lowers or lowers[0] not in _OF_WHICH:
        return found
    rest = lowers[2:] if lowers[1:2] and lowers[1] in _ARTICLES else lowers[1:]
    for lower in rest[:_MOST_AFTER]:
        if _ends_phrase(lower) or _is_time(lower):
            break
        found.add(_POSSESSIVE.sub("", lower).removesuffix("s"))
    return found


def _ends_phrase(lower: str) -> bool:
    """Whether a word is no part of a noun phrase: a number, a verb, a sign, or a function word."""
    return (
        not lower[0].isalpha()
        or lower in FUNCTION_WORDS
        or lower in THIRDS
        # "Red" only looks like a past form.
        or (is_past(lower) and lower != "red")
    )


def _is_time(lower: str) -> bool:
    return lower in DAY_WORDS or lower in MONTHS or lower.removesuffix("s") in WEEKDAYS
