"""The cosine of two texts by their words: without an encoder, and the same on every machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import sqrt
from zlib import crc32

import numpy as np
import numpy.typing as npt

from recollect.text.lexicon import FUNCTION_WORDS
from recollect.text.stopwords import STOP_WORDS
from recollect.text.tokenizer import tokenise

#: Above this, two observations of an entity say the same thing (B8, B9). In real conversations
#: such a pair has a cosine over .9 by the encoder too.
SAME = 0.85
#: The dimension of word vectors.
_DIMENSION = 1_024


def word_cosine(one: str, other: str) -> float:
    """Return the cosine of the counts of the content words of two texts, from 0 to 1."""
    first, second = _counts(one), _counts(other)
    if not first or not second:
        return 0.0
    product = sum(count * second[word] for word, count in first.items())
    norms = sum(n * n for n in first.values()) * sum(n * n for n in second.values())
    return product / sqrt(norms)


def word_vectors(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return a unit vector for each text, whose products are near the cosines of their words.

    Each word counts in the dimension, and with the sign, of its hash; a text without content words
    has zeros.
    """
    vectors = np.zeros((len(texts), _DIMENSION), np.float32)
    for vector, text in zip(vectors, texts, strict=True):
        for word, count in _counts(text).items():
            place, sign = divmod(crc32(word.encode("utf-8", "surrogatepass")), 2)
            vector[place % _DIMENSION] += count if sign else -count
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, norms, out=vectors, where=norms > 0)
    return vectors


def _counts(text: str) -> Counter[str]:
    return Counter(
        lower
        for lower in tokenise(text).lowers
        if lower not in STOP_WORDS and lower not in FUNCTION_WORDS
    )
