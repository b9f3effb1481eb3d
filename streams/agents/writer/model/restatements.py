"""Compare a model's sentence with a fact: whether it restates it, and which text is better."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from recollect.streams.language.grammar.questions import is_question
from recollect.streams.language.relations.content_words import content_words
from recollect.streams.language.relations.grounding import is_in_third_person, states_something
from recollect.text.dates.dates_in_text import date_references
from recollect.text.dates.resolved_dates import periods_in_numbers
from recollect.text.lexicon import FILLERS, FUNCTION_WORDS, PHATIC
from recollect.text.sentences import sentences

#: The minimum share of a text's words in the sentence that replaces it.
_MIN_SHARED_SHARE = 0.6

_INTERJECTIONS = PHATIC | FILLERS
#: Words that may begin a sentence with a capital but are not names.
_OPENINGS = FUNCTION_WORDS | PHATIC

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NUMBER = re.compile(r"\d+")
#: The resolved date that the rules append to a relative one.
_RESOLVED = re.compile(r"\s*\(\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\)")


def compare_texts(new: str, old: str, speaker: str, at_ms: int) -> Literal["same", "better", "new"]:
    """Compare a model's sentence (`new`) with a fact's text (`old`).

    "same": the fact says all of it, and no worse. "better": the sentence says the same cleanly,
    while the fact repeats a message's raw words. "new": anything else.
    """
    plain = _RESOLVED.sub("", periods_in_numbers(old))
    prefix = f"{speaker}: "
    is_quoted = plain.startswith(prefix)
    plain = plain.removeprefix(prefix)
    ours, theirs = content_words(new), content_words(plain) | content_words(speaker)
    added = ours - theirs
    if added and not added <= _lengthened_names(new, theirs):
        return "new"
    names = _capitalised(plain)
    shared = [name for name in _capitalised(new) if name in names]
    if shared != [name for name in names if name in shared]:
        # The names are in another order, perhaps with swapped roles.
        return "same"
    if added:
        return "better" if theirs - content_words(speaker) <= ours else "same"
    if not is_quoted and not _is_raw(plain):
        return "same"
    is_complete = (
        len(theirs & ours) >= _MIN_SHARED_SHARE * len(theirs)
        and set(names) <= set(shared)
        and set(_NUMBER.findall(plain)) <= set(_NUMBER.findall(new))
        and bool(_dates(plain, at_ms)) <= bool(_dates(new, at_ms))
    )
    return "better" if is_complete else "new"


def shared_subjects(one: str, other: str) -> frozenset[str]:
    """Return the names with which both facts begin, in lower case; empty if they have none."""
    return _openings(one) & _openings(other)


def _openings(text: str) -> frozenset[str]:
    """Return the name with which a fact begins; after a possessive, the name that follows too."""
    words = [word[0] for word in _WORD.finditer(text)]
    words = [word for word in words if word.casefold() not in FUNCTION_WORDS]
    named = words[:1]
    if words and re.search(r"['’]s?\Z", words[0]):
        named += [word for word in words[1:4] if word[0].isupper()][:1]
    return frozenset(re.sub(r"['’]s?\Z", "", word).casefold() for word in named)


def _is_raw(text: str) -> bool:
    """Return whether a fact's text repeats a message as it was written."""
    words = ["", *(word.casefold() for word in _WORD.findall(text))]
    return (
        len(sentences(text)) > 1
        or not is_in_third_person(text)
        or is_question(text)
        or not states_something(text)
        or not _INTERJECTIONS.isdisjoint(words[1:2])
        or words[-1] in FILLERS
        # An interjection at the end, unless a function word before it makes it a noun ("her work").
        or (words[-1] in PHATIC and words[-2] not in FUNCTION_WORDS)
    )


def _lengthened_names(text: str, known: frozenset[str]) -> frozenset[str]:
    """Return the words of the capitalised names in a text that contain a known word."""
    found: set[str] = set()
    for run in re.findall(r"[A-Z]\w+(?: [A-Z]\w+)+", text):
        words = content_words(run)
        if words & known:
            found |= words
    return frozenset(found)


def _capitalised(text: str) -> list[str]:
    """Return the likely names in a text, in order: capitalised words, without mere openings."""
    words = list(_WORD.finditer(text))
    names = [
        re.sub(r"['’]s?\Z", "", word[0]).casefold()
        for place, word in enumerate(words)
        if word[0][0].isupper()
        and word[0] != "I"
        and (place or not _is_opening([word[0] for word in words[:2]]))
    ]
    return list(dict.fromkeys(names))


def _is_opening(words: Sequence[str]) -> bool:
    """Return whether a sentence's first word is probably not a name, given its first two words."""
    first, second = words[0].casefold(), words[-1]
    return (
        first in _OPENINGS
        or second.casefold() in _INTERJECTIONS
        or (len(words) > 1 and second[0].isupper())
    )


def _dates(text: str, at_ms: int) -> list[str]:
    found = date_references(text, at_ms=at_ms, utc_offset_minutes=0, every=True)
    return [each.text for each in found]
