"""The likeliest sequence of labels for a sequence of words (Viterbi)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

#: The cost of an impossible transition.
NEVER = -(10**9)
#: A label whose score is this far below that of "O", in thousandths, is pruned: with names in one
#: word of ten, most words then cost nothing.
_HOPELESS = 5_000


class NameChain:
    """The transitions between the labels "O", "B-..." and "I-...", of which "O" is the first."""

    def __init__(self, labels: Sequence[str], steps: npt.NDArray[np.float32]) -> None:
        """`steps`: (labels + 1, labels) in thousandths; the last row is for a text's beginning."""
        assert labels[0] == "O"
        self._steps = [
            [int(step) if goes(labels, before, label) else NEVER for label, step in enumerate(row)]
            for before, row in enumerate(steps)
        ]
        self._into = [list(into) for into in zip(*self._steps, strict=True)]
        possible = [step for row in self._steps for step in row if step != NEVER]
        # How much more the transitions to and from a label can score than those to and from "O".
        self._most = 2 * (max(possible) - min(possible))
        names = [label[2:] for label in labels if label[0] == "B"]
        self._begin = [labels.index(f"B-{name}") for name in names]
        self._inside = [labels.index(f"I-{name}") for name in names]

    def best(self, scores: Numbers, ends: Sequence[int]) -> Numbers:
        """Return the label of each word by its index; `scores`: (words, labels) in thousandths.

        Texts follow one another, and `ends` says where each of them ends.
        """
        best_labels = np.zeros(len(scores), np.int64)
        # Between two words whose only possible label is "O", there is nothing to choose.
        (words,) = np.nonzero((scores[:, 1:] > scores[:, :1] - _HOPELESS).any(axis=1))
        borders = np.zeros(len(scores) + 1, bool)
        borders[[0, *ends]] = True
        apart = borders[words]
        apart[1:] |= words[1:] != words[:-1] + 1
        hopeful = self._hopeful(scores[words], apart)
        (open_,) = np.nonzero(hopeful[:, 1:].any(axis=1))
        words, apart = words[open_], apart[open_]
        apart[:1] = True
        apart[1:] |= open_[1:] != open_[:-1] + 1
        rows = self._open(scores[words], hopeful[open_])
        begins, closes = borders[words].tolist(), borders[words + 1].tolist()
        labels: list[int] = []
        for first, end in pairwise([*np.flatnonzero(apart).tolist(), len(rows)]):
            labels += self._stretch(rows[first:end], begins=begins[first], ends=closes[end - 1])
        best_labels[words] = labels
        return best_labels

    def _hopeful(self, scores: Numbers, apart: Flags) -> Flags:
        """Return which labels each word may have in the best sequence.

        `apart`: no name continues from the previous word.
        """
        behind = scores[:, :1] - scores
        hopeful = behind < _HOPELESS
        # The last word of a name cannot be this far behind "O", or "O" would score better.
        near = behind <= self._most
        begins, inside = hopeful[:, self._begin], hopeful[:, self._inside]
        # A name extends from its first word, within its text, to a last word.
        before = np.zeros_like(begins)
        before[1:] = begins[:-1]
        inside &= ~apart[:, None]
        inside = _carried(before, inside)
        inside = _carried((inside & near[:, self._inside])[::-1], inside[::-1])[::-1]
        begins[:-1] &= near[:-1, self._begin] | inside[1:]
        begins[-1:] &= near[-1:, self._begin]
        hopeful[:, self._begin] = begins
        hopeful[:, self._inside] = inside
        return hopeful

    @staticmethod
    def _open(scores: Numbers, hopeful: Flags) -> list[list[tuple[int, int]]]:
        """Return the labels that each word may have, with their scores."""
        words, labels = np.nonzero(hopeful)
        each = list(zip(labels.tolist(), scores[words, labels].tolist(), strict=True))
        ends = np.cumsum(np.count_nonzero(hopeful, axis=1)).tolist()
        return [each[first:end] for first, end in pairwise([0, *ends])]

    def _stretch(
        self, rows: Sequence[Sequence[tuple[int, int]]], *, begins: bool, ends: bool
    ) -> list[int]:
        """Return the best labels of the words between two "O"s, or the bounds of their text."""
        ahead = [(len(self._steps) - 1 if begins else 0, 0)]
        came: list[dict[int, int]] = []
        for row in rows:
            reached: list[tuple[int, int]] = []
            origin: dict[int, int] = {}
            for label, score in row:
                steps = self._into[label]
                best, before = NEVER, 0
                for at, so_far in ahead:
                    total = so_far + steps[at]
                    if total > best:
                        best, before = total, at
                if best > NEVER // 2:
                    reached.append((label, best + score))
                    origin[label] = before
            ahead = reached
            came.append(origin)
        onward = [0] * len(self._steps) if ends else self._into[0]
        label, _ = max(ahead, key=lambda choice: choice[1] + onward[choice[0]])
        path = [label]
        for origin in reversed(came[1:]):
            label = origin[label]
            path.append(label)
        return path[::-1]


def _carried(marks: Flags, along: Flags) -> Flags:
    """Return, for each column, where `along` has held at every step since a mark."""
    rows = np.arange(len(marks))[:, None]
    marked = np.maximum.accumulate(np.where(marks, rows, -1), axis=0)
    broken = np.maximum.accumulate(np.where(along, -1, rows), axis=0)
    found: Flags = marked > broken
    return found


def goes(labels: Sequence[str], before: int, label: int) -> bool:
    """Whether a label may follow another; `before` is len(labels) at the beginning."""
    name = labels[label]
    if name[0] != "I":
        return True
    return before < len(labels) and labels[before][1:] == name[1:]
