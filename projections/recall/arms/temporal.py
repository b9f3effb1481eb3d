"""The temporal arm: turns sent within a question's time spans, or with facts about those days."""

from __future__ import annotations

import numpy as np

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.arms.arm_scores import ArmScores
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.question.times.closeness import closeness

# A time relative to an event ("before the move") is less certain than a date. With one half,
# recall@10 of questions about changes is 1.1 points higher (two LifeBench people).
_EVENT_SHARE = 0.5


def temporal(question: ParsedQuestion, index: Index, files: ZoneFiles) -> ArmScores:
    """Score turns by their closeness to the question's time spans."""
    scores = closeness(question.spans, question.utc_offset, index, files)
    if question.event is not None:
        scores *= np.float32(_EVENT_SHARE)
    return ArmScores(None, question.masked(scores))
