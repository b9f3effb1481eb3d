"""The temporal arm: turns within the time spans of a question."""

from __future__ import annotations

import numpy as np

from recollect.projections.recall.arms.arm_scores import ArmScores
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion

# Events are also reported in the week after; such turns score half.
_AFTERMATH_MS = 7 * 86_400_000
_AFTERMATH_SCORE = 0.5


def temporal(question: ParsedQuestion, index: Index) -> ArmScores:
    """Score turns in the question's time spans 1, and turns of the week after 0.5."""
    at = index.turns.occurred_at
    scores = np.zeros(len(index.turns), np.float32)
    for _, last in question.spans:
        scores[(at > last) & (at <= last + _AFTERMATH_MS)] = _AFTERMATH_SCORE
    for first, last in question.spans:
        scores[(at >= first) & (at <= last)] = 1.0
    return ArmScores(None, question.masked(scores))
