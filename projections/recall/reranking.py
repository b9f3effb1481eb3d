"""Reranking (B5): a model that reads question and text together judges the best candidates again.

Where none is configured, several signals do: the arms, late interaction among them, as the
profile weighs them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from projections.events import recalls as events
from projections.files import ZoneFiles
from projections.recall.index import Index
from projections.recall.profiles import Profile

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


def judged(
    scores: Floats, best: Ints, *, judge: Judge, profile: Profile, index: Index, files: ZoneFiles
) -> Floats:
    """Return the scores of turns with those of the first of `best` as they were judged."""
    if not len(best):
        return scores
    numbers = [int(index.turns.numbers[place]) for place in best[: profile.reranked]]
    said = events.said(files.events.connection, numbers)
    texts = [f"{said[number].speaker}: {said[number].text}" for number in numbers]
    return reranked(scores, best, judge(texts))
