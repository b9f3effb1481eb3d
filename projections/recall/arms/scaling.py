"""Min-max scaling of arm scores."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def min_max_scale(scores: Floats, floor: float | None = None, min_range: float = 0.0) -> Floats:
    """Return scores min-max scaled to 0..1; with `floor`, that value becomes 0.

    Equal scores become 1; with `floor`, they become 0 if they do not exceed it. A range smaller
    than `min_range` counts as `min_range`, so the best of nearly equal scores stays below 1.
    """
    if not len(scores):
        return scores.astype(np.float32)
    low = float(scores.min()) if floor is None else floor
    high = float(scores.max())
    if high <= low:
        return (scores > low if floor is not None else np.ones(len(scores))).astype(np.float32)
    width = np.float32(max(high - low, min_range))
    return (scores / width if low == 0 else (scores - np.float32(low)) / width).astype(np.float32)
