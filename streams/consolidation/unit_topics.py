"""The topics of a unit: its nouns and its activities."""

from __future__ import annotations

from collections.abc import Set
from functools import lru_cache

from recollect.streams.consolidation.nouns import activity, is_noun, is_topical, singular
from recollect.text.lexicon import FUNCTION_WORDS, NUMBER_WORDS, word_set
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import bare, tokenise

#: A unit has at most this many topics.
MAX_TOPICS = 6
_CALENDAR = word_set(
    """monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri
    sat sun january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec am pm"""
)


def topics_of(text: str, names: Set[str]) -> dict[str, str]:
    """Return topic -> the word that expresses it, in order of the text.

    `names`: lower-case words that are names in this text, and so do not count as topics.
    """
    tokens = tokenise(text)
    topics: dict[str, str] = {}
    for place, (word, lower) in enumerate(zip(tokens.words, tokens.lowers, strict=True)):
        plain = bare(lower)
        acronym = word.isupper() and len(word) > 1 and word.isalpha()
        if plain in names or not plain.replace("-", "").isalpha():
            continue
        if (
            word[0].isupper()
            and place
            and not acronym
            and not _begins_sentence(tokens.gap(place - 1))
        ):
            continue
        topic = plain if acronym and plain not in _CALENDAR else _topic(plain)
        if topic is not None:
            # A capitalised first word may be a name.
            capital = acronym or word[0].isupper()
            topics.setdefault(
                topic, word.removesuffix("'s").removesuffix("’s") if capital else plain
            )
    return dict(list(topics.items())[:MAX_TOPICS])


def _begins_sentence(gap: str) -> bool:
    return any(sign in gap for sign in ".!?:\n")


@lru_cache(maxsize=65_536)
def _topic(lower: str) -> str | None:
    """Return the topic of a word; None if it names none."""
    if len(lower) < 3 or lower in FUNCTION_WORDS or lower in STOP_WORDS or lower in _CALENDAR:
        return None
    base = activity(lower)
    lemma = base or singular(lower)
    if base is None and not is_noun(lower):
        return None
    if "'" in lemma or lemma in FUNCTION_WORDS or lemma in NUMBER_WORDS or lemma in _CALENDAR:
        return None
    return lemma if is_topical(lemma) and is_topical(lower) else None
