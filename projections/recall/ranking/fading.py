"""Decay and recency (B1): a memory that is old, and was not recalled lately, may count less.

decay = 0.99 ^ (hours since it was last recalled, or else happened / strength), and
recency = e ^ (-hours since it happened / 72); the strength of a memory that
was recalled n times is 1 + ln(1 + n), of which the first recalls add most.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recollect.projections.events import turns_for_recall as events
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.ranking.profiles import Profile

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

DECAY = 0.99
RECENCY_HOURS = 72.0
_HOUR_MS = 3_600_000


def faded(
    scores: Floats,
    places: Ints,
    *,
    asked_at: int | None,
    profile: Profile,
    index: Index,
    files: ZoneFiles,
) -> Floats:
    """Return the scores of places after fading.

    Of a score, the share `profile.decay` decays and `profile.recency` goes with recency. `asked_at`
    (unix ms) is now; None: when the zone's last turn was said.
    """
    if not (profile.decay or profile.recency) or not len(places):
        return scores
    turns = index.turns
    now = int(turns.occurred_at.max()) if asked_at is None else asked_at
    happened = turns.occurred_at[places]
    recalled = happened.copy()
    times = np.zeros(len(places))
    place_of = {int(place): row for row, place in enumerate(places)}
    ids = [turns.ids[place] for place in places.tolist()]
    for event, count, number in memory.recall_counts(files.memory.connection, ids):
        row = place_of[turns.place_of_id[event]]
        times[row] = count
        last = events.ingested_before(files.events.connection, number)
        recalled[row] = max(int(recalled[row]), last)
    kept = 1 - profile.decay - profile.recency
    kept += profile.decay * DECAY ** (_hours(now - recalled) / (1 + np.log1p(times)))
    kept += profile.recency * np.exp(-_hours(now - happened) / RECENCY_HOURS)
    less: Floats = scores * kept.astype(np.float32)
    return less


def _hours(passed: Ints) -> npt.NDArray[np.float64]:
    return np.maximum(passed, 0) / _HOUR_MS
