"""The arms by vectors: those of turns, and those of sentences."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from projections.recall.arms.arm_scores import Said
from projections.recall.arms.scaling import scaled
from projections.recall.index.zone_index import Index
from projections.recall.question.parsed_question import Asked

Floats = npt.NDArray[np.float32]


def semantic(asked: Asked, vector: Floats, index: Index) -> tuple[Said, float]:
    """Score turns by their vector and those around them: what a turn is about goes on there.

    Also the cosine of the nearest.
    """
    near = index.events.near(vector, asked.pool, asked.allowed if asked.filtered else None)
    places, scores = index.turns.around(near.places, scaled(near.similarity))
    scores = scaled(asked.masked(scores, places), floor=0.0)
    return Said(places, scores), float(near.similarity.max(initial=0))


def sentence(asked: Asked, vector: Floats, index: Index) -> tuple[Said, dict[str, float], float]:
    """Score turns by the vector of their best sentence, and each near fact by itself.

    Also the cosine of the nearest.
    """
    near = index.facts.near(vector, 2 * asked.pool, asked.allowed if asked.filtered else None)
    similarity = scaled(near.similarity)
    # The first of a turn is its nearest.
    places, first = np.unique(near.places, return_index=True)
    nearest = float(near.similarity.max(initial=0))
    facts = dict(zip(index.facts.ids(near), similarity.tolist(), strict=True))
    return Said(places, similarity[first]), facts, nearest
