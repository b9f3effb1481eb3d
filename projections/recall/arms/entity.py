"""The arm of who speaks and who is spoken of."""

from __future__ import annotations

import numpy as np

from projections.recall.arms.arm_scores import Said
from projections.recall.index.zone_index import Index
from projections.recall.question.parsed_question import ParsedQuestion

# Who is spoken of counts half of who speaks.
_SPOKEN_OF = 0.5


def entity(question: ParsedQuestion, index: Index) -> Said:
    """Score the turns of whom the question asks for, and, half, those about others it names.

    An entity that is asked for beside the text is named as well, though no word says so.
    """
    scores = np.zeros(len(index.turns), np.float32)
    if question.entity_turns is not None:
        scores[question.entity_turns] = _SPOKEN_OF
    for item in question.named:
        if not item.senders:
            scores[index.mentioning(item.ids)] = _SPOKEN_OF
    if question.speakers:
        scores[index.turns.of_senders(question.speakers)] = 1.0
    return Said(None, question.masked(scores))
