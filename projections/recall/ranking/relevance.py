"""The probability that the zone has an answer, which makes scores comparable between answers.

Ranking only compares turns with each other, so the best one scores high even if none is an answer.
The best raw score of an arm shows the difference: each kind of evidence below has a midpoint, at
which the probability of an answer is one half, and a slope. The log-odds of the available kinds are
averaged, since they measure nearly the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

#: (midpoint, slope) of each kind: the idf-weighted mean token cosine of the best turn; the cosine
#: of the nearest turn or sentence; the idf-weighted share of the question's terms in the window of
#: one turn. Each was fitted by a logistic regression of LoCoMo's dev questions against questions of
#: other conversations with the names exchanged, which score about as high as unanswerable ones.
LOGISTIC = {"late": (0.56, 12.0), "cosine": (0.485, 14.9), "keyword": (0.58, 5.5)}


def relevance(evidence: Mapping[str, float]) -> float:
    """Return the probability, 0 to 1, of an answer, given the best raw score of each kind.

    Half of all questions are assumed to have an answer. If there is no evidence, because no text
    arm ran, it is 1.
    """
    if not evidence:
        return 1.0
    log_odds = [
        slope * (evidence[kind] - midpoint)
        for kind, (midpoint, slope) in LOGISTIC.items()
        if kind in evidence
    ]
    return 1 / (1 + math.exp(-sum(log_odds) / len(log_odds)))
