"""When two strategies are one, and what feedback makes of a score."""

from __future__ import annotations

import pytest

from recollect.streams.learning.feedback_scores import (
    ScoringStrategy,
    combined_score,
    needs_relearning,
    success_rate,
)
from recollect.streams.learning.strategies import most_similar, similarity


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Run all tests first.", "run ALL tests, first", 1.0),
        ("Run all tests.", "Run all the tests.", 3 / 4),
        ("Run all tests.", "Read the log.", 0.0),
        ("a b c d e f g", "a b c d e f h", 6 / 8),
        # One word apart, and the opposite.
        ("Deploy the new build on Friday.", "Never deploy the new build on Friday.", 0.0),
        ("Retry the flaky job 3 times.", "Retry the flaky job 30 times.", 0.0),
        ("Run tests before the release of it.", "Run tests after the release of it.", 0.0),
        ("", "", 0.0),
        ("!!!", "!!!", 0.0),
    ],
)
def test_similarity_is_that_of_words(one: str, other: str, expected: float) -> None:
    assert similarity(one, other) == similarity(other, one) == pytest.approx(expected)


def test_the_most_similar_counts_from_seven_tenths() -> None:
    among = ["Read the log.", "Run all the slow tests.", "Run all the tests."]
    assert most_similar("Run all tests.", among) == 2
    assert most_similar("Run tests now.", among) is None
    # Exactly 0.7: seven of ten words.
    assert most_similar("a b c d e f g", ["a b c d e f g h i j"]) == 0
    assert most_similar("a", []) is None


@pytest.mark.parametrize(
    ("strategy", "expected"), [("latest", 0.0), ("average", 0.5), ("weighted", 1 / 3)]
)
def test_scores_are_combined_as_named(strategy: ScoringStrategy, expected: float) -> None:
    assert combined_score([1.0, 0.5, 0.0], strategy) == pytest.approx(expected)
    assert combined_score([], strategy) is None


@pytest.mark.parametrize(
    ("own", "scores", "expected"),
    [(0.7, [0.4], False), (0.7, [0.39], True), (0.0, [0.31], True), (1.0, [0.0, 0.9], False)],
)
def test_more_than_three_tenths_asks_to_learn_again(
    own: float, scores: list[float], expected: bool
) -> None:
    assert needs_relearning(own, scores) is expected


def test_the_success_rate_follows_the_latest_uses() -> None:
    assert success_rate([]) is None
    assert success_rate([False]) == 0.0
    assert success_rate([True, False, True]) == pytest.approx((1 * 0.7 + 0 * 0.3) * 0.7 + 1 * 0.3)
