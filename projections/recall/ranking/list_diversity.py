"""List questions: gather answers from all of a person's turns, not from one place.

The neighbours of a good turn are found along with it, and a reply by somebody else ("Oh, which city
was that?") adds nothing to the list. So below the best few results, such replies are demoted in
favour of turns by the person asked about. English only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.zone_index import Index

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: The number of best turns that are never demoted.
PROTECTED_RESULTS = 5
#: Subtracted from the score of somebody else's turn near a better one: a sixth of the weight of the
#: `entity` arm. From 0.03 on, LoCoMo's list questions (dev) gain 0.4 of recall@10, and others are
#: unchanged.
PENALTY = np.float32(0.05)
#: The largest distance of neighbours, in turns: a turn, the one it replies to, and a reply to it.
NEIGHBOUR_DISTANCE = 2


def demote_neighbours(scores: Floats, places: Ints, *, by_speakers: Mask, index: Index) -> Floats:
    """Demote turns of other speakers near better turns; return the new scores.

    `scores` are best first. `by_speakers` marks the turns of the speakers that the question asks
    about.
    """
    near_better = np.zeros(len(places), bool)
    for distance in range(-NEIGHBOUR_DISTANCE, NEIGHBOUR_DISTANCE + 1):
        if distance:
            neighbours = index.turns.sessions.neighbour(places, distance)
            # Only neighbours ranked above the turn are considered.
            near_better |= np.tril(neighbours[:, None] == places, -1).any(axis=1)
    demoted = scores - PENALTY * (near_better & ~by_speakers[places])
    demoted[:PROTECTED_RESULTS] = scores[:PROTECTED_RESULTS]
    return np.maximum(demoted, 0)
