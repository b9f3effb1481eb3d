"""Diversity: what says again what a better result says comes later."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def mmr(relevance: Floats, vectors: Floats, count: int, lambda_: float = 0.7) -> Ints:
    """Return up to `count` places by Maximal Marginal Relevance (Carbonell and Goldstein, 1998).

    A place is worth `lambda_` times its relevance less (1 - `lambda_`) times its cosine
    similarity to the nearest place that was chosen before. Relevance must be 0 to 1, as
    similarities are; a row of `vectors` is a unit vector, or zeros where nothing is known.
    """
    left = np.argsort(-relevance, kind="stable")
    worth = lambda_ * relevance.astype(np.float64)
    nearest = np.zeros(len(relevance))
    chosen: list[int] = []
    while len(left) and len(chosen) < count:
        index = int(np.argmax(worth[left] - (1 - lambda_) * nearest[left]))
        best = int(left[index])
        chosen.append(best)
        left = np.delete(left, index)
        nearest = np.maximum(nearest, vectors @ vectors[best])
    return np.array(chosen, np.int64)
