"""What a head says of words or sentences: scores in whole thousandths, the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from schemas.errors import IntegrityError
from streams.reader.head_file import Head, Layer
from streams.reader.word_states import MOST, MOST_TERMS, Floats, WholeNumbers

#: Scores are rounded to this part of a unit.
PARTS = 1_000
#: A head's inner numbers are whole numbers of this part of a unit, from 0 to MOST.
INNER_PARTS = 16

# The encoder's workers are one to a core already. A product of so many terms NumPy's linear algebra
# (OpenBLAS) calculates on the caller's thread; of more, on as many threads as there are cores.
_ALONE = 262_144
# As few inputs are taken at a time as leave a product so many rows.
_ROWS = 64

# What a score is worth beside the best: a row's shares are added in whole numbers, so that a
# percentage is the same wherever it is calculated.
_SHARES = np.rint(np.exp(np.arange(0, -20 * PARTS, -1) / PARTS) * 2**30).astype(np.int64)

Scores = npt.NDArray[np.int64]


class ScoringHead:
    """A head that is ready to score.

    It sees states of `layers`, a layer after the other, and features beside them.
    """

    def __init__(self, head: Head) -> None:
        self.layers = head.layers
        self.labels = head.labels
        self._first, *self._rest = [_Matrix(layer) for layer in head.own]

    def scores(self, parts: Sequence[WholeNumbers]) -> Scores:
        """Return (n, labels) scores of rows of whole numbers; `parts`: (n, ...) what it sees."""
        found = self._first.of(parts)
        for matrix in self._rest:
            inner = np.rint(found * INNER_PARTS)
            found = matrix.of([np.clip(inner, 0, MOST).astype(np.float32)])
        return np.rint(found * PARTS).astype(np.int64)

    def likeliest(self, parts: Sequence[WholeNumbers]) -> list[tuple[str, int]]:
        """Return the label of each row with its percentage."""
        scores = self.scores(parts)
        best = scores.argmax(axis=1)
        behind = scores.max(axis=1, keepdims=True) - scores
        total = _SHARES[np.minimum(behind, len(_SHARES) - 1)].sum(axis=1)
        percent = (200 * _SHARES[0] + total) // (2 * total)
        labels = [self.labels[each] for each in best.tolist()]
        return list(zip(labels, percent.tolist(), strict=True))


class _Matrix:
    def __init__(self, layer: Layer) -> None:
        self._weights = np.ascontiguousarray(layer.weights.array())
        self._scales = layer.scales.array().astype(np.float64)
        self._bias = layer.bias.array().astype(np.float64)
        if len(self._weights) > MOST_TERMS:
            raise IntegrityError(f"a head has {len(self._weights)} inputs, more than {MOST_TERMS}")

    def of(self, parts: Sequence[WholeNumbers] | Sequence[Floats]) -> npt.NDArray[np.float64]:
        """Return parts @ weights * scales + bias, where parts stand side by side.

        The sums are of whole numbers, and exact.
        """
        total = np.zeros((len(parts[0]), len(self._bias)), np.float32)
        at = 0
        for part in parts:
            width = part.shape[1]
            _add_product(part, self._weights[at : at + width], total)
            at += width
        return total * self._scales + self._bias


def _add_product(values: WholeNumbers | Floats, weights: Floats, total: Floats) -> None:
    """Add values @ weights to `total`, calculated on this thread."""
    width, outputs = weights.shape
    pieces = next(
        pieces
        for pieces in range(1, width + 1)
        if (width % pieces == 0 and width // pieces * outputs * _ROWS <= _ALONE) or pieces == width
    )
    stacked = weights.reshape(pieces, -1, outputs)
    most = max(1, _ALONE // (width // pieces * outputs))
    for start in range(0, len(values), most):
        rows = values[start : start + most].astype(np.float32, copy=False)
        each = np.matmul(rows.reshape(len(rows), pieces, -1).transpose(1, 0, 2), stacked)
        total[start : start + most] += each.sum(axis=0)
