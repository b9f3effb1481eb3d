"""Support by day: the turns of the days of the best turns.

One activity often leaves traces in several sources on the same day: an appointment, a message, a
photo, a note. So a turn is supported by the best turn from another platform on the same days. The
days of a turn are the day on which it was sent and the days that its text names: an appointment is
entered days before. Turns of its own platform do not count: those of its session are in its window,
and two chats on one day rarely share a topic. So in a zone of a single platform no turn is
supported.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.arms.arm_scores import ArmScores
from recollect.projections.recall.index.arrays.growable_arrays import nonzero
from recollect.projections.recall.index.turn_days import DayPairs

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def same_day(best: Ints, scores: Floats, platform: Ints, pairs: DayPairs) -> ArmScores:
    """Score each turn by the best turn of its days from another platform.

    `best`: the places of the best turns so far, best first; `scores`: their scores. `platform`: the
    platform of each turn, as a number.
    """
    rows, day = pairs.of_turns(best)
    seed_platform, seed_score = platform[best[rows]], scores[rows]
    # The first occurrence of a day is its best turn.
    days, first, day_row = np.unique(day, return_index=True, return_inverse=True)
    # The best from another platform than the first, where the day has one.
    others = np.flatnonzero(seed_platform != seed_platform[first][day_row])
    other_rows, other = np.unique(day_row[others], return_index=True)
    second_score = np.zeros(len(days), np.float32)
    second_score[other_rows] = seed_score[others[other]]
    day_rows, places = pairs.of_days(days)
    support = np.where(
        platform[places] == seed_platform[first][day_rows],
        second_score[day_rows],
        seed_score[first][day_rows],
    )
    turn_support = np.zeros(len(platform), np.float32)
    np.maximum.at(turn_support, places, support)
    reached = nonzero(turn_support > 0)
    return ArmScores(reached, np.minimum(turn_support[reached], 1.0))
