"""The words of a text with their looks; each stretch without white space is split only once."""

from __future__ import annotations

from itertools import chain

import numpy as np
import numpy.typing as npt

from recollect.streams.reader.words.word_cutter import words_of
from recollect.streams.reader.words.word_shapes import Looks, look_of

# Longer stretches are split each time, and at most this many are cached.
_LONG = 24
_MOST = 8_192
# The looks of a word take the lower half of a number, its length the upper half.
_LOOKS = 32


def looks_in(text: str) -> tuple[Looks, npt.NDArray[np.int64]]:
    """Return the looks of the words of a text, and the number of characters of each."""
    # No word extends across white space, and no word boundary depends on what follows it.
    pieces = map(_KNOWN.__getitem__, text.split())
    found = np.fromiter(chain.from_iterable(pieces), np.int64)
    return found.astype(np.uint32), found >> _LOOKS


class _Known(dict[str, tuple[int, ...]]):
    """A cache of stretches without white space, split into words."""

    def __missing__(self, piece: str) -> tuple[int, ...]:
        words = [piece[start:end] for start, end in words_of(piece)]
        found = tuple(len(word) << _LOOKS | look_of(word) for word in words)
        if len(piece) < _LONG:
            if len(self) >= _MOST:
                self.clear()
            self[piece] = found
        return found


_KNOWN = _Known()
