"""Canonical vectors: bytes that keep a vector's direction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.embeddings.canonical_vectors import coded, per_length, units, whole


def test_a_vector_in_whole_numbers_points_the_same_way() -> None:
    vectors = np.random.default_rng(1).standard_normal((50, 384)).astype(np.float32)
    codes, times = whole(vectors)
    assert np.abs(codes).max(axis=1).tolist() == [127] * 50
    away = np.abs(codes / times[:, None] - vectors) * times[:, None]
    assert away.max() <= 0.5001


@pytest.mark.parametrize("value", [0.0, 1e-45, 1e-38, 3e38])
def test_no_vector_is_too_small_or_too_great(value: float) -> None:
    codes, times = whole(np.full((1, 8), value, np.float32))
    assert np.isfinite(times).all()
    assert codes.tolist() in ([[127] * 8], [[0] * 8])


def test_halves_are_rounded_to_the_even_neighbour() -> None:
    # The greatest is 127, so that each number stands for itself.
    vector = np.array([[127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.25]], np.float32)
    (found,) = coded(vector)
    assert list(np.frombuffer(found, np.int8)) == [127, 0, 2, 2, 0, -2, -2, 3]


def test_what_is_no_number_becomes_zeros() -> None:
    vectors = np.ones((4, 6), np.float32)
    vectors[1, 2], vectors[2, 3], vectors[3, 0] = np.nan, np.inf, -np.inf
    assert coded(vectors) == [bytes([127] * 6), bytes(6), bytes(6), bytes(6)]
    codes, times = whole(vectors)
    assert np.isfinite(times).all()
    assert units(codes)[1:].tolist() == [[0.0] * 6] * 3


@given(st.lists(st.integers(-127, 127), min_size=5, max_size=5))
def test_a_canonical_vector_stands_for_a_unit_vector(codes: list[int]) -> None:
    (found,) = units(np.array([codes], np.int8))
    (per,) = per_length(np.array([codes], np.int8))
    length = sum(code * code for code in codes) ** 0.5
    expected = [code / length if length else 0.0 for code in codes]
    assert found == pytest.approx(expected, abs=1e-6)
    assert per == pytest.approx(1 / length if length else 0.0, rel=1e-6)


def test_a_vector_without_its_length_is_as_near_to_others() -> None:
    vectors = np.random.default_rng(4).standard_normal((40, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    codes, _ = whole(vectors)
    assert np.abs(units(codes) @ units(codes).T - vectors @ vectors.T).max() < 0.002
