"""Fusion and diversity give what their papers say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.projections.recall.arms.scaling import min_max_scale
from recollect.projections.recall.index.arrays.selection import top, top_with_ties
from recollect.projections.recall.ranking.diversity import mmr
from recollect.projections.recall.ranking.fusion import rrf, weighted_sum
from tests.recall import oracle


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def test_rrf_sums_one_over_sixty_plus_rank() -> None:
    fused = rrf([floats(0.9, 0.5, 0.0), floats(0.1, 0.0, 0.7)])
    assert fused.tolist() == pytest.approx([1 / 61 + 1 / 62, 1 / 62, 1 / 61])


def test_rrf_takes_another_k() -> None:
    assert rrf([floats(2, 1)], k=1).tolist() == pytest.approx([1 / 2, 1 / 3])


def test_rrf_gives_nothing_to_what_no_arm_found() -> None:
    assert rrf([floats(0, 1), floats(0, 0)]).tolist() == pytest.approx([0, 1 / 61])


def test_rrf_ranks_equals_in_order() -> None:
    assert rrf([floats(1, 1, 1)]).tolist() == pytest.approx([1 / 61, 1 / 62, 1 / 63])


def test_rrf_of_no_arms_is_empty() -> None:
    assert len(rrf([])) == 0


def test_weighted_is_the_mean_by_the_weights_of_the_arms_that_ran() -> None:
    weights = {"keyword": 3.0, "semantic": 1.0, "causal": 100.0}
    fused = weighted_sum({"keyword": floats(1, 0, 0.5), "semantic": floats(0, 1, 0.5)}, weights)
    assert fused.tolist() == pytest.approx([0.75, 0.25, 0.5])


def test_readers_stand_in_for_those_that_did_not_run_or_could_not_read() -> None:
    weights = {"keyword": 1.0, "late": 3.0, "entity": 1.0}
    readers = {"keyword", "late"}
    arms = {"keyword": floats(0.5, 0.5), "entity": floats(1, 0)}
    assert weighted_sum(arms, weights, readers).tolist() == pytest.approx([3 / 5, 2 / 5])
    arms["late"] = floats(0, 0.25)
    unread = {"late": np.array([True, False])}
    fused = weighted_sum(arms, weights, readers, unread)
    assert fused.tolist() == pytest.approx([3 / 5, (0.5 + 0.75) / 5])


def test_scores_that_hardly_differ_say_little() -> None:
    assert min_max_scale(floats(0.2, 0.3), min_range=0.4).tolist() == pytest.approx([0, 0.25])
    assert min_max_scale(floats(0.2, 1.2), min_range=0.4).tolist() == pytest.approx([0, 1])


@pytest.mark.parametrize(
    ("scores", "floor", "expected"),
    [
        ((2, 4, 3), None, (0, 1, 0.5)),
        ((2, 4, 3), 0.0, (0.5, 1, 0.75)),
        ((7, 7), None, (1, 1)),
        ((7,), None, (1,)),
        ((0, 0), 0.0, (0, 0)),
        ((), None, ()),
        ((), 0.0, ()),
    ],
)
def test_scaled(scores: tuple, floor: float | None, expected: tuple) -> None:
    assert min_max_scale(floats(*scores), floor).tolist() == pytest.approx(list(expected))


def test_mmr_prefers_something_else_to_the_same_again() -> None:
    vectors = np.stack([floats(1, 0), floats(1, 0), floats(0, 1)])
    assert mmr(floats(1.0, 0.9, 0.8), vectors, 3).tolist() == [0, 2, 1]


def test_mmr_knows_no_likeness_to_what_has_no_vector() -> None:
    vectors = np.stack([floats(1, 0), floats(0, 0), floats(1, 0)])
    assert mmr(floats(1.0, 0.7, 0.8), vectors, 3).tolist() == [0, 1, 2]


@given(
    st.integers(1, 12), st.integers(0, 14), st.sampled_from([0.0, 0.3, 0.7, 1.0]), st.integers(0)
)
def test_mmr_is_the_order_of_brute_force(size: int, count: int, share: float, seed: int) -> None:
    random = np.random.default_rng(seed)
    # Exact in binary, so that both sides see the same equals.
    relevance = (random.integers(0, 5, size) / 4).astype(np.float32)
    axes = random.integers(0, 4, size)
    vectors = np.eye(4, dtype=np.float32)[axes] * random.choice([1, -1], size)[:, None]
    vectors = vectors.astype(np.float32)
    expected = oracle.mmr(relevance.tolist(), (vectors @ vectors.T).tolist(), count, share)
    assert mmr(relevance, vectors, count, share).tolist() == expected


def test_top_takes_equals_in_order_and_no_more_than_are_there() -> None:
    assert top(floats(1, 3, 3, 2, 3), 2).tolist() == [1, 2]
    assert top(floats(1, 2), 10).tolist() == [1, 0]
    assert top(floats(), 3).tolist() == []


def test_top_passes_over_what_is_no_number() -> None:
    assert top(floats(math.nan, 1, -math.inf, 2, math.inf, 0), 2).tolist() == [3, 1]
    assert top(floats(math.nan, math.nan), 1).tolist() == []


@given(st.lists(st.integers(0, 6), max_size=30), st.integers(1, 12))
def test_top_is_a_stable_sort_cut_off(scores: list[int], count: int) -> None:
    expected = sorted(range(len(scores)), key=lambda place: -scores[place])[:count]
    assert top(floats(*scores), count).tolist() == expected


def test_close_to_top_keeps_what_equals_the_last() -> None:
    scores = floats(0.5, 0.9, -np.inf, 0.5, 0.2)
    assert top_with_ties(scores, 2).tolist() == [0, 1, 3]
    assert top_with_ties(scores, 5).tolist() == [0, 1, 3, 4]
