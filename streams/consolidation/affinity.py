"""Clusters of memories that are alike and close in time.

The affinity of two memories is `beta * cos + (1 - beta) * exp(-decay * dt)`, where `cos` is the
cosine of their vectors and `dt` the time between them in units of `unit_hours` (Nexus, after
SimpleMem). Each memory is compared with the next `NEXT` in time only, so the cost is linear.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.schemas.memory_terms import Linkage

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

#: The number of following memories, by time, with which each memory is compared.
NEXT = 1_024
#: The maximum number of neighbours of a memory: its most similar ones.
NEIGHBOURS = 16
#: The maximum number of connected memories that are clustered together; larger sets are split into
#: periods.
_MAX_CONNECTED = 256
_STRIP = 512
_HOUR_MS = 3_600_000
# For rounding: the cosine of equal vectors may be less than 1.
_TOLERANCE = 1e-6


class Affinity(msgspec.Struct, frozen=True, kw_only=True):
    """The constants of affinity and clustering, with the defaults of Nexus.

    Attributes:
        beta: the weight of the cosine, 0 to 1.
        decay: the exponential decay of the closeness in time, per unit.
        unit_hours: the unit of time.
        threshold: the minimum affinity at which two memories, or two clusters, are linked.
        linkage: the linkage criterion for the affinity of two clusters.
        min_size: the minimum number of memories in a cluster.
    """

    beta: float = 0.7
    decay: float = 0.1
    unit_hours: float = 24.0
    threshold: float = 0.85
    linkage: Linkage = "average"
    min_size: int = 2


def affinities(
    vectors: Floats, times: Integers, other: Floats, at: Integers, by: Affinity
) -> Floats:
    """Return the (n, m) affinities of n and m unit vectors; `times` and `at` are unix ms."""
    apart = np.abs(times[:, None] - at[None, :]).astype(np.float32)
    closeness = np.exp(apart * np.float32(-by.decay / (by.unit_hours * _HOUR_MS)))
    cosines = vectors @ other.T
    found: Floats = np.float32(by.beta) * cosines + np.float32(1 - by.beta) * closeness
    return found


def affinity_clusters(
    vectors: Floats, times: Integers, by: Affinity, max_size: int
) -> list[list[int]]:
    """Return the clusters of (n, dimension) unit vectors at `times` (unix ms), by index.

    Each has from `by.min_size` to `max_size` members, in order of time; so are the clusters.
    """
    order = np.argsort(times, kind="stable")
    vectors, times = vectors[order], times[order]
    clusters = []
    for connected in _connected(vectors, times, by):
        for first in range(0, len(connected), _MAX_CONNECTED):
            members = connected[first : first + _MAX_CONNECTED]
            near, at = vectors[members], times[members]
            for cluster in linked(affinities(near, at, near, at, by), by, max_size):
                if len(cluster) >= by.min_size:
                    clusters.append([members[place] for place in cluster])
    return [[int(order[place]) for place in cluster] for cluster in sorted(clusters)]


def _connected(vectors: Floats, times: Integers, by: Affinity) -> list[list[int]]:
    """Return the sets of memories that are linked by affinities above the threshold, in order."""
    parents = list(range(len(vectors)))

    def root(place: int) -> int:
        while parents[place] != place:
            parents[place] = place = parents[parents[place]]
        return place

    for first in range(0, len(vectors), _STRIP):
        strip, after = slice(first, first + _STRIP), slice(first, first + _STRIP + NEXT)
        alike = affinities(vectors[strip], times[strip], vectors[after], times[after], by)
        # Each pair counts once, with the later memory second.
        alike[np.tri(*alike.shape) > 0] = -np.inf
        kept = min(NEIGHBOURS, alike.shape[1])
        nearest = np.argpartition(-alike, kept - 1, axis=1)[:, :kept]
        values = np.take_along_axis(alike, nearest, axis=1)
        for row, column in zip(*np.nonzero(values >= by.threshold - _TOLERANCE), strict=True):
            one, other = root(first + int(row)), root(first + int(nearest[row, column]))
            parents[max(one, other)] = min(one, other)
    groups: dict[int, list[int]] = {}
    for place in range(len(vectors)):
        groups.setdefault(root(place), []).append(place)
    return [group for group in groups.values() if len(group) > 1]


_LINKAGES: Mapping[Linkage, Callable[[Floats, Floats, int, int], Floats]] = {
    "average": lambda one, other, n, m: (one * n + other * m) / np.float32(n + m),
    "single": lambda one, other, n, m: np.maximum(one, other),
    "complete": lambda one, other, n, m: np.minimum(one, other),
}


def linked(affinity: Floats, by: Affinity, max_size: int) -> list[Sequence[int]]:
    """Return the clusters of an (n, n) matrix of affinities, merging the nearest two at a time.

    Two clusters are merged while their affinity reaches the threshold and both fit into one.
    """
    merged = affinity.copy()
    np.fill_diagonal(merged, -np.inf)
    clusters: dict[int, list[int]] = {place: [place] for place in range(len(merged))}
    while True:
        one, other = sorted(divmod(int(merged.argmax()), len(merged)))
        if not merged[one, other] >= by.threshold - _TOLERANCE:
            return [sorted(cluster) for cluster in clusters.values()]
        n, m = len(clusters[one]), len(clusters[other])
        if n + m > max_size:
            merged[one, other] = merged[other, one] = -np.inf
            continue
        row = _LINKAGES[by.linkage](merged[one], merged[other], n, m)
        # A full cluster takes no more.
        row[one if n + m < max_size else slice(None)] = -np.inf
        merged[one], merged[:, one] = row, row
        merged[other], merged[:, other] = -np.inf, -np.inf
        clusters[one] += clusters.pop(other)
