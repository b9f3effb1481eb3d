"""The scores of an arm, scaled from 0 to 1."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def min_max_scale(scores: Floats, floor: float | None = None, min_range: float = 0.0) -> Floats:
    """Return scores min-max scaled to 0..1, from `floor` where it is given; all alike gives 1.

    Scores that lie within less than `min_range` are taken for as far apart as that: then even the
    best of them gives less than 1.
    """
    if not len(scores):
        return scores.astype(np.float32)
    low = float(scores.min()) if floor is None else floor
    high = float(scores.max())
    if high <= low:
        return (scores > low if floor is not None else np.ones(len(scores))).astype(np.float32)
    apart = np.float32(max(high - low, min_range))
    return (scores / apart if low == 0 else (scores - np.float32(low)) / apart).astype(np.float32)
