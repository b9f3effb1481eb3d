"""The choice of texts that covers most in little room."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.streams.mental_models.coverage import (
    LENGTH_POWER,
    MAX_SQUARED,
    UNIT,
    in_order_of_gain,
    word_similarities,
)

WORDS = ["boat", "sail", "farm", "horse", "rain", "tea", "wine", "oslo"]
words = st.lists(st.sampled_from(WORDS), max_size=5)


def test_texts_without_a_common_word_are_not_similar() -> None:
    found = word_similarities([["boat", "sail"], ["horse", "farm"]])
    assert found.tolist() == [[UNIT, 0], [0, UNIT]]


def test_the_same_words_are_as_similar_as_can_be() -> None:
    found = word_similarities([["boat", "sail"], ["sail", "boat"], ["tea"]])
    assert found[0, 1] == pytest.approx(UNIT, rel=0.02)


def test_a_text_much_like_a_chosen_one_is_never_chosen() -> None:
    similarities = word_similarities([["boat", "sail"], ["boat", "sail"], ["tea", "wine"]])
    chosen = list(in_order_of_gain(similarities, [0.3] * 3, [4] * 3, [1.0] * 3))
    assert sorted(chosen) in ([0, 2], [1, 2])


def test_of_equal_gains_the_shorter_text_is_first() -> None:
    similarities = word_similarities([["boat"], ["tea"]])
    assert list(in_order_of_gain(similarities, [0.3, 0.3], [20, 5], [1.0, 1.0])) == [1, 0]


def test_what_is_shown_elsewhere_covers_and_is_not_yielded() -> None:
    similarities = word_similarities([["boat", "sail"], ["boat", "sail"], ["tea", "wine"]])
    assert list(in_order_of_gain(similarities, [0.3] * 3, [4] * 3, [1.0] * 3, [0])) == [2]


@given(st.lists(words, min_size=1, max_size=8))
def test_the_lazy_choice_equals_the_plain_one(texts: list[list[str]]) -> None:
    similarities = word_similarities(texts)
    values = [0.1 * len(each) for each in texts]
    lengths = [1 + len(each) for each in texts]
    lazy = list(in_order_of_gain(similarities, values, lengths, [1.0] * len(texts)))
    assert lazy == plain_choice(similarities / UNIT, values, lengths)


def plain_choice(similarities: np.ndarray, values: list[float], lengths: list[int]) -> list[int]:
    """Choose greedily, measuring every text each time."""
    squared = np.minimum(similarities, 1.0) ** 2
    covered = np.zeros(len(values))
    chosen: list[int] = []
    while True:
        left = [
            place
            for place in range(len(values))
            if place not in chosen and all(squared[place, c] <= MAX_SQUARED for c in chosen)
        ]
        gains = {
            place: (float(np.maximum(squared[place] - covered, 0).sum()) + values[place])
            / math.pow(lengths[place], LENGTH_POWER)
            for place in left
        }
        best = max(left, key=lambda place: (round(gains[place], 7), -place), default=None)
        if best is None or gains[best] <= 0:
            return chosen
        chosen.append(best)
        covered = np.maximum(covered, squared[best])
