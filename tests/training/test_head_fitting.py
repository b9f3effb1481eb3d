"""Fitting of reading heads."""

from __future__ import annotations

import numpy as np

from training.heads.head_fitting import Network, joined


def test_joined_networks_score_as_their_mean() -> None:
    chance = np.random.default_rng(7)
    narrow, wide = Network.begun((3, 4, 2), chance), Network.begun((5, 2, 2), chance)
    for bias in (narrow.weights[1], narrow.weights[3], wide.weights[1], wide.weights[3]):
        bias += chance.standard_normal(bias.shape).astype(np.float32)
    rows = chance.standard_normal((20, 5)).astype(np.float32)
    mean = (narrow.scores(rows[:, :3]) + wide.scores(rows)) / 2
    np.testing.assert_allclose(joined([narrow, wide]).scores(rows), mean, rtol=1e-5, atol=1e-6)
