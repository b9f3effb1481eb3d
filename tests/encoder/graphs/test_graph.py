"""Rounding weights to int8: what the numbers must satisfy on every processor."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recollect.streams.encoder.graphs.graph import quantise


@given(
    seed=st.integers(0, 2**32 - 1),
    rows=st.integers(1, 9),
    spread=st.sampled_from([1e-6, 0.05, 30.0]),
    lean=st.sampled_from([0.0, 1.0, -3.0]),
)
def test_a_weight_is_off_by_half_a_step_and_no_pair_can_overflow_16_bits(seed, rows, spread, lean):
    weight = (np.random.default_rng(seed).standard_normal((rows, 5)) + lean) * spread
    weight = weight.astype(np.float32)
    weight[:, 0] = 0
    codes, scale = quantise(weight)
    assert codes.dtype == np.int8
    assert np.abs(codes.astype(int)).max() <= 127
    assert (np.abs(weight - codes * scale) <= scale * 0.5001).all()
    assert scale[0] == 1
    # 0 to 255 times q, plus 0 to 255 times its neighbour: what vpmaddubsw adds in 16 bits.
    pairs = np.pad(codes.astype(int), ((0, rows % 2), (0, 0)))
    least = 255 * (np.minimum(pairs[0::2], 0) + np.minimum(pairs[1::2], 0))
    most = 255 * (np.maximum(pairs[0::2], 0) + np.maximum(pairs[1::2], 0))
    assert least.min() >= -(2**15)
    assert most.max() < 2**15
