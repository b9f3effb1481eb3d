"""The arm of the times that a question speaks of."""

from __future__ import annotations

import numpy as np

from projections.recall.arms.arm_scores import Said
from projections.recall.index.zone_index import Index
from projections.recall.question.parsed_question import ParsedQuestion

# What happened is told then, or in the week after; that counts half.
_TOLD_LATER_MS = 7 * 86_400_000

_TOLD_LATER = 0.5


def temporal(question: ParsedQuestion, index: Index) -> Said:
    """Score turns of the times that the question speaks of, and, half, those soon after."""
    at = index.turns.occurred_at
    scores = np.zeros(len(index.turns), np.float32)
    for _, last in question.spans:
        scores[(at > last) & (at <= last + _TOLD_LATER_MS)] = _TOLD_LATER
    for first, last in question.spans:
        scores[(at >= first) & (at <= last)] = 1.0
    return Said(None, question.masked(scores))
