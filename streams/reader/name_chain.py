"""The likeliest labels of a row of words, of which each follows from the one before (Viterbi)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

#: A step that cannot be.
NEVER = -(10**9)
#: A label that scores so much less than none is not followed, in thousandths: with names in one
#: word of ten, most words then cost nothing.
_HOPELESS = 5_000


class NameChain:
    """The steps between the labels "O", "B-..." and "I-...", of which "O" is the first."""

    def __init__(self, labels: Sequence[str], steps: npt.NDArray[np.float32]) -> None:
        """`steps`: (labels + 1, labels) in thousandths, the last row the beginning."""
        assert labels[0] == "O"
        self._steps = [
            [int(step) if goes(labels, before, label) else NEVER for label, step in enumerate(row)]
            for before, row in enumerate(steps)
        ]
        self._into = [list(into) for into in zip(*self._steps, strict=True)]

    def best(self, scores: npt.NDArray[np.int64]) -> list[int]:
        """Return the number of the label of each word; `scores` (words, labels) in thousandths."""
        hopeful = (scores > scores[:, :1] - _HOPELESS).tolist()
        rows: list[list[int]] = scores.tolist()
        ahead = {len(self._steps) - 1: 0}
        came: list[dict[int, int]] = []
        for row, open_ in zip(rows, hopeful, strict=True):
            reached: dict[int, int] = {}
            origin: dict[int, int] = {}
            for label, is_open in enumerate(open_):
                if not is_open:
                    continue
                steps = self._into[label]
                best, before = NEVER, 0
                for at, so_far in ahead.items():
                    if so_far + steps[at] > best:
                        best, before = so_far + steps[at], at
                if best > NEVER // 2:
                    reached[label] = best + row[label]
                    origin[label] = before
            ahead = reached
            came.append(origin)
        if not came:
            return []
        label = max(ahead, key=lambda each: (ahead[each], -each))
        found = [label]
        for origin in reversed(came[1:]):
            label = origin[label]
            found.append(label)
        return found[::-1]


def goes(labels: Sequence[str], before: int, label: int) -> bool:
    """Whether a label may follow one; `before` is len(labels) at the beginning."""
    name = labels[label]
    if name[0] != "I":
        return True
    return before < len(labels) and labels[before][1:] == name[1:]
