"""Questions that ask for a list gather over a person's turns, not over one best place.

The neighbours of a turn that answers are found with it, and what the other one says there ("Oh,
which city was that?") names no further member of the list. So beyond the best few it gives way
to what the one who is asked about says elsewhere. English alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from projections.recall.index.zone_index import Index

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: What the best places hold stays: they answer, whatever is asked for.
KEPT = 5
#: What another's turn gives way by beside one that came before it: a sixth of the weight of who
#: speaks. LoCoMo's lists (dev) gain 0.4 of recall@10 from 0.03 on, and other questions stay.
STEP = np.float32(0.05)
#: Turns that stand so close are one place: what was said, what it answers, and what answers it.
CLOSE = 2


def gathered(scores: Floats, places: Ints, *, said: Mask, index: Index) -> Floats:
    """Return the scores of turns, best first, less where others spoke beside a better turn.

    `said` marks the turns of whom the question asks about.
    """
    beside = np.zeros(len(places), bool)
    for distance in range(-CLOSE, CLOSE + 1):
        if distance:
            near = index.turns.sessions.neighbour(places, distance)
            # Those that stand there and came before.
            beside |= np.tril(near[:, None] == places, -1).any(axis=1)
    less = scores - STEP * (beside & ~said[places])
    # What is kept stays ahead.
    less[:KEPT] = scores[:KEPT]
    return np.maximum(less, 0)
