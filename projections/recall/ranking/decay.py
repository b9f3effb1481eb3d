"""Decay and recency: lower the scores of memories that are old and not recalled lately.

    decay   = 0.99 ^ (idle hours / strength)
    recency = e ^ (-hours since the event / 72)

Idle hours are the hours since the last recall, or since the event if the memory was never recalled.
The strength of a memory that was recalled n times is 1 + ln(1 + n), so the first recalls count
most.
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


def apply_decay(
    scores: Floats,
    places: Ints,
    *,
    asked_at: int | None,
    profile: Profile,
    index: Index,
    files: ZoneFiles,
) -> Floats:
    """Return the scores of turns after decay.

    The share `profile.decay` of a score is multiplied by decay, the share `profile.recency` by
    recency, and the rest is kept. `asked_at` (unix ms) is the present; None means the time of the
    zone's last turn.
    """
    if not (profile.decay or profile.recency) or not len(places):
        return scores
    turns = index.turns
    now = int(turns.occurred_at.max()) if asked_at is None else asked_at
    occurred_at = turns.occurred_at[places]
    recalled_at = occurred_at.copy()
    recall_counts = np.zeros(len(places))
    row_of_place = {int(place): row for row, place in enumerate(places)}
    ids = [turns.ids[place] for place in places.tolist()]
    for event, count, number in memory.recall_counts(files.memory.connection, ids):
        row = row_of_place[turns.place_of_id[event]]
        recall_counts[row] = count
        last = events.ingested_before(files.events.connection, number)
        recalled_at[row] = max(int(recalled_at[row]), last)
    factors = 1 - profile.decay - profile.recency
    factors += profile.decay * DECAY ** (_hours(now - recalled_at) / (1 + np.log1p(recall_counts)))
    factors += profile.recency * np.exp(-_hours(now - occurred_at) / RECENCY_HOURS)
    decayed: Floats = scores * factors.astype(np.float32)
    return decayed


def _hours(elapsed_ms: Ints) -> npt.NDArray[np.float64]:
    return np.maximum(elapsed_ms, 0) / _HOUR_MS
