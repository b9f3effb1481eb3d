"""The entity arm: turns by speakers that the question asks for, and turns about named entities."""

from __future__ import annotations

import numpy as np

from recollect.projections.recall.arms.arm_scores import ArmScores
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion

# The score of a turn that mentions an entity, relative to a turn by one of the question's speakers.
_MENTION_SCORE = 0.5


def entity(question: ParsedQuestion, index: Index) -> ArmScores:
    """Score turns by the question's speakers with 1, and turns about other named entities with 0.5.

    Named entities are those in the text of the question, and the query's `entity`.
    """
    scores = np.zeros(len(index.turns), np.float32)
    if question.entity_turns is not None:
        scores[question.entity_turns] = _MENTION_SCORE
    for item in question.topic.named:
        if not item.senders:
            scores[index.mentioning(item.ids)] = _MENTION_SCORE
    if question.speakers:
        scores[index.turns.sender_mask(question.speakers)] = 1.0
    return ArmScores(None, question.masked(scores))
