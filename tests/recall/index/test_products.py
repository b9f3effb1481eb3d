"""Products of int8 vectors are those that whole numbers give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.projections.recall.index.arrays.int8_products import product, products


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 40), st.integers(1, 9), st.integers(1, 70), st.integers(0, 2**32))
def test_products_are_exact(rows: int, columns: int, dimension: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    # Often as large as they may be, so that no sum fits in two bytes.
    draw = [-128, -127, 0, 1, 126, 127]
    some = random.choice(draw, (rows, dimension)).astype(np.int8)
    others = random.choice(draw, (columns, dimension)).astype(np.int8)
    expected = [
        [sum(a * b for a, b in zip(one, other, strict=True)) for other in others.tolist()]
        for one in some.tolist()
    ]
    assert products(some, others).tolist() == expected
    assert product(some, others[0]).tolist() == [line[0] for line in expected]


@pytest.mark.parametrize("dimension", [1_024, 1_025, 4_096])
def test_the_largest_sums_are_exact(dimension: int) -> None:
    lowest = np.full((600, dimension), -128, np.int8)
    odd = lowest.copy()
    odd[:, -1] = -127
    assert set(product(lowest, lowest[0]).tolist()) == {128 * 128 * dimension}
    assert set(product(odd, odd[0]).tolist()) == {128 * 128 * (dimension - 1) + 127 * 127}
