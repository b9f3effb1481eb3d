"""The arms by vectors: those of turns, and those of sentences."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from projections.recall.arms.arm_scores import ArmScores
from projections.recall.arms.scaling import scaled
from projections.recall.index.zone_index import Index
from projections.recall.question.parsed_question import ParsedQuestion

Floats = npt.NDArray[np.float32]


def semantic(
    question: ParsedQuestion, vector: Floats, index: Index, pool: int
) -> tuple[ArmScores, float]:
    """Score turns by their vectors and those of the turns around them.

    Also the cosine of the nearest.
    """
    near = index.event_vectors.near(vector, pool, question.restricted_to)
    places, scores = index.turns.around(near.places, scaled(near.similarity))
    scores = scaled(question.masked(scores, places), floor=0.0)
    return ArmScores(places, scores), float(near.similarity.max(initial=0))


def sentence(
    question: ParsedQuestion, vector: Floats, index: Index, pool: int
) -> tuple[ArmScores, dict[str, float], float]:
    """Score turns by the vector of their best sentence, and each near fact by itself.

    Also the cosine of the nearest.
    """
    near = index.fact_vectors.near(vector, 2 * pool, question.restricted_to)
    similarity = scaled(near.similarity)
    # The first of a turn is its nearest.
    places, first = np.unique(near.places, return_index=True)
    nearest = float(near.similarity.max(initial=0))
    facts = dict(zip(index.fact_vectors.ids(near), similarity.tolist(), strict=True))
    return ArmScores(places, similarity[first]), facts, nearest
