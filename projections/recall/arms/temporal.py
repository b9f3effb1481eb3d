"""The temporal arm: turns of the times that a question speaks of."""

from __future__ import annotations

import numpy as np

from recollect.projections.recall.arms.arm_scores import ArmScores
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion

# People write of an event when it happens, or in the week after, which counts half.
_SOON_AFTER_MS = 7 * 86_400_000

_SOON_AFTER = 0.5


def temporal(question: ParsedQuestion, index: Index) -> ArmScores:
    """Score turns of the times that the question speaks of, and, half, those soon after."""
    at = index.turns.occurred_at
    scores = np.zeros(len(index.turns), np.float32)
    for _, last in question.spans:
        scores[(at > last) & (at <= last + _SOON_AFTER_MS)] = _SOON_AFTER
    for first, last in question.spans:
        scores[(at >= first) & (at <= last)] = 1.0
    return ArmScores(None, question.masked(scores))
