"""The subject of a sentence, as far as its words show it: "I", "my sister", "the kiln"."""

from __future__ import annotations

from bisect import bisect_left

from recollect.streams.language.grammar.clauses import after_lead_in
from recollect.streams.language.grammar.verbs import BASES, NOUNS_TOO, PAST_FORMS, THIRDS, is_past
from recollect.text.lexicon import CONJUNCTIONS, NOT_PAST, PREPOSITIONS, word_set
from recollect.text.tokenizer import Tokens

#: The lower-case words of a subject: `SPEAKER`, "my" with a noun, a name, or a thing.
Subject = tuple[str, ...]
SPEAKER: Subject = ("i",)

_I = word_set("i i'm im i've ive i'd i'll we we're we've we'd we'll")
_OTHERS = {
    **dict.fromkeys(word_set("he he's he'd he'll"), "he"),
    **dict.fromkeys(word_set("she she's she'd she'll"), "she"),
    **dict.fromkeys(word_set("it it's it'd it'll"), "it"),
    **dict.fromkeys(word_set("they they're they've they'd they'll"), "they"),
}
PRONOUNS = frozenset(_OTHERS.values())
#: Nouns that identify nothing, so two mentions cannot be matched.
_UNTOLD = word_set(
    """you you're you've your that that's this there there's who what which his her their its these
    those one someone somebody everyone everybody people no nobody nothing some any all each every
    both many most"""
)
_SKIPPED = word_set(
    """and but so oh well yes yeah hey also too plus just now then still even recently lately today
    yesterday tonight soon besides moreover furthermore additionally actually honestly finally"""
)
_ARTICLES = word_set("the a an")
_VERBS = word_set(
    """am is are was were be been do does did has have had will would can could may might must shall
    should isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't won't wouldn't
    can't cannot couldn't shouldn't got went"""
)
_TIMES = word_set("last next every when while once after before since if as although though this")
#: "Ana's also a vet": before these words, "'s" is a verb.
_AFTER_IS = word_set("also a an the not been very really still now too")
#: A longer stretch before the verb is not a subject.
_MOST_WORDS = 5
#: How many words after "In May" or "When she left" the first person may be.
_AFTER_OPENING = 14


def subject_of(tokens: Tokens, start: int, end: int) -> Subject | None:
    """Return the subject of the words between two characters; None if it is unclear.

    A pronoun is returned unresolved ("she").
    """
    left = bisect_left(tokens.starts, after_lead_in(tokens.text, start, end))
    right = bisect_left(tokens.starts, end)
    lowers = tokens.lowers
    while left < right and (lowers[left] in _SKIPPED or lowers[left].endswith("ly")):
        left += 1
    if left == right:
        return None
    first = lowers[left]
    if first in _I:
        return SPEAKER
    if first in _OTHERS:
        return (_OTHERS[first],)
    if first in _TIMES or first in PREPOSITIONS or first in CONJUNCTIONS:
        following = lowers[left : min(right, left + _AFTER_OPENING)]
        return None if _I.isdisjoint(following) else SPEAKER
    if first in _UNTOLD:
        return None
    if is_past(first):
        return SPEAKER  # "Lost my job"
    return _noun_phrase(lowers, left, right)


def _noun_phrase(lowers: list[str], left: int, right: int) -> Subject | None:
    """Return the words before the first verb; None if they are too many, or no verb follows."""
    words: list[str] = []
    for index in range(left, min(right, left + _MOST_WORDS + 1)):
        lower = lowers[index]
        if lower in _I:
            return None
        if words and (lower == "also" or _is_verb(lower)):
            return None if words == ["my"] else tuple(words)
        if lower.endswith("'s") and _is_verb_behind(lowers, index, right):
            return (*words, lower[:-2])
        if lower in ("my", "our"):
            words.append("my")
        elif lower not in _ARTICLES:
            words.append(lower)
    return None


def _is_verb_behind(lowers: list[str], index: int, right: int) -> bool:
    following = lowers[index + 1] if index + 1 < right else ""
    return following in _AFTER_IS or following.endswith("ing")


def _is_verb(lower: str) -> bool:
    return (
        lower in _VERBS
        or lower in PAST_FORMS
        or lower in THIRDS
        or (lower in BASES and lower not in NOUNS_TOO)
        or (lower.endswith("ed") and lower not in NOT_PAST)
    )


def is_same(one: Subject, other: Subject) -> bool:
    """Whether two subjects are the same: "my sister" and "my sister Ana"."""
    few, more = sorted((one, other), key=len)
    return more[: len(few)] == few


def is_named(subject: Subject, name: str) -> bool:
    """Whether a subject contains the first word of a name: "my sister Ana" contains "Ana"."""
    called = name.lower().split()[:1]
    return bool(called) and called[0] in subject
