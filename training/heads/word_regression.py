"""Logistic regression over hashed words, fitted by Adagrad (Duchi, Hazan and Singer, 2011)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Weights = npt.NDArray[np.float64]


class Row(NamedTuple):
    """An example: its buckets, each once, its label, and the value of each bucket."""

    buckets: npt.NDArray[np.int64]
    label: bool
    values: npt.NDArray[np.float64] | float = 1.0


def fitted(rows: Sequence[Row], buckets: int, *, epochs: int, decay: float) -> Weights:
    """Return the weight of each bucket."""
    weights = np.zeros(buckets, np.float64)
    squares = np.full(buckets, 1e-3)
    chance = np.random.default_rng(1)
    for _ in range(epochs):
        for number in chance.permutation(len(rows)):
            places, label, values = rows[number]
            score = 1 / (1 + np.exp(-(weights[places] * values).sum()))
            gradient = (score - label) * values + decay * weights[places]
            squares[places] += gradient**2
            weights[places] -= 0.1 * gradient / np.sqrt(squares[places])
    return weights
