"""From word pieces to words: the states that heads compute with, as integers.

Integer sums are exact in any order, so a head's result does not depend on a linear algebra library,
on threads or on batches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
#: Integers from -MOST to MOST: one byte each.
WholeNumbers = npt.NDArray[np.int8]

#: States and weights are integers of at most this magnitude.
MOST = 127

assert np.iinfo(np.int8).max >= MOST


def whole_numbers(numbers: Floats, scale: Floats, out: WholeNumbers) -> None:
    """Write (n, columns) differences from `middles` as integers, `scale` of them to a unit.

    `numbers` is overwritten.
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
    """Return the (n, dimension) rounded means of the pieces of each word, by their characters.

    A word of which the encoder saw no piece has zeros. The result is written into `out`, if given.
    """
    means = np.empty((len(starts), pieces.shape[1]), np.int8) if out is None else out
    if not len(pieces):
        means[:] = 0
        return means
    first = np.searchsorted(offsets[:, 1], starts, "right")
    counts = np.searchsorted(offsets[:, 0], ends, "left") - first
    pieces.take(first, axis=0, mode="clip", out=means)
    means[counts <= 0] = 0
    # Most words are one piece.
    (long,) = np.nonzero(counts > 1)
    first, counts = first[long], counts[long]
    totals = pieces[first].astype(np.float32)
    for nth in range(1, counts.max(initial=0)):
        (longer,) = np.nonzero(counts > nth)
        totals[longer] += pieces[first[longer] + nth]
    means[long] = np.rint(totals / counts[:, None].astype(np.float32))
    return means


def means_of(states: WholeNumbers, bounds: npt.NDArray[np.int64]) -> WholeNumbers:
    """Return the (n, columns) rounded means of stretches of words; `bounds`: (n, 2) words."""
    sizes = np.maximum(bounds[:, 1] - bounds[:, 0], 1)
    totals = np.zeros((len(bounds), states.shape[1]), np.int32)
    for total, (begin, end) in zip(totals, bounds.tolist(), strict=True):
        np.add.reduce(states[begin:end], axis=0, out=total)
    # No sentence is long enough for the quotient in float32 to round to another integer.
    means = totals.astype(np.float32)
    means /= sizes[:, None].astype(np.float32)
    np.rint(means, out=means)
    return means.astype(np.int8)


def in_texts(states: WholeNumbers, counts: Sequence[int]) -> tuple[WholeNumbers, WholeNumbers]:
    """Return for each (columns,) state of a sentence those of its text and of its first sentence.

    Both are (n, columns); the first is the rounded mean. `counts`: the sentences of each text.
    """
    if not len(states):
        return states, states
    sizes = np.array([count for count in counts if count], np.int64)
    begins = np.cumsum(sizes) - sizes
    totals = np.add.reduceat(states, begins, axis=0, dtype=np.int32)
    means = np.rint(totals / sizes[:, None]).astype(np.int8)
    return np.repeat(means, sizes, axis=0), np.repeat(states[begins], sizes, axis=0)


def columns_of(
    states: WholeNumbers, layers: Sequence[int], wanted: Sequence[int]
) -> list[WholeNumbers]:
    """Return the (n, dimension) states of each wanted layer; `layers`: the layers of `states`."""
    width = states.shape[1] // len(layers)
    starts = [layers.index(layer) * width for layer in wanted]
    return [states[:, start : start + width] for start in starts]
