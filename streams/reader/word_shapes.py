"""The shape of words: what a head is told beside the encoder's vectors, which know no capitals."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

#: How many features a word has.
SHAPES = 24

_STOPS = frozenset('.!?…:;"“”*•—–-|()[]')
_PLACED = frozenset({"in", "at", "from", "near", "to"})
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "sir", "st", "president", "uncle", "aunt"})

Shapes = npt.NDArray[np.float32]


def shapes_of(words: Sequence[str], spaced: Sequence[bool]) -> Shapes:
    """Return (n, SHAPES) zeros and ones; `spaced`: whether a blank stands before each word."""
    coded = np.array(codes_of(words, spaced), dtype=np.uint32)
    return features(coded)


def codes_of(words: Sequence[str], spaced: Sequence[bool]) -> list[int]:
    """Return the shapes of the words of a text, each as the bits of a number."""
    looks = [(_looks if len(word) < _LONG else _looked)(word) for word in words]
    letters = capitals = shouted = 0
    for look in looks:
        if look.own & _LETTERS:
            letters += 1
            capitals += look.own & _CAPITAL
            shouted += look.shouted
    whole = 0
    if not capitals:
        whole |= 1 << 17
    if 2 * capitals > letters:
        whole |= 1 << 18
    if 2 * shouted > letters:
        whole |= 1 << 19
    before = 1 << 13
    codes = []
    for look, blank in zip(looks, spaced, strict=True):
        codes.append(look.own | whole | before | (1 << 12 if blank else 0))
        before = look.on_next
    for number, look in enumerate(looks[1:]):
        codes[number] |= look.on_last
    return codes


def features(codes: npt.NDArray[np.uint32]) -> Shapes:
    """Return (n, SHAPES) zeros and ones for the shapes of words."""
    return (codes[:, None] >> _BITS & 1).astype(np.float32)


_BITS = np.arange(SHAPES, dtype=np.uint32)
_CAPITAL, _LETTERS = 1 << 0, 1 << 1
_LONG = 24


class _Looks(NamedTuple):
    """What a word adds to its own shape, and to those of the words after and before it."""

    own: int
    on_next: int
    on_last: int
    shouted: bool


def _looked(word: str) -> _Looks:
    own = _shape(word)
    on_next = on_last = 0
    if word[0] in _STOPS:
        on_next |= 1 << 13
    if own & _CAPITAL:
        on_next |= 1 << 14
        on_last |= 1 << 15
    if word in ("'s", "’s"):
        on_last |= 1 << 16
    if word == ":":
        on_last |= 1 << 23
    lower = word.lower()
    if lower in _PLACED:
        on_next |= 1 << 20
    if lower in _TITLES:
        on_next |= 1 << 21
    if lower[0] in "@#":
        on_next |= 1 << 22
    return _Looks(own, on_next, on_last, word.isupper() and len(word) > 1)


_looks = lru_cache(maxsize=8_192)(_looked)


def _shape(word: str) -> int:
    """Return the bits that say what a word looks like by itself."""
    first = word[0]
    if first.isalpha():
        code = _LETTERS
        if first.isupper():
            code |= _CAPITAL
            if len(word) == 1:
                code |= 1 << 2
            elif word.isupper():
                code |= 1 << 3
        if not word.islower() and not word[1:].islower() and not word.isupper():
            code |= 1 << 4
    elif first.isdigit():
        code = 1 << 5
    elif first in "@#" and len(word) > 1:
        code = 1 << (6 if first == "@" else 7)
    else:
        code = 1 << 8
    if len(word) < 4:
        code |= 1 << (9 if len(word) < 3 else 10)
    elif len(word) > 7:
        code |= 1 << 11
    return code
