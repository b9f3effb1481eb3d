"""The shape of words: the features that a head gets besides the vectors, which ignore case."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recollect.streams.reader.words.word_cutter import is_word

#: The number of features of a word.
SHAPES = 24

_STOPS = frozenset('.!?…:;"“”*•—–-|()[]')
_PLACED = frozenset({"in", "at", "from", "near", "to"})
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "sir", "st", "president", "uncle", "aunt"})

Shapes = npt.NDArray[np.float32]
#: The contribution of each word to shapes, as the bits of a number.
Looks = npt.NDArray[np.uint32]
#: The shape of each word, as the bits of a number.
Codes = npt.NDArray[np.uint32]

# The contributions of a word to its own shape, to that of the next word, and to that of the
# previous one.
_OWN = (1 << 12) - 1
_ON_NEXT = 1 << 13 | 1 << 14 | 1 << 20 | 1 << 21 | 1 << 22
_ON_LAST = 1 << 15 | 1 << 16 | 1 << 23
_SHOUTED, _TOLD = 1 << 24, 1 << 25
#: Small words that indicate something about their sentence.
OF_ME, OF_US, OF_YOU, OF_THEM, ASKING, PLEASE = (np.uint32(1 << bit) for bit in range(26, 32))
_SMALL = {
    word: int(kind)
    for kind, words in (
        (OF_ME, "i me my mine myself"),
        (OF_US, "we us our ours"),
        (OF_YOU, "you your yours"),
        (OF_THEM, "he she him her his they them their"),
        (ASKING, "what who whom which where when why how"),
        (PLEASE, "please let's help"),
    )
    for word in words.split()
}


def shapes_of(words: Sequence[str], spaced: Sequence[bool]) -> Shapes:
    """Return the (n, SHAPES) zeros and ones; `spaced`: whether white space precedes each word."""
    looks = np.array([look_of(word) for word in words], np.uint32)
    codes = codes_of(looks, np.array(spaced, bool), [0, len(words)])
    return features(codes).astype(np.float32)


def word_mask(looks: Looks) -> npt.NDArray[np.bool_]:
    """Return a mask of the words that are not punctuation marks."""
    found: npt.NDArray[np.bool_] = looks & _TOLD != 0
    return found


def codes_of(looks: Looks, spaced: npt.NDArray[np.bool_], firsts: Sequence[int]) -> Codes:
    """Return the shapes of the words of texts, each as the bits of a number.

    `firsts`: the number of the first word of each text, and the total number of words.
    """
    codes: Codes = looks & np.uint32(_OWN)
    codes |= spaced.astype(np.uint32) << 12
    codes[1:] |= looks[:-1] & _ON_NEXT
    codes[:-1] |= looks[1:] & _ON_LAST
    bounds = np.array(firsts)
    begins, ends = bounds[:-1], bounds[1:]
    has_words = ends > begins
    first, last = begins[has_words], ends[has_words] - 1
    codes[first] = codes[first] & ~np.uint32(_ON_NEXT) | 1 << 13
    codes[last] &= ~np.uint32(_ON_LAST)
    kinds = np.array([[_LETTERS], [_CAPITAL], [_SHOUTED]], np.uint32)
    so_far = np.zeros((3, len(looks) + 1), np.int64)
    np.cumsum(looks & kinds != 0, axis=1, out=so_far[:, 1:])
    letters, capitals, shouted = so_far[:, ends] - so_far[:, begins]
    whole = (capitals == 0) * (1 << 17)
    whole |= (2 * capitals > letters) * (1 << 18)
    whole |= (2 * shouted > letters) * (1 << 19)
    codes |= np.repeat(whole.astype(np.uint32), ends - begins)
    return codes


def features(codes: Codes) -> npt.NDArray[np.int8]:
    """Return (n, SHAPES) zeros and ones for the shapes of words."""
    return (codes[:, None] >> _BITS & 1).astype(np.int8)


_BITS = np.arange(SHAPES, dtype=np.uint32)
_CAPITAL, _LETTERS = 1 << 0, 1 << 1


def look_of(word: str) -> int:
    """Return the contribution of a word to shapes."""
    own = look = _shape(word)
    if word[0] in _STOPS:
        look |= 1 << 13
    if own & _CAPITAL:
        look |= 1 << 14 | 1 << 15
    if word in ("'s", "’s"):
        look |= 1 << 16
    if word == ":":
        look |= 1 << 23
    lower = word.lower()
    if lower in _PLACED:
        look |= 1 << 20
    if lower in _TITLES:
        look |= 1 << 21
    if lower[0] in "@#":
        look |= 1 << 22
    if own & _LETTERS and word.isupper() and len(word) > 1:
        look |= _SHOUTED
    if is_word(word):
        look |= _TOLD
    return look | _SMALL.get(lower, 0)


def _shape(word: str) -> int:
    """Return the bits for the look of a word by itself."""
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
