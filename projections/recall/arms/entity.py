"""The entity arm: turns by those whom the question asks for, and turns about those it names."""

from __future__ import annotations

import numpy as np

from recollect.projections.recall.arms.arm_scores import ArmScores
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion

# A turn that mentions somebody counts half as much as a turn that they wrote.
_MENTIONED = 0.5


def entity(question: ParsedQuestion, index: Index) -> ArmScores:
    """Score the turns of the speakers that are asked for, and by half those about other entities.

    These are the ones that the text names, and the one that the query's `entity` does.
    """
    scores = np.zeros(len(index.turns), np.float32)
    if question.entity_turns is not None:
        scores[question.entity_turns] = _MENTIONED
    for item in question.named:
        if not item.senders:
            scores[index.mentioning(item.ids)] = _MENTIONED
    if question.speakers:
        scores[index.turns.sender_mask(question.speakers)] = 1.0
    return ArmScores(None, question.masked(scores))
