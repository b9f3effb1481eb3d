"""Fusion and diversity: how ranked candidates of several arms become one list."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


def ranks(scores: Mapping[Item, float]) -> dict[Item, int]:
    """Return each item's rank, from 1; equal scores keep the order in which they came."""
    ordered = sorted(scores, key=lambda item: -scores[item])
    return {item: rank for rank, item in enumerate(ordered, 1)}


def rrf(arms: Sequence[Mapping[Item, float]], k: int = 60) -> dict[Item, float]:
    """Return Reciprocal Rank Fusion: the sum of 1 / (k + rank) (Cormack et al., 2009)."""
    fused: dict[Item, float] = {}
    for scores in arms:
        for item, rank in ranks(scores).items():
            fused[item] = fused.get(item, 0.0) + 1.0 / (k + rank)
    return fused


def min_max(scores: Mapping[Item, float]) -> dict[Item, float]:
    """Return scores scaled to 0..1; all alike gives 1."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high <= low:
        return dict.fromkeys(scores, 1.0)
    return {item: (score - low) / (high - low) for item, score in scores.items()}


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
