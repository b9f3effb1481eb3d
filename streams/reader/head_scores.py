"""What a head says of words or sentences: scores in whole thousandths, the same everywhere."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from schemas.errors import IntegrityError
from streams.reader.head_file import Head, Layer
from streams.reader.word_states import MOST, MOST_TERMS, Floats

#: Scores are rounded to this part of a unit.
PARTS = 1_000
#: A head's inner numbers are whole numbers of this part of a unit, from 0 to MOST.
INNER_PARTS = 16

# The encoder's workers are one to a core already. A product of so many terms NumPy's linear algebra
# (OpenBLAS) calculates on the caller's thread; of more, on as many threads as there are cores.
_ALONE = 262_144

Scores = npt.NDArray[np.int64]


class ScoringHead:
    """A head that is ready to score."""

    def __init__(self, head: Head) -> None:
        self.layers = head.layers
        self.labels = head.labels
        self._own = [_Matrix(layer) for layer in head.own]

    def scores(self, rows: Floats) -> Scores:
        """Return (n, labels) scores of rows of whole numbers."""
        values = rows
        for matrix in self._own[:-1]:
            inner = np.rint(matrix.of(values) * INNER_PARTS)
            values = np.clip(inner, 0, MOST).astype(np.float32)
        return np.rint(self._own[-1].of(values) * PARTS).astype(np.int64)


class _Matrix:
    def __init__(self, layer: Layer) -> None:
        self._weights = np.ascontiguousarray(layer.weights.array())
        self._scales = layer.scales.array().astype(np.float64)
        self._bias = layer.bias.array().astype(np.float64)
        if len(self._weights) > MOST_TERMS:
            raise IntegrityError(f"a head has {len(self._weights)} inputs, more than {MOST_TERMS}")
        self._rows = max(1, _ALONE // self._weights.size)

    def of(self, values: Floats) -> npt.NDArray[np.float64]:
        """Return values @ weights * scales + bias; the sums are of whole numbers, and exact."""
        total = np.empty((len(values), len(self._bias)), np.float32)
        for start in range(0, len(values), self._rows):
            rows = slice(start, start + self._rows)
            np.matmul(values[rows], self._weights, out=total[rows])
        return total * self._scales + self._bias
