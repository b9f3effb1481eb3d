"""Reranking (B5): a model that reads question and text together judges the best candidates again.

Without one, the order is that of the arms, late interaction among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.ranking.profiles import Profile

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: Returns for each text how well it answers a question, 0 to 1.
Reranker = Callable[[str, Sequence[str]], Floats]
#: The same of one question.
Judge = Callable[[Sequence[str]], Floats]


def reranked(scores: Floats, judged: Floats) -> Floats:
    """Return scores, best first, with the first of them as they were judged.

    What was not judged comes after them.
    """
    rest = np.minimum(scores[len(judged) :], judged.min(initial=1.0))
    return np.concatenate((judged, rest)).astype(np.float32)


def judged(scores: Floats, best: Ints, *, judge: Judge, profile: Profile, index: Index) -> Floats:
    """Return the scores of the turns `best`, the first of them as they were judged."""
    if not len(best):
        return scores
    numbers = [int(index.turns.numbers[place]) for place in best[: profile.reranked]]
    said = index.event_texts.of(numbers)
    texts = [f"{said[number].speaker}: {said[number].text}" for number in numbers]
    return reranked(scores, judge(texts))
