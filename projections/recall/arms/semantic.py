"""The arms by vectors: those of turns, and those of sentences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.arms.arm_scores import ArmScores
from recollect.projections.recall.arms.scaling import min_max_scale
from recollect.projections.recall.index.growable_arrays import distinct_with_first
from recollect.projections.recall.index.vector_index import NearestTargets
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion

Floats = npt.NDArray[np.float32]


class BestCosines(NamedTuple):
    """The cosine of the nearest that an arm found, and of the nearest of a personal turn.

    `personal` None: the arm found none of a personal turn.
    """

    cosine: float
    personal: float | None


def semantic(
    question: ParsedQuestion, vector: Floats, index: Index, pool: int
) -> tuple[ArmScores, BestCosines]:
    """Score turns by their vectors and those of the turns around them."""
    near = index.event_vectors.nearest(vector, pool, question.restricted_to)
    places, scores = index.turns.window_sums(near.places, min_max_scale(near.similarity))
    scores = min_max_scale(question.masked(scores, places), floor=0.0)
    return ArmScores(places, scores), _best_cosines(near, index)


def sentence(
    question: ParsedQuestion, vector: Floats, index: Index, pool: int
) -> tuple[ArmScores, dict[str, float], BestCosines]:
    """Score turns by the vector of their best sentence, and each near fact by itself."""
    near = index.fact_vectors.nearest(vector, 2 * pool, question.restricted_to)
    similarity = min_max_scale(near.similarity)
    # The first of a turn is its nearest.
    places, first = distinct_with_first(near.places)
    facts = dict(zip(index.fact_vectors.ids(near), similarity.tolist(), strict=True))
    return ArmScores(places, similarity[first]), facts, _best_cosines(near, index)


def _best_cosines(near: NearestTargets, index: Index) -> BestCosines:
    personal = near.similarity[index.turns.personal[near.places]]
    return BestCosines(
        float(near.similarity.max(initial=0)), float(personal.max()) if len(personal) else None
    )
