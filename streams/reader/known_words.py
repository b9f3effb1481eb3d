"""The words of a text with their looks; what stands between two blanks is cut once."""

from __future__ import annotations

from itertools import chain

import numpy as np
import numpy.typing as npt

from recollect.streams.reader.word_cutter import words_of
from recollect.streams.reader.word_shapes import Looks, look_of

# What is longer is cut anew each time, and at most so much is kept.
_LONG = 24
_MOST = 8_192
# The looks of a word take the lower half of a number, and its length the upper.
_LOOKS = 32


def looks_in(text: str) -> tuple[Looks, npt.NDArray[np.int64]]:
    """Return the looks of the words of a text, and how many characters each has."""
    # No word goes on after a blank, and none looks beyond it to see where it ends.
    pieces = map(_KNOWN.__getitem__, text.split())
    found = np.fromiter(chain.from_iterable(pieces), np.int64)
    return found.astype(np.uint32), found >> _LOOKS


class _Known(dict[str, tuple[int, ...]]):
    """What stood between blanks before, cut into words."""

    def __missing__(self, piece: str) -> tuple[int, ...]:
        words = [piece[start:end] for start, end in words_of(piece)]
        found = tuple(len(word) << _LOOKS | look_of(word) for word in words)
        if len(piece) < _LONG:
            if len(self) >= _MOST:
                self.clear()
            self[piece] = found
        return found


_KNOWN = _Known()
