"""Reranking (B5): a model that reads question and text together judges the best candidates again.

Where none is configured, several signals do: the arms, late interaction among them, as the
profile weighs them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: Returns for each text how well it answers a question, 0 to 1.
Reranker = Callable[[str, Sequence[str]], Floats]
#: The same of one question.
Judge = Callable[[Sequence[str]], Floats]


def reranked(scores: Floats, best: Ints, judged: Floats) -> Floats:
    """Return the scores with those of the first of `best` as they were judged.

    `best` are places, best first. What was not judged comes after what was.
    """
    again = scores.copy()
    again[best[: len(judged)]] = judged
    rest = best[len(judged) :]
    again[rest] = np.minimum(again[rest], judged.min(initial=1.0))
    return again
