"""Fusion: combine the scores of several arms into one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


def rrf(arms: Iterable[Floats], k: int = 60) -> Floats:
    """Return Reciprocal Rank Fusion: the sum of 1 / (k + rank) (Cormack et al., 2009).

    Each arm scores every place; 0 means not found. Ties are ranked in order of place.
    """
    fused: Floats | None = None
    for scores in arms:
        rank = np.empty(len(scores), np.float32)
        rank[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        reciprocal = np.where(scores > 0, 1.0 / (k + rank), 0).astype(np.float32)
        fused = reciprocal if fused is None else fused + reciprocal
    return np.zeros(0, np.float32) if fused is None else fused


def weighted_sum(
    arms: Mapping[str, Floats],
    weights: Mapping[str, float],
    text_arms: Set[str] = frozenset(),
    unread: Mapping[str, Mask] = MappingProxyType({}),
    bonus_arms: Set[str] = frozenset(),
) -> Floats:
    """Return the weighted mean of the arms' scores, plus the weighted scores of `bonus_arms`.

    If one of `text_arms` did not run, or could not read a place (`unread`, by arm), its weight is
    distributed over the other text arms. So a place is not penalised because an arm could not read
    it, and the weights of the other arms stay the same.
    """
    scores = np.array(list(arms.values()), np.float32)
    effective = effective_weights(arms, weights, text_arms, bonus_arms)
    factors = np.array(list(effective.values()), np.float32)[:, None]
    if unread:
        is_text = np.array([name in text_arms for name in arms])
        total = factors[is_text].sum()
        is_unread = np.array([unread.get(name, np.zeros(scores.shape[1], bool)) for name in arms])
        factors = np.where(is_unread, np.float32(0), factors)
        remaining = factors[is_text].sum(axis=0)
        factors[is_text] *= np.divide(
            total, remaining, out=np.zeros_like(remaining), where=remaining > 0
        )
    fused: Floats = (factors * scores).sum(axis=0)
    return fused


def effective_weights(
    arms: Iterable[str], weights: Mapping[str, float], text_arms: Set[str], bonus_arms: Set[str]
) -> dict[str, np.float32]:
    """Return the normalised weight of each arm, in order, for a place that all text arms can read.

    The weights of all but the bonus arms sum to 1 if every arm runs.
    """
    names = list(arms)
    all_text = math.fsum(weights[name] for name in text_arms)
    running_text = math.fsum(weights[name] for name in names if name in text_arms)
    others = [name for name in names if name not in text_arms and name not in bonus_arms]
    total = (all_text + math.fsum(weights[name] for name in others)) or 1.0
    # The text arms that run take over the weights of those that do not.
    scale = all_text / running_text if running_text else 0.0
    part = {True: scale / total, False: 1 / total}
    return {
        name: np.float32(weights[name] * (1.0 if name in bonus_arms else part[name in text_arms]))
        for name in names
    }
