"""Bit codes: one sign bit per dimension, compared by Hamming distance.

The signs of a random projection estimate angles (Charikar, 2002).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.arrays.growable_arrays import Array, GrowableArray, nonzero

# Codes scanned at a time. Fewer cost more calls; more do not fit into the processor's cache.
_BATCH = 32_768
_BITS = 64
# With more values than this, the largest value to select is first estimated from a sample.
_SAMPLE_SIZE = 8_192

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class BitCodes:
    """The bit codes of vectors with `dimension` values: a row per 64 bits, a column per vector."""

    def __init__(self, dimension: int, columns: Mapping[str, Array] | None = None) -> None:
        self._dimension = dimension
        stored = columns or {}
        empty = np.zeros((-(-dimension // _BITS), 0), np.uint64)
        self._words = GrowableArray(stored.get("words", empty))

    def __len__(self) -> int:
        return int(self._words.values.shape[1])

    @property
    def out_of_range(self) -> int:
        """A value larger than any Hamming distance."""
        return self._dimension + 1

    def columns(self) -> dict[str, Array]:
        """Return all arrays by name, for storing."""
        return {"words": self._words.values}

    def extend(self, vectors: Array) -> None:
        """Add the codes of (n, dimension) vectors of any numeric type."""
        self._words.extend(self._encode(vectors).T)

    def keep(self, kept: Mask) -> None:
        """Keep only the codes selected by a mask."""
        self._words.keep(kept)

    def distance(self, vector: Floats) -> npt.NDArray[np.uint16]:
        """Return the Hamming distance of each code to the code of a vector."""
        query = self._encode(vector[None]).T
        words = self._words.values
        count, batch = len(self), min(len(self), _BATCH)
        distance = np.empty(count, np.uint16)
        differs, counted = (np.empty((len(words), batch), kind) for kind in (np.uint64, np.uint8))
        pairs = len(words) // 2
        for start in range(0, count, _BATCH):
            total = distance[start : start + _BATCH]
            width = len(total)
            np.bitwise_xor(words[:, start : start + width], query, out=differs[:, :width])
            np.bitwise_count(differs[:, :width], out=counted[:, :width])
            # The counts of two words add up within a byte; the totals need two bytes.
            pair_sums, remainder = counted[:pairs, :width], counted[2 * pairs :, :width]
            np.add(pair_sums, counted[pairs : 2 * pairs, :width], out=pair_sums)
            total[:] = 0
            for part in (*pair_sums, *remainder):
                np.add(total, part, out=total)
        return distance

    def _encode(self, vectors: Array) -> npt.NDArray[np.uint64]:
        packed = np.packbits(vectors > 0, axis=1, bitorder="little")
        missing = len(self._words.values) * _BITS // 8 - packed.shape[1]
        if missing:
            packed = np.pad(packed, ((0, 0), (0, missing)))
        return packed.view("<u8").astype(np.uint64)


def smallest(values: npt.NDArray[np.uint16], count: int) -> tuple[Ints, int]:
    """Return the positions of the `count` smallest values, and the largest of these values.

    Positions that tie with the largest are included. Positions ascend. Values must be small, such
    as Hamming distances.
    """
    if len(values) > _SAMPLE_SIZE and (positions := _probable_smallest(values, count)) is not None:
        sampled = values[positions]
        cut = _nth_smallest(sampled, count)
        return positions[sampled <= cut], cut
    cut = _nth_smallest(values, count)
    return nonzero(values <= cut), cut


def break_ties(positions: Ints, values: Array, cut: Any, count: int, places: Array) -> Ints:
    """Return `count` of the positions, preferring the lowest places where the value is `cut`.

    Positions that share a place with the last of these are included, so there may be more.
    """
    tied = values == cut
    needed = count - int((~tied).sum())
    if needed >= int(tied.sum()):
        return positions
    last = np.partition(places[tied], needed - 1)[needed - 1]
    kept: Ints = positions[~tied | (places <= last)]
    return kept


def _nth_smallest(values: npt.NDArray[np.uint16], count: int) -> int:
    """Return the `count`-th smallest value; the largest if there are fewer values."""
    if not len(values):
        return 0
    cumulative = np.cumsum(np.bincount(values))
    return int(np.searchsorted(cumulative, min(count, len(values))))


def _probable_smallest(values: npt.NDArray[np.uint16], count: int) -> Ints | None:
    """Return positions with the `count` smallest values and few others; None if there are too few.

    The largest value to select is estimated from a sample, and the estimate may be too low.
    """
    step = len(values) // _SAMPLE_SIZE + 1
    expected = count / step
    # Four standard deviations above the expected number within the sample.
    rank = math.ceil(expected + 4 * math.sqrt(expected) + 4)
    positions = nonzero(values <= _nth_smallest(values[::step], rank))
    return positions if len(positions) >= count else None
