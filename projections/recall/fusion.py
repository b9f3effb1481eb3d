"""Fusion and diversity: how ranked candidates of several arms become one list."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Item = TypeVar("Item", bound=Hashable)


def scaled(scores: Floats, floor: float | None = None) -> Floats:
    """Return scores min-max scaled to 0..1, from `floor` where it is given; all alike gives 1."""
    if not len(scores):
        return scores.astype(np.float32)
    low = float(scores.min()) if floor is None else floor
    high = float(scores.max())
    if high <= low:
        return (scores > low if floor is not None else np.ones(len(scores))).astype(np.float32)
    return ((scores - low) / (high - low)).astype(np.float32)


def rrf(arms: Iterable[Floats], k: int = 60) -> Floats:
    """Return Reciprocal Rank Fusion: the sum of 1 / (k + rank) (Cormack et al., 2009).

    Each arm scores every place; 0 means that it did not find it. Equal scores are ranked in
    order.
    """
    fused: Floats | None = None
    for scores in arms:
        rank = np.empty(len(scores), np.float32)
        rank[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        share = np.where(scores > 0, 1.0 / (k + rank), 0).astype(np.float32)
        fused = share if fused is None else fused + share
    return np.zeros(0, np.float32) if fused is None else fused


def weighted(arms: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """Return the weighted mean of scaled arms."""
    total = sum(weights[name] for name in arms)
    shares = [weights[name] / total * scores for name, scores in arms.items()]
    mean: Floats = np.sum(shares, axis=0, dtype=np.float32)
    return mean


def mmr(
    relevance: Mapping[Item, float],
    similarity: Callable[[Item, Item], float],
    count: int,
    lambda_: float = 0.7,
) -> list[Item]:
    """Return up to `count` items by Maximal Marginal Relevance (Carbonell and Goldstein, 1998).

    Relevance must be 0 to 1, as similarities are.
    """
    left = sorted(relevance, key=lambda item: -relevance[item])
    worst = dict.fromkeys(left, 0.0)
    chosen: list[Item] = []
    while left and len(chosen) < count:
        best = max(left, key=lambda item: lambda_ * relevance[item] - (1 - lambda_) * worst[item])
        left.remove(best)
        chosen.append(best)
        for item in left:
            worst[item] = max(worst[item], similarity(item, best))
    return chosen
