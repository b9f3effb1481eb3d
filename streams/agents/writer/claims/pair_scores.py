"""The probability that what somebody says ends what the same person said earlier.

A network sees how two sentences relate: their vectors' cosine, the content words and numbers that
they share, and a score of the later one's words, in which shared words are only marked as such
("left SHARED"). It was trained on pairs of sentences (`training/train_statement_ends.py`). All
arithmetic is on integers or correctly rounded, so that it decides the same on every machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from functools import cache, lru_cache
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.streams.language.relations.content_words import stemmed
from recollect.streams.reader.head_file import Head
from recollect.streams.reader.head_scores import ScoringHead, label_shares

#: The trained weights.
FILE = Path(__file__).with_name("pair_scores.bin")
#: The network's labels.
LABELS = ("holds", "ended")
#: The number of hash buckets for words, and the fraction of a logit in which they are weighed.
BUCKETS, WORD_UNITS = 65_536, 32
#: A feature is an integer in this fraction of its unit, at most `_MOST`.
UNITS = 16
_MOST = 127
# The most that the score of the words counts (logits).
_MOST_LOGIT = 4.0

#: How many words of a sentence count.
_MOST_WORDS = 100
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?|[£$€?!]")

Codes = npt.NDArray[np.int8]


class PairWeights(msgspec.Struct, frozen=True):
    """The weights of words (int8, by bucket) and the network."""

    words: bytes
    network: Head


class SentenceWords(NamedTuple):
    """The words of a sentence: all, without endings, and those of content."""

    words: tuple[str, ...]
    content: frozenset[str]
    numbers: frozenset[str]


@lru_cache(maxsize=16_384)
def words_of(sentence: str) -> SentenceWords:
    """Return the words of a sentence."""
    found = [each[0] for each in islice(_WORD.finditer(_lower(sentence)), _MOST_WORDS)]
    words = tuple(map(_without_ending, found))
    return SentenceWords(
        words,
        frozenset(map(_without_ending, stemmed(found))),
        frozenset(each for each in words if each.isdigit()),
    )


def _lower(sentence: str) -> str:
    return sentence.lower().replace("’", "'")


def _without_ending(word: str) -> str:
    bare = word.removesuffix("'s")
    return re.sub(r"(?:ing|ed|es|s)\Z", "", bare) if len(bare) > 4 else bare


def word_buckets(shared: Set[str], later: SentenceWords) -> list[int]:
    """Return the buckets of the later sentence's words, and of two and three in a row.

    `shared`: the content words of both sentences.
    """
    row = [
        "<",
        *(
            "SHARED" if each in shared else "NUMBER" if each.isdigit() else each
            for each in later.words
        ),
        ">",
    ]
    threes = list(zip(row, row[1:], row[2:], strict=False))
    features = {
        *later.words,
        *(f"{one} {other}" for one, other in pairwise(row)),
        *(" ".join(each) for each in threes),
        *(f"{one} * {other}" for one, _, other in threes),
    }
    return sorted({crc32(each.encode("utf-8", "surrogatepass")) % BUCKETS for each in features})


def word_logit(earlier: SentenceWords, later: SentenceWords) -> float:
    """Return the score of the later sentence's words."""
    return _logit(earlier.content & later.content, later)


@lru_cache(maxsize=16_384)
def _logit(shared: frozenset[str], later: SentenceWords) -> float:
    weights = _weights()
    return sum(weights[each] for each in word_buckets(shared, later)) / WORD_UNITS


def pair_features(
    earlier: SentenceWords, later: SentenceWords, cosine: float, logit: float
) -> list[float]:
    """Return the features of a pair."""
    shared = earlier.content & later.content
    places = [place for place, word in enumerate(later.words) if word in shared]
    logit = max(-_MOST_LOGIT, min(_MOST_LOGIT, logit))
    part = len(shared) / (len(earlier.content) + 1)
    return [
        cosine * 6,
        min(len(shared), 4),
        part * 6,
        places[0] / len(later.words) * 4 if places else 4,
        min(len(later.content - earlier.content), 12) / 2,
        min(len(later.words), 40) / 6,
        min(len(earlier.content), 12) / 2,
        4 * bool(earlier.numbers),
        4 * bool(later.numbers),
        4 * bool(earlier.numbers & later.numbers),
        logit,
        logit * cosine,
        logit * part,
    ]


def whole(features: Sequence[Sequence[float]]) -> Codes:
    """Return features as the network reads them."""
    codes: Codes = np.clip(np.rint(np.array(features) * UNITS), -_MOST, _MOST).astype(np.int8)
    return codes


def ended_percents(pairs: Iterable[tuple[str, str, float]]) -> npt.NDArray[np.int64]:
    """Return the probability, in percent, that the later sentence of a pair ends the earlier.

    `pairs`: the earlier sentence, the later one, and the cosine of their vectors.
    """
    features = []
    for earlier, later, cosine in pairs:
        known, words = words_of(earlier), words_of(later)
        features.append(pair_features(known, words, cosine, word_logit(known, words)))
    if not features:
        return np.zeros(0, np.int64)
    percents: npt.NDArray[np.int64] = label_shares(_head().scores([whole(features)]))[:, 1]
    return percents


@cache
def _file() -> PairWeights:
    return msgspec.msgpack.decode(FILE.read_bytes(), type=PairWeights)


@cache
def _weights() -> memoryview:
    return memoryview(_file().words).cast("b")


@cache
def _head() -> ScoringHead:
    return ScoringHead(_file().network)
