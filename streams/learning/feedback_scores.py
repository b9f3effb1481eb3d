"""The score of a trajectory by the feedback on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

ScoringStrategy = Literal["latest", "average", "weighted"]

#: The reflection on a trajectory is repeated if its score by feedback differs by more than this.
RELEARN_THRESHOLD = 0.3
#: The weight of the latest use in a playbook's success rate.
USE_WEIGHT = 0.3


def combined_score(scores: Sequence[float], strategy: ScoringStrategy = "latest") -> float | None:
    """Return the score by feedback, oldest first; None without feedback.

    `weighted`: the nth score counts n times, so later ones count more.
    """
    if not scores:
        return None
    if strategy == "latest":
        return scores[-1]
    if strategy == "average":
        return sum(scores) / len(scores)
    total = len(scores) * (len(scores) + 1) / 2
    return sum(place * score for place, score in enumerate(scores, 1)) / total


def needs_relearning(own: float, scores: Sequence[float]) -> bool:
    """Return whether feedback changes a trajectory's own score enough to learn from it again."""
    latest = combined_score(scores)
    # Rounded, since .7 - .4 is more than .3 in binary.
    return latest is not None and round(abs(latest - own), 9) > RELEARN_THRESHOLD


def success_rate(outcomes: Sequence[bool]) -> float | None:
    """Return the exponential moving average of uses, oldest first; None without any."""
    if not outcomes:
        return None
    rate = float(outcomes[0])
    for success in outcomes[1:]:
        rate += USE_WEIGHT * (success - rate)
    return rate
