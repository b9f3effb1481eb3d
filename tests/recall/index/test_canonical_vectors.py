"""Canonical vectors: bytes that keep a vector's direction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.projections.embeddings.canonical_vectors import (
    inverse_norms,
    quantise,
    to_int8,
    to_unit_vectors,
)


def test_a_vector_in_whole_numbers_points_the_same_way() -> None:
    vectors = np.random.default_rng(1).standard_normal((50, 384)).astype(np.float32)
    codes, times = to_int8(vectors)
    assert np.abs(codes).max(axis=1).tolist() == [127] * 50
    away = np.abs(codes / times[:, None] - vectors) * times[:, None]
    assert away.max() <= 0.5001


@pytest.mark.parametrize("value", [0.0, 1e-45, 1e-38, 3e38])
def test_no_vector_is_too_small_or_too_great(value: float) -> None:
    codes, times = to_int8(np.full((1, 8), value, np.float32))
    assert np.isfinite(times).all()
    assert codes.tolist() in ([[127] * 8], [[0] * 8])


def test_halves_are_rounded_to_the_even_neighbour() -> None:
    # The greatest is 127, so that each number stands for itself.
    vector = np.array([[127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.25]], np.float32)
    codes, _ = to_int8(vector)
    assert codes.tolist() == [[127, 0, 2, 2, 0, -2, -2, 3]]


def test_a_canonical_number_is_the_middle_of_one_of_sixteen_steps() -> None:
    # The greatest is 8, so that a step is 1; what lies between two belongs to the greater.
    vector = np.array([[8, 7.99, 6.01, 1, 0.99, 0.01, 0, -0.01, -1, -1.01, -7.99, -8]], np.float32)
    (found,) = quantise(vector)
    assert list(np.frombuffer(found, np.int8)) == [15, 15, 13, 3, 1, 1, 1, -1, -1, -3, -15, -15]


def test_a_canonical_vector_points_about_the_same_way_and_keeps_each_sign() -> None:
    vectors = np.random.default_rng(5).standard_normal((50, 384)).astype(np.float32)
    codes = np.frombuffer(b"".join(quantise(vectors)), np.int8).reshape(vectors.shape)
    assert ((codes > 0) == (vectors > 0)).all()
    cosines = (to_unit_vectors(codes) * vectors).sum(axis=1) / np.linalg.norm(vectors, axis=1)
    assert cosines.min() > 0.98


@pytest.mark.parametrize("value", [0.0, 1e-45, 1e-38])
def test_what_is_hardly_more_than_zeros_is_zeros(value: float) -> None:
    assert quantise(np.full((1, 8), value, np.float32)) == [bytes(8)]


def test_what_is_no_number_becomes_zeros() -> None:
    vectors = np.ones((4, 6), np.float32)
    vectors[1, 2], vectors[2, 3], vectors[3, 0] = np.nan, np.inf, -np.inf
    assert quantise(vectors) == [bytes([15] * 6), bytes(6), bytes(6), bytes(6)]
    codes, times = to_int8(vectors)
    assert np.isfinite(times).all()
    assert to_unit_vectors(codes)[1:].tolist() == [[0.0] * 6] * 3


@given(st.lists(st.integers(-127, 127), min_size=5, max_size=5))
def test_a_canonical_vector_stands_for_a_unit_vector(codes: list[int]) -> None:
    (found,) = to_unit_vectors(np.array([codes], np.int8))
    (per,) = inverse_norms(np.array([codes], np.int8))
    length = sum(code * code for code in codes) ** 0.5
    expected = [code / length if length else 0.0 for code in codes]
    assert found == pytest.approx(expected, abs=1e-6)
    assert per == pytest.approx(1 / length if length else 0.0, rel=1e-6)


def test_a_vector_without_its_length_is_as_near_to_others() -> None:
    vectors = np.random.default_rng(4).standard_normal((40, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    codes, _ = to_int8(vectors)
    assert (
        np.abs(to_unit_vectors(codes) @ to_unit_vectors(codes).T - vectors @ vectors.T).max()
        < 0.002
    )
