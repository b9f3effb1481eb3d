"""How likely it is that the zone has an answer: with it, a score means the same in every answer.

Ranking compares turns with one another, so the best scores high even where nothing answers. The
best value of an arm before it is scaled shows the difference: each kind of evidence below has a
middle, at which an answer is as likely as not, and a slope. The log-odds are averaged over the
kinds that there are, since they measure much the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

#: (middle, slope) of each kind: the idf-weighted mean of the best turn's cosines by word, the
#: cosine of the nearest turn or sentence, and the share of the question's words, by idf, near one
#: turn. Logistic regression, each by itself, of LoCoMo's dev questions against those of other
#: conversations with the names exchanged, which come as close as unanswerable questions do.
LOGISTIC = {"late": (0.56, 12.0), "cosine": (0.485, 14.9), "keyword": (0.58, 5.5)}


def relevance(evidence: Mapping[str, float]) -> float:
    """Return the probability, 0 to 1, that there is an answer, given the best of each kind.

    Half of all questions are assumed to have an answer. Without evidence, which only the arms that
    read give, it is 1.
    """
    if not evidence:
        return 1.0
    odds = [
        slope * (evidence[kind] - middle)
        for kind, (middle, slope) in LOGISTIC.items()
        if kind in evidence
    ]
    return 1 / (1 + math.exp(-sum(odds) / len(odds)))
