"""Bit codes: the signs of a vector, one bit a dimension; near vectors differ in few of them.

Signs of a projection keep angles (Charikar, 2002). A scan counts the bits in which codes differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from projections.recall.columns import Array, Column

# Rows of a step of the scan: what it works on stays in a core's cache.
_STEP = 16_384
_BITS = 64
# Values from which the place of a cut is guessed, and where there is no need to guess.
_SAMPLE = 8_192
_FEW = 4

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Codes:
    """The codes of vectors with `dimension` values; a column for every 64 bits."""

    def __init__(self, dimension: int, columns: Mapping[str, Array] | None = None) -> None:
        self._dimension = dimension
        held = columns or {}
        self._words = [
            Column(held.get(name, np.zeros(0, np.uint64)))
            for name in (f"word{word}" for word in range(-(-dimension // _BITS)))
        ]

    def __len__(self) -> int:
        return len(self._words[0].values)

    def columns(self) -> dict[str, Array]:
        """Return everything that these are, to be given to another."""
        return {f"word{number}": word.values for number, word in enumerate(self._words)}

    def extend(self, vectors: Floats) -> None:
        """Add the codes of (n, dimension) vectors."""
        for word, bits in zip(self._words, self._coded(vectors).T, strict=True):
            word.extend(bits)

    def distance(self, vector: Floats) -> npt.NDArray[np.uint16]:
        """Return in how many bits each code differs from a vector's."""
        (query,) = self._coded(vector[None])
        distance = np.empty(len(self), np.uint16)
        differs, counted = np.empty(_STEP, np.uint64), np.empty(_STEP, np.uint8)
        words = [word.values for word in self._words]
        for start in range(0, len(self), _STEP):
            total = distance[start : start + _STEP]
            total[:] = 0
            for word, bits in zip(words, query, strict=True):
                np.bitwise_xor(word[start : start + _STEP], bits, out=differs[: len(total)])
                np.bitwise_count(differs[: len(total)], out=counted[: len(total)])
                np.add(total, counted[: len(total)], out=total)
        return distance

    def _coded(self, vectors: Floats) -> npt.NDArray[np.uint64]:
        bits = np.zeros((len(vectors), len(self._words) * _BITS), bool)
        bits[:, : self._dimension] = vectors > 0
        packed = np.packbits(bits, axis=1, bitorder="little")
        return packed.view("<u8").astype(np.uint64)


def least(values: Array, count: int) -> tuple[Ints, Any]:
    """Return the rows of the `count` least values, ascending, with all that equal the last.

    The second is that last value.
    """
    rows = np.arange(len(values)) if len(values) <= _FEW * count else _likely(values, count)
    held = values[rows]
    if len(rows) <= count:
        return rows, held.max(initial=0)
    cut = np.partition(held, count - 1)[count - 1]
    return rows[held <= cut], cut


def first_of_equals(rows: Ints, values: Array, cut: Any, count: int, places: Array) -> Ints:
    """Return `count` of the rows: of those whose value is the cut, those of the first places.

    What shares a place with the last of them is among them, so that more may come.
    """
    equal = values == cut
    wanted = count - int((~equal).sum())
    if wanted >= int(equal.sum()):
        return rows
    last = np.partition(places[equal], wanted - 1)[wanted - 1]
    first: Ints = rows[~equal | (places <= last)]
    return first


def _likely(values: Array, count: int) -> Ints:
    """Return rows that hold the `count` least values, and few others: a sample says where to cut.

    Where the sample misled, all.
    """
    step = max(1, len(values) // _SAMPLE)
    sample = values[::step]
    rank = min(2 * count // step + 16, len(sample) - 1)
    cut = np.partition(sample, rank)[rank]
    rows = np.flatnonzero(values <= cut)
    return rows if len(rows) >= count else np.arange(len(values))
