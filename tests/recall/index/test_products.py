"""Products of int8 vectors are those that whole numbers give."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.projections.recall.index.int8_products import product, products


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
