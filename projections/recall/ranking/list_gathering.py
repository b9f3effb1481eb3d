"""Lists: where several things are asked for, they are gathered from all over a person's turns.

The neighbours of a turn that answers are found with it, and what somebody else writes there ("Oh,
which city was that?") adds nothing to the list. So after the best few results such neighbours
score a little less than what the person who is asked about wrote elsewhere. English alone.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.zone_index import Index

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: So many of the best turns keep their scores: they answer, whatever is asked for.
FIRST = 5
#: What somebody else's turn next to a better one loses: a sixth of the weight of the speaker.
#: LoCoMo's lists (dev) gain 0.4 of recall@10 from 0.03 on, and other questions stay.
STEP = np.float32(0.05)
#: Turns so close to one another belong together: a turn, what it answers, and what answers it.
CLOSE = 2


def spread_list(scores: Floats, places: Ints, *, by_speakers: Mask, index: Index) -> Floats:
    """Return the scores of turns, best first; somebody else's turn next to a better one loses.

    `by_speakers` marks the turns of those whom the question asks about.
    """
    near_better = np.zeros(len(places), bool)
    for distance in range(-CLOSE, CLOSE + 1):
        if distance:
            near = index.turns.sessions.neighbour(places, distance)
            # The neighbour is among those that rank before.
            near_better |= np.tril(near[:, None] == places, -1).any(axis=1)
    less = scores - STEP * (near_better & ~by_speakers[places])
    less[:FIRST] = scores[:FIRST]
    return np.maximum(less, 0)
