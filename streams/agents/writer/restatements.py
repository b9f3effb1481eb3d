"""Whether a model's sentence says what a fact says, and which of the two says it better."""

from __future__ import annotations

import re
from typing import Literal

from recollect.streams.language.grammar.questions import is_question
from recollect.streams.language.relations.content_words import content_words
from recollect.streams.language.relations.grounding import is_in_third_person, states_something
from recollect.text.dates.dates_in_text import date_references
from recollect.text.lexicon import FILLERS, FUNCTION_WORDS, PHATIC
from recollect.text.sentences import sentences

#: A sentence that replaces another has at least this share of its words.
_MIN_KEPT = 0.6

#: Words with which a sentence may begin, and that are no names.
_OPENINGS = FUNCTION_WORDS | PHATIC

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_NUMBER = re.compile(r"\d+")
#: The days that the rules put behind a date.
_RESOLVED = re.compile(r"\s*\(\d{4}-\d\d-\d\d(?: to \d{4}-\d\d-\d\d)?\)")


def compare_texts(new: str, old: str, speaker: str, at_ms: int) -> Literal["same", "better", "new"]:
    """Return what a model's sentence is to a fact's text.

    "same": the fact says all of it, and as well. "better": it says what the fact says, cleanly,
    where the fact repeats a message's raw words. "new": anything else.
    """
    plain = _RESOLVED.sub("", old)
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
        # The other way round, perhaps.
        return "same"
    if added:
        return "better" if theirs - content_words(speaker) <= ours else "same"
    if not is_quoted and not _is_raw(plain):
        return "same"
    whole = (
        len(theirs & ours) >= _MIN_KEPT * len(theirs)
        and set(names) <= set(shared)
        and set(_NUMBER.findall(plain)) <= set(_NUMBER.findall(new))
        and bool(_dates(plain, at_ms)) <= bool(_dates(new, at_ms))
    )
    return "better" if whole else "new"


def _is_raw(text: str) -> bool:
    """Return whether a fact's text repeats a message as it was written."""
    words = [word.casefold() for word in _WORD.findall(text)] or [""]
    return (
        len(sentences(text)) > 1
        or not is_in_third_person(text)
        or is_question(text)
        or not states_something(text)
        or words[0] in PHATIC | FILLERS
        or words[-1] in FILLERS
    )


def _lengthened_names(text: str, known: frozenset[str]) -> frozenset[str]:
    """Return the words of a text that stand in a name beside a word that is known."""
    found: set[str] = set()
    for run in re.findall(r"[A-Z]\w+(?: [A-Z]\w+)+", text):
        words = content_words(run)
        if words & known:
            found |= words
    return frozenset(found)


def _capitalised(text: str) -> list[str]:
    """Return the names in a text: words with a capital that do not only begin it, in order."""
    words = list(_WORD.finditer(text))
    names = [
        re.sub(r"['’]s?\Z", "", word[0]).casefold()
        for place, word in enumerate(words)
        if word[0][0].isupper()
        and word[0] != "I"
        and (place or word[0].casefold() not in _OPENINGS)
    ]
    return list(dict.fromkeys(names))


def _dates(text: str, at_ms: int) -> list[str]:
    found = date_references(text, at_ms=at_ms, utc_offset_minutes=0, every=True)
    return [each.text for each in found]
