"""What the cheap arms put first, of all turns, is what ranking every turn would put first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.projections.recall.arms.arm_scores import ArmScores, ScoresByArm
from recollect.projections.recall.index.arrays.growable_arrays import SparseAccumulator, nonzero
from recollect.projections.recall.ranking import turn_ranking
from recollect.projections.recall.ranking.profiles import DEFAULT_PROFILE, TEXT_ARMS

WEIGHTS = DEFAULT_PROFILE.weights


@given(st.integers(0, 70), st.lists(st.integers(0, 69), max_size=8))
def test_true_places_are_those_of_a_plain_look(size: int, places: list[int]) -> None:
    mask = np.zeros(size, bool)
    mask[[place for place in places if place < size]] = True
    assert nonzero(mask).tolist() == [place for place in range(size) if mask[place]]


PARTS = st.lists(st.dictionaries(st.integers(0, 19), st.integers(1, 8), max_size=5), max_size=4)


@given(st.lists(PARTS, max_size=3))
def test_sums_are_those_of_each_row_and_leave_nothing_behind(asked: list) -> None:
    sums = SparseAccumulator()
    for parts in asked:
        expected: dict[int, float] = {}
        for part in parts:
            for row, gain in part.items():
                expected[row] = expected.get(row, 0) + gain
        given_parts = [
            (np.array(list(part), np.int64), np.array(list(part.values()), np.float32))
            for part in parts
        ]
        rows, found = sums.add_up(given_parts, 20)
        assert len(rows) == len(expected)
        assert dict(zip(rows.tolist(), found.tolist(), strict=True)) == expected


def _expected(scored: ScoresByArm, eligible: np.ndarray) -> list[float]:
    """Return every turn's weighted mean, with the readers that said nothing stood in for."""
    scores = []
    everyone = sum(WEIGHTS[name] for name in TEXT_ARMS)
    others = [name for name in scored.arms if name not in TEXT_ARMS]
    total = everyone + sum(WEIGHTS[name] for name in others)
    for place in range(scored.size):
        said = {}
        for name, arm in scored.arms.items():
            places = range(scored.size) if arm.places is None else arm.places.tolist()
            of = dict(zip(places, arm.scores.tolist(), strict=True))
            if arm.unread is None or place not in arm.unread:
                said[name] = of.get(place, 0.0)
        reading = [name for name in said if name in TEXT_ARMS]
        read = sum(WEIGHTS[name] * said[name] for name in reading)
        there = sum(WEIGHTS[name] for name in reading)
        rest = sum(WEIGHTS[name] * said[name] for name in others)
        score = ((read * everyone / there if there else 0.0) + rest) / total
        scores.append(score if eligible[place] else 0.0)
    return scores


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 60), st.integers(1, 9), st.integers(0, 60), st.booleans(), st.integers(0))
def test_the_leading_turns_are_the_best_of_all(
    monkeypatch: pytest.MonkeyPatch, size: int, count: int, known: int, sampled: bool, seed: int
) -> None:
    monkeypatch.setattr(turn_ranking, "_SAMPLE_SIZE", 4 if sampled else 1_000)
    random = np.random.default_rng(seed)
    unread = np.arange(known, size) if known < size else None
    places = np.flatnonzero(random.random(size) < 0.3)
    scored = ScoresByArm(
        size,
        {
            "keyword": ArmScores(None, _some(random, size)),
            "semantic": ArmScores(places, _some(random, len(places)), unread),
            "entity": ArmScores(None, _some(random, size)),
        },
        {},
        {},
    )
    eligible = random.random(size) < 0.8
    expected = _expected(scored, eligible)
    found = turn_ranking.top_turns(scored, eligible, DEFAULT_PROFILE, count)
    best = sorted((score for score in expected if score > 0), reverse=True)[:count]
    assert found.scores.tolist() == pytest.approx(best, abs=1e-6)
    assert [expected[place] for place in found.places] == pytest.approx(best, abs=1e-6)


def _some(random: np.random.Generator, count: int) -> np.ndarray:
    """Return scores, of which many are 0."""
    return (np.maximum(random.integers(-4, 9, count), 0) / 8).astype(np.float32)
