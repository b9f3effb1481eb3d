"""The shape of words: what a head is told beside the encoder's vectors, which know no capitals."""

from __future__ import annotations

from collections.abc import Sequence

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
    kinds = [_shape(word) for word in words]
    letters = [word for word, kind in zip(words, kinds, strict=True) if kind & _LETTERS]
    capitals = sum(word[0].isupper() for word in letters)
    shouted = sum(word.isupper() and len(word) > 1 for word in letters)
    whole = 0
    if not capitals:
        whole |= 1 << 17
    if 2 * capitals > len(letters):
        whole |= 1 << 18
    if 2 * shouted > len(letters):
        whole |= 1 << 19
    last = len(words) - 1
    codes = []
    opens = True
    for number, kind in enumerate(kinds):
        code = kind | whole
        if spaced[number]:
            code |= 1 << 12
        if opens:
            code |= 1 << 13
        if number:
            if kinds[number - 1] & _CAPITAL:
                code |= 1 << 14
            before = words[number - 1].lower()
            if before in _PLACED:
                code |= 1 << 20
            if before in _TITLES:
                code |= 1 << 21
            if before[0] in "@#":
                code |= 1 << 22
        if number < last:
            if kinds[number + 1] & _CAPITAL:
                code |= 1 << 15
            if words[number + 1] in ("'s", "’s"):
                code |= 1 << 16
            if words[number + 1] == ":":
                code |= 1 << 23
        codes.append(code)
        opens = words[number][0] in _STOPS
    coded = np.array(codes, dtype=np.uint32)
    bits = np.arange(SHAPES, dtype=np.uint32)
    return (coded[:, None] >> bits & 1).astype(np.float32)


_CAPITAL, _LETTERS = 1 << 0, 1 << 1


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
