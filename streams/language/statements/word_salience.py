"""Salience by words alone, for homes without a reader: logistic regression over hashed words."""

from __future__ import annotations

from functools import cache
from math import exp
from pathlib import Path
from zlib import crc32

from recollect.text.tokenizer import Tokens

#: The trained weights: a signed byte for each bucket.
FILE = Path(__file__).with_name("word_salience.bin")
#: The number of hash buckets for words; two more are for the length and the bias.
BUCKETS = 8_192
#: A weight is an integer in this fraction of a logit.
UNITS = 32


def buckets_of(tokens: Tokens, left: int, right: int) -> list[int]:
    """Return the buckets of a clause's words and pairs of words."""
    lowers = tokens.lowers[left:right]
    pairs = (f"{one} {other}" for one, other in zip(["<", *lowers], [*lowers, ">"], strict=True))
    return [crc32(each.encode()) % BUCKETS for each in (*lowers, *pairs)]


def length_of(left: int, right: int) -> int:
    """Return the feature of a clause's length, from 0 to 5: the binary logarithm of its words."""
    return min((right - left).bit_length(), 5)


@cache
def _weights() -> memoryview:
    return memoryview(FILE.read_bytes()).cast("b")


def salience_of(tokens: Tokens, left: int, right: int) -> int:
    """Return the salience of a clause, the tokens from `left` to `right`, in percent."""
    weights = _weights()
    found = buckets_of(tokens, left, right)
    if not found:
        return 0
    logit = sum(weights[each] for each in found) / len(found) ** 0.5
    logit += weights[BUCKETS + length_of(left, right)] + weights[BUCKETS + 6]
    return _percent(logit / UNITS)


def _percent(logit: float) -> int:
    step = max(-40, min(40, round(logit * 8)))
    return _PERCENTS[step + 40]


#: The logistic function from -5 to 5, in steps of an eighth.
_PERCENTS: list[int] = [round(100 / (1 + exp(-step / 8))) for step in range(-40, 41)]
