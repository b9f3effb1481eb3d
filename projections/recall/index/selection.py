"""The best of many scores, without sorting them all."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def top(scores: Floats, count: int) -> Ints:
    """Return the places of the `count` best finite scores, best first; equals in order."""
    places = top_with_ties(scores, count)
    return places[np.argsort(-scores[places], kind="stable")][:count]


def top_with_ties(scores: Floats, count: int) -> Ints:
    """Return, in order, the places of the `count` best finite scores and those that equal them.

    What is not finite is -inf.
    """
    if len(scores) > count:
        cut = np.partition(scores, len(scores) - count)[len(scores) - count]
        if np.isfinite(cut):
            return np.flatnonzero(scores >= cut)
    return np.flatnonzero(np.isfinite(scores))
