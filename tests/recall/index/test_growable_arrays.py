"""What is computed on arrays is what numpy's own, slower ways give."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recollect.projections.recall.index.arrays.growable_arrays import distinct, distinct_with_first

NUMBERS = st.lists(st.integers(-5, 5)).map(lambda values: np.array(values, np.int64))


@given(NUMBERS)
def test_each_value_once_and_where_it_stands_first(values: np.ndarray) -> None:
    found, first = distinct_with_first(values)
    wanted, places = np.unique(values, return_index=True)
    assert np.array_equal(found, wanted)
    assert np.array_equal(first, places)
    assert np.array_equal(distinct(values), wanted)
