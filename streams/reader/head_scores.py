"""What a head says of words or sentences: scores in whole thousandths, the same everywhere."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from streams.reader.head_file import Head, Layer
from streams.reader.word_states import MOST, MOST_TERMS, Floats

#: Scores are rounded to this part of a unit.
PARTS = 1_000
#: A head's inner numbers are whole numbers of this part of a unit, from 0 to MOST.
INNER_PARTS = 16

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

    def of(self, values: Floats) -> npt.NDArray[np.float64]:
        """Return values @ weights * scales + bias; the sums are of whole numbers, and exact."""
        total = np.zeros((len(values), len(self._bias)), np.float64)
        for start in range(0, len(self._weights), MOST_TERMS):
            part = slice(start, start + MOST_TERMS)
            total += values[:, part] @ self._weights[part]
        return total * self._scales + self._bias
