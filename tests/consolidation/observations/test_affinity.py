"""Clusters by affinity: the formula, average linkage, and what they cost."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from recollect.schemas.memory_terms import Linkage
from recollect.streams.consolidation import affinity
from recollect.streams.consolidation.affinity import (
    Affinity,
    Floats,
    affinities,
    affinity_clusters,
)

HOUR = 3_600_000


def unit(degrees: Sequence[float]) -> Floats:
    """Return vectors in a plane, whose cosines are those of the angles between them."""
    angles = np.radians(np.array(degrees))
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def by_definition(
    degrees: Sequence[float], hours: Sequence[float], by: Affinity
) -> set[frozenset[int]]:
    """Merge the two nearest clusters until none are near enough, with nothing but the formula."""

    def near(one: int, other: int) -> float:
        cosine = math.cos(math.radians(degrees[one] - degrees[other]))
        units = abs(hours[one] - hours[other]) / by.unit_hours
        return by.beta * cosine + (1 - by.beta) * math.exp(-by.decay * units)

    clusters = [frozenset({n}) for n in range(len(degrees))]
    while len(clusters) > 1:
        pairs = itertools.combinations(clusters, 2)
        best = max(pairs, key=lambda pair: mean(near, *pair))
        if mean(near, *best) < by.threshold:
            break
        clusters = [each for each in clusters if each not in best] + [best[0] | best[1]]
    return {each for each in clusters if len(each) >= by.min_size}


def mean(near: Callable[[int, int], float], one: frozenset[int], other: frozenset[int]) -> float:
    return sum(near(a, b) for a in one for b in other) / (len(one) * len(other))


def test_C15_affinity_is_that_of_the_formula() -> None:
    times = np.array([0, 48 * HOUR])
    found = affinities(unit([0, 60]), times, unit([0, 60]), times, Affinity())
    assert found[0, 1] == pytest.approx(0.7 * 0.5 + 0.3 * math.exp(-0.2), abs=1e-5)
    assert found[0, 0] == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("seed", range(30))
def test_C15_clusters_are_those_of_merging_the_nearest_by_definition(seed: int) -> None:
    draw = random.Random(seed)
    count = draw.randint(2, 14)
    degrees = [draw.uniform(0, 180) for _ in range(count)]
    hours = [draw.uniform(0, 24 * draw.choice((1, 5, 20))) for _ in range(count)]
    by = Affinity(threshold=draw.choice((0.7, 0.85, 0.95)), min_size=draw.choice((2, 3)))
    times = np.array([round(each * HOUR) for each in hours])
    found = affinity_clusters(unit(degrees), times, by, 50)
    assert {frozenset(each) for each in found} == by_definition(degrees, hours, by)


def test_C15_a_cluster_has_at_most_its_size() -> None:
    found = affinity_clusters(unit([10.0] * 25), np.zeros(25, np.int64), Affinity(), 10)
    assert max(map(len, found)) == 10
    assert sorted(itertools.chain(*found)) == sorted(set(itertools.chain(*found)))


def test_C15_what_is_alike_but_a_month_apart_stays_apart() -> None:
    times = np.array([0, 30 * 24 * HOUR])
    assert affinity_clusters(unit([0, 0]), times, Affinity(), 50) == []


@pytest.mark.parametrize(("linkage", "together"), [("single", 3), ("complete", 2)])
def test_C15_linkage_decides_about_chains(linkage: Linkage, together: int) -> None:
    """Neighbours in the chain are alike, its ends are not."""
    by = Affinity(threshold=0.9, linkage=linkage)
    found = affinity_clusters(unit([0, 25, 49]), np.zeros(3, np.int64), by, 50)
    assert [len(each) for each in found] == [together]


def test_C15_the_number_of_comparisons_grows_with_the_memories(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[int] = []
    whole = affinity.affinities

    def counting(one: Floats, *rest: object) -> Floats:
        found: Floats = whole(one, *rest)  # type: ignore[arg-type]
        counted[-1] += found.size
        return found

    monkeypatch.setattr(affinity, "affinities", counting)
    for count in (4_000, 8_000):
        counted.append(0)
        draw = np.random.default_rng(1).normal(size=(count, 16)).astype(np.float32)
        vectors = draw / np.linalg.norm(draw, axis=1, keepdims=True)
        # All at one moment, so that time keeps none apart.
        affinity_clusters(vectors, np.zeros(count, np.int64), Affinity(), 50)
    assert counted[1] < 2.5 * counted[0]
