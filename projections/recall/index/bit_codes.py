"""Bit codes: the signs of a vector, one bit a dimension; near vectors differ in few of them.

Signs of a projection keep angles (Charikar, 2002). A scan counts the bits in which codes differ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.growable_arrays import Array, GrowableArray, nonzero

# Rows scanned at a time: with fewer, calls cost more; more do not fit a processor's cache.
_STEP = 32_768
_BITS = 64
# Where there are more values than this, a sample estimates the cut first.
_SAMPLE = 8_192

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class BitCodes:
    """The codes of vectors with `dimension` values: a row for every 64 bits, a column for each."""

    def __init__(self, dimension: int, columns: Mapping[str, Array] | None = None) -> None:
        self._dimension = dimension
        held = columns or {}
        nothing = np.zeros((-(-dimension // _BITS), 0), np.uint64)
        self._words = GrowableArray(held.get("words", nothing))

    def __len__(self) -> int:
        return int(self._words.values.shape[1])

    @property
    def out_of_range(self) -> int:
        """A distance larger than that of any code."""
        return self._dimension + 1

    def columns(self) -> dict[str, Array]:
        """Return all arrays by name, to be stored."""
        return {"words": self._words.values}

    def extend(self, vectors: Array) -> None:
        """Add the codes of (n, dimension) vectors of any type of number."""
        self._words.extend(self._encode(vectors).T)

    def keep(self, kept: Mask) -> None:
        """Keep only the codes of vectors that a mask marks."""
        self._words.keep(kept)

    def distance(self, vector: Floats) -> npt.NDArray[np.uint16]:
        """Return in how many bits each code differs from that of a vector."""
        query = self._encode(vector[None]).T
        words = self._words.values
        count, step = len(self), min(len(self), _STEP)
        distance = np.empty(count, np.uint16)
        differs, counted = (np.empty((len(words), step), kind) for kind in (np.uint64, np.uint8))
        pairs = len(words) // 2
        for start in range(0, count, _STEP):
            total = distance[start : start + _STEP]
            width = len(total)
            np.bitwise_xor(words[:, start : start + width], query, out=differs[:, :width])
            np.bitwise_count(differs[:, :width], out=counted[:, :width])
            # The counts of two words fit into a byte; more are added in two bytes.
            some, rest = counted[:pairs, :width], counted[2 * pairs :, :width]
            np.add(some, counted[pairs : 2 * pairs, :width], out=some)
            total[:] = 0
            for part in (*some, *rest):
                np.add(total, part, out=total)
        return distance

    def _encode(self, vectors: Array) -> npt.NDArray[np.uint64]:
        packed = np.packbits(vectors > 0, axis=1, bitorder="little")
        missing = len(self._words.values) * _BITS // 8 - packed.shape[1]
        if missing:
            packed = np.pad(packed, ((0, 0), (0, missing)))
        return packed.view("<u8").astype(np.uint64)


def smallest(values: npt.NDArray[np.uint16], count: int) -> tuple[Ints, int]:
    """Return the rows of the `count` smallest values, ascending, with all that equal the last.

    The second is that last value. Values are small, such as distances.
    """
    if len(values) > _SAMPLE and (rows := _probable_smallest(values, count)) is not None:
        held = values[rows]
        cut = _nth_smallest(held, count)
        return rows[held <= cut], cut
    cut = _nth_smallest(values, count)
    return nonzero(values <= cut), cut


def break_ties(rows: Ints, values: Array, cut: Any, count: int, places: Array) -> Ints:
    """Return `count` of the rows: of those whose value is the cut, the ones of the first places.

    Those that share a place with the last of them are included, so there may be more.
    """
    equal = values == cut
    wanted = count - int((~equal).sum())
    if wanted >= int(equal.sum()):
        return rows
    last = np.partition(places[equal], wanted - 1)[wanted - 1]
    first: Ints = rows[~equal | (places <= last)]
    return first


def _nth_smallest(values: npt.NDArray[np.uint16], count: int) -> int:
    """Return the last of the `count` smallest values; of fewer, the last."""
    if not len(values):
        return 0
    upto = np.cumsum(np.bincount(values))
    return int(np.searchsorted(upto, min(count, len(values))))


def _probable_smallest(values: npt.NDArray[np.uint16], count: int) -> Ints | None:
    """Return rows with the `count` smallest values and few others, cut where a sample suggests.

    None where the sample gave too few.
    """
    step = len(values) // _SAMPLE + 1
    expected = count / step
    # Four standard deviations more than are expected among the sample.
    rank = math.ceil(expected + 4 * math.sqrt(expected) + 4)
    rows = nonzero(values <= _nth_smallest(values[::step], rank))
    return rows if len(rows) >= count else None
