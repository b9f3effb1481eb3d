"""From the encoder's pieces to words: what heads calculate with, in whole numbers.

Their sums are exact, in whatever order they are added, so nothing that a head says depends on a
library of linear algebra, a thread or a batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
#: Whole numbers of at most MOST, each way: a byte each.
WholeNumbers = npt.NDArray[np.int8]

#: States and weights are whole numbers of at most this size, each way.
MOST = 127

assert np.iinfo(np.int8).max >= MOST


def whole_numbers(numbers: Floats, scale: Floats, out: WholeNumbers) -> None:
    """Write (n, columns) differences from middles as whole numbers, `scale` of them to a unit.

    `numbers` is written over.
    """
    numbers *= scale
    numbers.clip(-MOST, MOST, out=numbers)
    np.rint(numbers, out=out, casting="unsafe")


def of_words(
    pieces: WholeNumbers,
    offsets: npt.NDArray[np.integer],
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    out: WholeNumbers | None = None,
) -> WholeNumbers:
    """Return (n, dimension) rounded means of the pieces of each word, by their characters.

    A word without a piece, which the encoder did not see, has zeros. They are written into `out`,
    if it is given.
    """
    found = np.empty((len(starts), pieces.shape[1]), np.int8) if out is None else out
    if not len(pieces):
        found[:] = 0
        return found
    first = np.searchsorted(offsets[:, 1], starts, "right")
    counts = np.searchsorted(offsets[:, 0], ends, "left") - first
    pieces.take(first, axis=0, mode="clip", out=found)
    found[counts <= 0] = 0
    # Most words are one piece.
    (long,) = np.nonzero(counts > 1)
    first, counts = first[long], counts[long]
    totals = pieces[first].astype(np.float32)
    for nth in range(1, counts.max(initial=0)):
        (longer,) = np.nonzero(counts > nth)
        totals[longer] += pieces[first[longer] + nth]
    found[long] = np.rint(totals / counts[:, None].astype(np.float32))
    return found


def means_of(states: WholeNumbers, bounds: npt.NDArray[np.int64]) -> WholeNumbers:
    """Return (n, columns) rounded means of stretches of words; `bounds`: (n, 2) which."""
    sizes = np.maximum(bounds[:, 1] - bounds[:, 0], 1)
    totals = np.zeros((len(bounds), states.shape[1]), np.int32)
    for total, (begin, end) in zip(totals, bounds.tolist(), strict=True):
        np.add.reduce(states[begin:end], axis=0, out=total)
    # No sentence has so many words that a quotient in float32 would be another whole number.
    means = totals.astype(np.float32)
    means /= sizes[:, None].astype(np.float32)
    np.rint(means, out=means)
    return means.astype(np.int8)


def columns_of(
    states: WholeNumbers, layers: Sequence[int], wanted: Sequence[int]
) -> list[WholeNumbers]:
    """Return (n, dimension) states of each wanted layer; in `states`, `layers` are side by side."""
    width = states.shape[1] // len(layers)
    starts = [layers.index(layer) * width for layer in wanted]
    return [states[:, start : start + width] for start in starts]
