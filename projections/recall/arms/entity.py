"""The arm of who speaks and who is spoken of."""

from __future__ import annotations

import numpy as np

from projections.recall.arms.arm_scores import Said
from projections.recall.index.zone_index import Index
from projections.recall.question.parsed_question import Asked

# Who is spoken of counts half of who speaks.
_SPOKEN_OF = 0.5


def entity(asked: Asked, index: Index) -> Said:
    """Score the turns of whom the question asks for, and, half, those about others it names.

    An entity that is asked for beside the text is named as well, though no word says so.
    """
    scores = np.zeros(len(index.turns), np.float32)
    if asked.about is not None:
        scores[asked.about] = _SPOKEN_OF
    for item in asked.named:
        if not item.senders:
            scores[index.mentioning(item.ids)] = _SPOKEN_OF
    if asked.voices:
        scores[index.turns.of_senders(asked.voices)] = 1.0
    return Said(None, asked.masked(scores))
