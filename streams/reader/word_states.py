"""From the encoder's pieces to words: what heads calculate with, in whole numbers.

Sums of whole numbers are exact in float32 below 2**24, in whatever order they are added, so
nothing that a head says depends on a library of linear algebra, a thread or a batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

#: States and weights are whole numbers of at most this size, each way.
MOST = 127
#: How many products of two such numbers a sum may have: 1,040 * 127 * 127 < 2**24.
MOST_TERMS = 1_040
#: How many such numbers can be added up exactly in float32.
EXACT_SUMS = 2**24 // MOST


def whole_numbers(states: Floats, middle: Floats, scale: Floats, out: Floats) -> None:
    """Write (n, dimension) states as whole numbers, `scale` of them a unit away from `middle`."""
    # In one stretch of memory: `out` may be columns of a wider table.
    numbers = states - middle
    numbers *= scale
    np.rint(numbers, out=numbers)
    np.clip(numbers, -MOST, MOST, out=out)


def of_words(
    pieces: Floats, offsets: npt.NDArray[np.int64], places: Sequence[tuple[int, int]]
) -> Floats:
    """Return (n, dimension) rounded means of the pieces of each word, by their characters.

    A word without a piece, which the encoder did not see, has zeros.
    """
    if not len(pieces) or not places:
        return np.zeros((len(places), pieces.shape[1]), np.float32)
    spans = np.array(places, dtype=np.int64)
    first = np.searchsorted(offsets[:, 1], spans[:, 0], "right")
    end = np.searchsorted(offsets[:, 0], spans[:, 1], "left")
    found: Floats = pieces[np.minimum(first, len(pieces) - 1)]
    found[end <= first] = 0
    # Most words are one piece, and most of the others two.
    (two,) = np.nonzero(end == first + 2)
    found[two] = np.rint((pieces[first[two]] + pieces[first[two] + 1]) / np.float32(2))
    for word in np.flatnonzero(end > first + 2).tolist():
        part = pieces[first[word] : end[word]]
        found[word] = np.rint(part.sum(axis=0) / np.float32(len(part)))
    return found
