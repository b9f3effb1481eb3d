"""The vector arms: over turns, and over the sentences of facts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.arms.arm_scores import ArmScores
from recollect.projections.recall.arms.scaling import min_max_scale
from recollect.projections.recall.index.arrays.growable_arrays import distinct_with_first
from recollect.projections.recall.index.vector_index import NearestTargets
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion

Floats = npt.NDArray[np.float32]


class BestCosines(NamedTuple):
    """The best cosine that an arm found, and the best among personal turns (None: none found).

    Personal turns are those that are not generic requests to an assistant.
    """

    cosine: float
    personal: float | None


def semantic(
    question: ParsedQuestion, vector: Floats, index: Index, pool: int
) -> tuple[ArmScores, BestCosines]:
    """Score turns by the cosines of their vectors, summed over the window."""
    nearest = index.event_vectors.nearest(vector, pool, question.restricted_to)
    places, scores = index.turns.window_sums(nearest.places, min_max_scale(nearest.similarity))
    scores = min_max_scale(question.masked(scores, places), floor=0.0)
    return ArmScores(places, scores), _best_cosines(nearest, index)


def sentence(
    question: ParsedQuestion, vector: Floats, index: Index, pool: int
) -> tuple[ArmScores, dict[str, float], BestCosines]:
    """Score turns by the cosine of their best fact; also return id -> score of the facts."""
    nearest = index.fact_vectors.nearest(vector, 2 * pool, question.restricted_to)
    similarity = min_max_scale(nearest.similarity)
    # `nearest` is sorted, so the first fact of a turn is its best.
    places, first = distinct_with_first(nearest.places)
    facts = dict(zip(index.fact_vectors.ids(nearest), similarity.tolist(), strict=True))
    return ArmScores(places, similarity[first]), facts, _best_cosines(nearest, index)


def _best_cosines(nearest: NearestTargets, index: Index) -> BestCosines:
    personal = nearest.similarity[index.turns.personal[nearest.places]]
    return BestCosines(
        float(nearest.similarity.max(initial=0)), float(personal.max()) if len(personal) else None
    )
