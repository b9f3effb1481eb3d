"""Support by day: the turns of the days on which the best turns were sent.

One activity often leaves traces in several sources on the same day: an appointment, a message, a
photo, a note. So a turn is supported by the best turn of its day from another platform. Turns of
its own platform do not count: those of its session are in its window, and two chats on one day
rarely share a topic. So in a zone of a single platform no turn is supported.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.arms.arm_scores import ArmScores
from recollect.projections.recall.index.turn_index import Turns

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


class _BestOfDays(NamedTuple):
    """The best turn of each day: the day, and the turn's platform and score. Days ascend."""

    days: Ints
    platforms: Ints
    scores: Floats


def same_day(best: Ints, scores: Floats, turns: Turns, utc_offset: int) -> ArmScores:
    """Score each turn by the best turn of its day from another platform.

    `best`: the places of the best turns so far, best first; `scores`: their scores. `utc_offset`,
    in minutes, says when days begin.
    """
    day, platform = turns.days(utc_offset), turns.platform
    first = _best_of_days(best, scores, turns, utc_offset)
    if not len(first.days):
        return ArmScores(np.zeros(0, np.int64), np.zeros(0, np.float32))
    # The best from another platform than the first, where the day has one.
    others = platform[best] != first.platforms[np.searchsorted(first.days, day[best])]
    second = _best_of_days(best[others], scores[others], turns, utc_offset)
    row_of_day = np.full(int(first.days[-1] - first.days[0]) + 1, -1, np.int32)
    row_of_day[first.days - first.days[0]] = np.arange(len(first.days))
    second_scores = np.zeros(len(first.days), np.float32)
    second_scores[np.searchsorted(first.days, second.days)] = second.scores
    offset = day - first.days[0]
    inside = np.flatnonzero((offset >= 0) & (offset < len(row_of_day)))
    rows = row_of_day[offset[inside]]
    places, rows = inside[rows >= 0], rows[rows >= 0]
    support = np.where(
        platform[places] == first.platforms[rows], second_scores[rows], first.scores[rows]
    )
    found = support > 0
    return ArmScores(places[found], np.minimum(support[found], 1.0))


def _best_of_days(best: Ints, scores: Floats, turns: Turns, utc_offset: int) -> _BestOfDays:
    days, first = np.unique(turns.days(utc_offset)[best], return_index=True)
    return _BestOfDays(days, turns.platform[best[first]], scores[first])
