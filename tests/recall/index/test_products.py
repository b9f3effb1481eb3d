"""Products of int8 vectors are those that whole numbers give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from projections.recall.index.int8_products import product, products, whole


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 40), st.integers(1, 9), st.integers(1, 70), st.integers(0, 2**32))
def test_products_are_exact(rows: int, columns: int, dimension: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    # Often as large as they may be, so that no sum fits in two bytes.
    draw = [-127, -126, 0, 1, 126, 127]
    some = random.choice(draw, (rows, dimension)).astype(np.int8)
    others = random.choice(draw, (columns, dimension)).astype(np.int8)
    expected = [
        [sum(a * b for a, b in zip(one, other, strict=True)) for other in others.tolist()]
        for one in some.tolist()
    ]
    assert products(some, others).tolist() == expected
    assert product(some, others[0]).tolist() == [line[0] for line in expected]


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
