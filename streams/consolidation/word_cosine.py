"""The cosine of two texts by their words: without an encoder, and the same on every machine."""

from __future__ import annotations

from collections import Counter
from math import sqrt

from recollect.text.lexicon import FUNCTION_WORDS
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

#: Above this, two observations of an entity say the same (B8, B9). In real conversations such a
#: pair has a cosine over .9 by the encoder too.
SAME = 0.85


def word_cosine(one: str, other: str) -> float:
    """Return the cosine of the counts of the content words of two texts, from 0 to 1."""
    first, second = _counts(one), _counts(other)
    if not first or not second:
        return 0.0
    product = sum(count * second[word] for word, count in first.items())
    norms = sum(n * n for n in first.values()) * sum(n * n for n in second.values())
    return product / sqrt(norms)


def _counts(text: str) -> Counter[str]:
    return Counter(
        lower
        for lower in tokenise(text).lowers
        if lower not in STOP_WORDS and lower not in FUNCTION_WORDS
    )
