"""Top-k selection without a full sort."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def top(scores: Floats, count: int) -> Ints:
    """Return the indices of the `count` best finite scores, best first; ties by index."""
    places = top_with_ties(scores, count)
    return places[np.argsort(-scores[places], kind="stable")][:count]


def top_with_ties(scores: Floats, count: int) -> Ints:
    """Return the indices of the `count` best finite scores and of ties with the last, ascending.

    A score that is not finite must be -inf.
    """
    if len(scores) > count:
        cut = np.partition(scores, len(scores) - count)[len(scores) - count]
        if np.isfinite(cut):
            return np.flatnonzero(scores >= cut)
    return np.flatnonzero(np.isfinite(scores))
