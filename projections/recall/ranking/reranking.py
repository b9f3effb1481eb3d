"""Reranking: a cross-encoder, which reads question and text together, rescores the best texts.

Without a reranker, the fused order of the arms is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.ranking.profiles import Profile

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: (question, texts) -> how well each text answers the question, 0 to 1.
Reranker = Callable[[str, Sequence[str]], Floats]
#: A reranker for one question: texts -> scores.
TextScorer = Callable[[Sequence[str]], Floats]


def with_reranked(scores: Floats, reranked: Floats) -> Floats:
    """Replace the first scores by `reranked`; `scores` are best first.

    The other scores are capped at the lowest of `reranked`, so that they stay behind.
    """
    others = np.minimum(scores[len(reranked) :], reranked.min(initial=1.0))
    return np.concatenate((reranked, others)).astype(np.float32)


def rerank_turns(
    scores: Floats, places: Ints, *, scorer: TextScorer, profile: Profile, index: Index
) -> Floats:
    """Rescore the first turns by the reranker; return the new scores. `scores` are best first."""
    if not len(places):
        return scores
    numbers = [int(index.turns.numbers[place]) for place in places[: profile.rerank_limit]]
    turns = index.event_texts.of(numbers)
    texts = [f"{turns[number].speaker}: {turns[number].text}" for number in numbers]
    return with_reranked(scores, scorer(texts))
