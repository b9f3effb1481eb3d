"""A question as the arms need it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from projections.recall.question.entity_names import Named
from projections.recall.question.speakers import Sender

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Asked(NamedTuple):
    """A question as the arms need it.

    `terms` are the index terms of its text, and `vector` the text's unit vector, None where there
    is none. `voices`: the senders whose
    turns are asked for. `spans`: the times that it speaks of, (first, last) in unix ms.
    `about`: the turns of the entity that is asked for beside the text, None: of any.
    `allowed`: the turns that may be answered, and `filtered` whether that may be less than all.
    `pool`: how many candidates an arm may bring, and `read` how many late interaction reads.
    """

    text: str
    terms: list[str]
    vector: Floats | None
    named: Sequence[Named]
    voices: set[Sender]
    spans: Sequence[tuple[int, int]]
    about: Mask | None
    allowed: Mask
    filtered: bool
    pool: int
    read: int

    def masked(self, scores: Floats, places: Ints | None = None) -> Floats:
        """Return the scores, of some places or of all, 0 where a turn may not be answered."""
        # Most questions leave nothing out.
        if not self.filtered:
            return scores
        return scores * (self.allowed if places is None else self.allowed[places])
