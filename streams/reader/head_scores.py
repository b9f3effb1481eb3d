"""A head's scores for words or sentences, in integer thousandths, identical on all machines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from recollect.schemas.errors import IntegrityError
from recollect.streams.reader.head_file import Head, Layer
from recollect.streams.reader.whole_products import WholeProducts
from recollect.streams.reader.words.word_states import MOST, WholeNumbers

#: Scores are rounded to this fraction of a unit.
PARTS = 1_000
#: A head's hidden values are integers in this fraction of a unit, from 0 to MOST.
INNER_PARTS = 16

# Rows per block: the intermediate results of this many fit in a core's own cache.
_ROWS = 1_024

# The share of a score, by its distance from the best one. Shares are summed as integers, so that
# percentages are the same on every machine.
_SHARES = np.rint(np.exp(np.arange(0, -20 * PARTS, -1) / PARTS) * 2**30).astype(np.int64)

Scores = npt.NDArray[np.int64]


class ScoringHead:
    """A head that is ready to score.

    Its input is the states of `layers`, one layer after the other, followed by the features:
    `width` columns.
    """

    def __init__(self, head: Head) -> None:
        self.layers = head.layers
        self.labels = head.labels
        self.width = head.own[0].weights.array().shape[0]
        self._first, *self._rest = [_Matrix(layer) for layer in head.own]

    def scores(self, parts: Sequence[WholeNumbers]) -> Scores:
        """Return the (n, labels) scores of integer rows; `parts`: (n, ...) arrays, side by side."""
        scores = np.empty((len(parts[0]), len(self.labels)), np.int64)
        for start in range(0, len(scores), _ROWS):
            rows = slice(start, start + _ROWS)
            block_scores = self._first.of([part[rows] for part in parts])
            for matrix in self._rest:
                block_scores *= INNER_PARTS
                inner = (
                    np.rint(block_scores, out=block_scores)
                    .clip(0, MOST, out=block_scores)
                    .astype(np.int8)
                )
                block_scores = matrix.of([inner])
            block_scores *= PARTS
            scores[rows] = np.rint(block_scores, out=block_scores)
        return scores


def percentages(scores: Scores, labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the percentage of one label per row; `labels`: (n,) indices of the labels."""
    most = scores.max(axis=1, keepdims=True)
    shares = _SHARES[np.minimum(most - scores, len(_SHARES) - 1)]
    total = shares.sum(axis=1)
    own = np.take_along_axis(shares, labels[:, None], axis=1)[:, 0]
    found: npt.NDArray[np.int64] = (200 * own + total) // (2 * total)
    return found


def label_shares(scores: Scores) -> Scores:
    """Return the (n, labels) softmax of the scores, in percent."""
    behind = scores.max(axis=1, keepdims=True) - scores
    shares = _SHARES[np.minimum(behind, len(_SHARES) - 1)]
    total = shares.sum(axis=1, keepdims=True)
    percent: Scores = (200 * shares + total) // (2 * total)
    return percent


class _Matrix:
    def __init__(self, layer: Layer) -> None:
        if layer.weights.type != np.dtype(np.int8).str:
            raise IntegrityError(
                f"a classifier has weights of type {layer.weights.type}, not bytes; install "
                "another reader file"
            )
        self._products = WholeProducts(layer.weights.array().astype(np.int8))
        self._scales = layer.scales.array().astype(np.float64)
        self._bias = layer.bias.array().astype(np.float64)

    def of(self, parts: Sequence[WholeNumbers]) -> npt.NDArray[np.float64]:
        """Return parts @ weights * scales + bias, where parts are side by side."""
        found = self._products.of(parts) * self._scales
        found += self._bias
        return found
