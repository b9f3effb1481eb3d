"""Diversity: demote results that repeat what a better one says."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def mmr(relevance: Floats, vectors: Floats, count: int, lambda_: float = 0.7) -> Ints:
    """Return up to `count` places by Maximal Marginal Relevance (Carbonell and Goldstein, 1998).

    The next place is the one with the highest `lambda_` * relevance - (1 - `lambda_`) * s, where s
    is its largest cosine similarity to a place chosen before. Relevance must be 0 to 1. A row of
    `vectors` is a unit vector, or zeros if the place has none.
    """
    remaining = np.argsort(-relevance, kind="stable")
    weighted = lambda_ * relevance.astype(np.float64)
    redundancy = np.zeros(len(relevance))
    chosen: list[int] = []
    while len(remaining) and len(chosen) < count:
        index = int(np.argmax(weighted[remaining] - (1 - lambda_) * redundancy[remaining]))
        best = int(remaining[index])
        chosen.append(best)
        remaining = np.delete(remaining, index)
        redundancy = np.maximum(redundancy, vectors @ vectors[best])
    return np.array(chosen, np.int64)
