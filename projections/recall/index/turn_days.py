"""The days of turns: the day on which a turn was sent, and the days that its text names.

An appointment in a calendar is written days before, and its text says when it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.arrays.growable_arrays import GrowableArray, concat_ranges
from recollect.projections.recall.index.turn_index import Turns

Ints = npt.NDArray[np.int64]

#: The ordinal of the first day of 1970, from which days are counted here.
EPOCH = date(1970, 1, 1).toordinal()

_DAY_MS = 86_400_000
_BLOCK = 10_000


class NamedDays(NamedTuple):
    """The dates in texts of turns: place, first and last day (since 1970), by place ascending."""

    places: Ints
    first: Ints
    last: Ints


class DayPairs:
    """Pairs of a turn and a day: on which it was sent, or which a date in its text names."""

    def __init__(self, own: Ints, named: NamedDays) -> None:
        """`own`: the day of each turn. Dates that span several days are left out."""
        self.size = len(own), len(named.places)
        single = named.first == named.last
        places = np.concatenate((np.arange(len(own)), named.places[single]))
        days = np.concatenate((own, named.first[single]))
        order = np.argsort(places, kind="stable")
        self._places, self._days = places[order], days[order]
        self._by_day = np.argsort(self._days, kind="stable")
        self._sorted_days = self._days[self._by_day]

    def of_turns(self, places: Ints) -> tuple[Ints, Ints]:
        """Return (row in `places`, day) of the pairs of some turns, in the order of `places`."""
        rows, found = _ranges(self._places, places)
        return rows, self._days[found]

    def of_days(self, days: Ints) -> tuple[Ints, Ints]:
        """Return (row in `days`, place of a turn) of the pairs of some days."""
        rows, found = _ranges(self._sorted_days, days)
        return rows, self._places[self._by_day[found]]


class TurnDays:
    """The days of the turns of an index, read when they are first needed."""

    def __init__(
        self, turns: Turns, read: Callable[[Sequence[str]], Sequence[tuple[int, int, int]]]
    ) -> None:
        """`read` returns (position of the event, first day, last day) of the dates in events."""
        self._turns = turns
        self._read = read
        self.clear()

    def clear(self) -> None:
        """Drop all days, since turns were removed or decided again."""
        self._count = 0
        self._named = GrowableArray(np.zeros((3, 0), np.int64))
        # UTC offset -> pairs; one at most.
        self._pairs: dict[int, DayPairs] = {}

    def named(self, decided: int) -> NamedDays:
        """Return the dates in the texts of the first `decided` turns."""
        while self._count < decided:
            end = min(self._count + _BLOCK, decided)
            found = self._read(self._turns.ids[self._count : end])
            if found:
                positions, first, last = np.array(found, np.int64).T
                self._named.extend(np.stack((positions + self._count, first, last)))
            self._count = end
        return NamedDays(*self._named.values)

    def pairs(self, utc_offset: int, decided: int) -> DayPairs:
        """Return the pairs of turns and days; `utc_offset`, in minutes, says when days begin."""
        named = self.named(decided)
        pairs = self._pairs.get(utc_offset)
        if pairs is None or pairs.size != (len(self._turns), len(named.places)):
            own = (self._turns.occurred_at + utc_offset * 60_000) // _DAY_MS
            pairs = DayPairs(own, named)
            self._pairs = {utc_offset: pairs}
        return pairs


def _ranges(ascending: Ints, values: Ints) -> tuple[Ints, Ints]:
    """Return (row in `values`, position in `ascending`) of all occurrences of some values."""
    start = ascending.searchsorted(values, "left")
    count = ascending.searchsorted(values, "right") - start
    return np.repeat(np.arange(len(values)), count), concat_ranges(start, count)
