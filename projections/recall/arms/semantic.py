"""The arms by vectors: those of turns, and those of sentences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.arms.arm_scores import ArmScores
from recollect.projections.recall.arms.scaling import scaled
from recollect.projections.recall.index.growable_arrays import first_of_each
from recollect.projections.recall.index.vector_index import Near
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion

Floats = npt.NDArray[np.float32]


class Nearest(NamedTuple):
    """The cosine of the nearest that an arm found, and of the nearest of a personal turn.

    `personal` None: the arm found none of a personal turn.
    """

    cosine: float
    personal: float | None


def semantic(
    question: ParsedQuestion, vector: Floats, index: Index, pool: int
) -> tuple[ArmScores, Nearest]:
    """Score turns by their vectors and those of the turns around them."""
    near = index.event_vectors.near(vector, pool, question.restricted_to)
    places, scores = index.turns.around(near.places, scaled(near.similarity))
    scores = scaled(question.masked(scores, places), floor=0.0)
    return ArmScores(places, scores), _nearest(near, index)


def sentence(
    question: ParsedQuestion, vector: Floats, index: Index, pool: int
) -> tuple[ArmScores, dict[str, float], Nearest]:
    """Score turns by the vector of their best sentence, and each near fact by itself."""
    near = index.fact_vectors.near(vector, 2 * pool, question.restricted_to)
    similarity = scaled(near.similarity)
    # The first of a turn is its nearest.
    places, first = first_of_each(near.places)
    facts = dict(zip(index.fact_vectors.ids(near), similarity.tolist(), strict=True))
    return ArmScores(places, similarity[first]), facts, _nearest(near, index)


def _nearest(near: Near, index: Index) -> Nearest:
    personal = near.similarity[index.turns.personal[near.places]]
    return Nearest(
        float(near.similarity.max(initial=0)), float(personal.max()) if len(personal) else None
    )
