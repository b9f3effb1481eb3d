"""Fusion: one score out of the scores of several arms."""

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


def weighted(
    arms: Mapping[str, Floats],
    weights: Mapping[str, float],
    readers: Set[str] = frozenset(),
    unread: Mapping[str, Mask] = MappingProxyType({}),
    extra: Set[str] = frozenset(),
) -> Floats:
    """Return the weighted mean of the arms' scores, plus what those of `extra` add.

    Where one of `readers` did not run, or could not read a place (`unread`, by arm), the other
    readers take over its weight: a place does not lose by what could not be read, and the arms
    that do not read count no more than otherwise.
    """
    said = np.array(list(arms.values()), np.float32)
    counts = np.array(list(shares(arms, weights, readers, extra).values()), np.float32)[:, None]
    if unread:
        reads = np.array([name in readers for name in arms])
        everyone = counts[reads].sum()
        silent = np.array([unread.get(name, np.zeros(said.shape[1], bool)) for name in arms])
        counts = np.where(silent, np.float32(0), counts)
        left = counts[reads].sum(axis=0)
        counts[reads] *= np.divide(everyone, left, out=np.zeros_like(left), where=left > 0)
    fused: Floats = (counts * said).sum(axis=0)
    return fused


def shares(
    arms: Iterable[str], weights: Mapping[str, float], readers: Set[str], extra: Set[str]
) -> dict[str, np.float32]:
    """Return, in order, the weight of each arm where all of them could read a place."""
    names = list(arms)
    everyone = math.fsum(weights[name] for name in readers)
    there = math.fsum(weights[name] for name in names if name in readers)
    others = [name for name in names if name not in readers and name not in extra]
    knowing = math.fsum(weights[name] for name in others)
    total = (everyone + knowing) or 1.0
    # How much more a reader counts than by itself, as it stands in for others.
    more = everyone / there if there else 0.0
    part = {True: more / total, False: 1 / total}
    return {
        name: np.float32(weights[name] * (1.0 if name in extra else part[name in readers]))
        for name in names
    }
