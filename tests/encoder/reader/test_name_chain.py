"""The labels of names: of all rows of labels that may be, the one with the highest sum."""

from __future__ import annotations

import random
from itertools import pairwise, product

import numpy as np
import pytest

from recollect.streams.reader.name_chain import NameChain

LABELS = ("O", "B-A", "I-A", "B-B", "I-B")
#: How far behind "O" a label may be in thousandths, as the module says.
FAR = 5_000


def may_follow(before: str | None, label: str) -> bool:
    return not label.startswith("I") or (before is not None and before[1:] == label[1:])


def total(scores: list[list[int]], steps: list[list[int]], row: tuple[int, ...]) -> int:
    first = steps[len(LABELS)][row[0]]
    return (
        first
        + sum(steps[before][label] for before, label in pairwise(row))
        + sum(scores[word][label] for word, label in enumerate(row))
    )


def best_total(scores: list[list[int]], steps: list[list[int]]) -> int:
    """Return the highest sum, tried out on every row of labels."""
    ways = [
        [label for label in range(len(LABELS)) if word[label] > word[0] - FAR] for word in scores
    ]
    return max(
        total(scores, steps, row)
        for row in product(*ways)
        if all(
            may_follow(before, label)
            for before, label in pairwise([None, *(LABELS[each] for each in row)])
            if label is not None
        )
    )


@pytest.mark.parametrize("size", [40, 400, 4_000, 20_000])
@pytest.mark.parametrize("step", [30, 600])
def test_no_row_of_labels_has_a_higher_sum(size: int, step: int) -> None:
    chance = random.Random(size + step)
    named = 0
    for _ in range(60):
        steps = [[chance.randint(-step, step) for _ in LABELS] for _ in range(len(LABELS) + 1)]
        texts = [
            [[chance.randint(-size, size) for _ in LABELS] for _ in range(chance.randint(1, 5))]
            for _ in range(4)
        ]
        for word in (word for text in texts for word in text):
            word[0] += chance.choice([0, size // 2, 2 * size])
        ends = np.cumsum([len(text) for text in texts]).tolist()
        chain = NameChain(LABELS, np.array(steps, np.float32))
        found = chain.best(np.array([word for text in texts for word in text]), ends).tolist()
        for end, text in zip(ends, texts, strict=True):
            row = found[end - len(text) : end]
            assert total(text, steps, tuple(row)) == best_total(text, steps)
            named += any(row)
    assert named > 10
