"""Order by time: of the turns that answer about equally well, the first or the last comes first.

"When did I last swim?" is answered by the latest of several days of swimming. Only turns near the
best score are reordered, since the last turn that barely fits is no answer.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.times.asked_order import Order

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: Added to the score of the turn that is first in the asked order; the others get less by rank.
BOOST = np.float32(0.3)
#: The number of best turns that may be reordered, and their least score as a share of the best.
TOP_N = 10
MIN_SHARE = np.float32(0.7)


def boost_by_time(scores: Floats, places: Ints, *, order: Order, index: Index) -> Floats:
    """Boost the first or the last of the best turns; return the new scores.

    `scores` are best first.
    """
    near = np.flatnonzero(scores[:TOP_N] >= MIN_SHARE * scores[:1])
    if len(near) < 2:
        return scores
    times = index.turns.occurred_at[places[near]]
    distinct, rank = np.unique(times, return_inverse=True)
    share = rank / np.float32(max(len(distinct) - 1, 1))
    boosted = scores.copy()
    boosted[near] += BOOST * (share if order == "last" else 1 - share)
    return boosted
