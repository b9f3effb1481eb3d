"""The arms: each says how well every turn answers the question, from 0 (not found) to 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from projections.recall.index.growable_arrays import distinct

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Found(NamedTuple):
    """What the arms say of turns: of those at `places`, ascending, by arm.

    `facts`: how near facts are, by id, the nearest first. `unread`: the turns of which an arm can
    say nothing, of those that cannot read every turn. `evidence`: how near the best comes to what
    is asked, as `relevance` reads it.
    """

    places: Ints
    turns: dict[str, Floats]
    facts: dict[str, float]
    unread: dict[str, Mask]
    evidence: dict[str, float]


class Said(NamedTuple):
    """What an arm says: the scores of turns at `places`, ascending, and of no others; None: of all.

    `unread`: the places, ascending, of which it can say nothing.
    """

    places: Ints | None
    scores: Floats
    unread: Ints | None = None

    def of(self, places: Ints) -> Floats:
        """Return the scores of some turns; 0 where it did not find one."""
        if self.places is None:
            return self.scores[places]
        if not len(self.places):
            return np.zeros(len(places), np.float32)
        row = self.places.searchsorted(places)
        known = self.places.take(row, mode="clip") == places
        found: Floats = self.scores.take(row, mode="clip") * known
        return found


class Heard(NamedTuple):
    """What the arms say of all `size` turns; otherwise as `Found`."""

    size: int
    arms: dict[str, Said]
    facts: dict[str, float]
    evidence: dict[str, float]

    def also(self, arm: str, said: Said) -> Heard:
        """Return the same with what one more arm says."""
        return self._replace(arms={**self.arms, arm: said})

    def at(self, places: Ints) -> Found:
        """Return what is said of some turns, ascending."""
        unread = {
            name: np.isin(places, said.unread)
            for name, said in self.arms.items()
            if said.unread is not None
        }
        turns = {name: said.of(places) for name, said in self.arms.items()}
        return Found(places, turns, self.facts, unread, self.evidence)

    def everywhere(self) -> Found:
        """Return what is said of every turn."""
        return self.at(np.arange(self.size))

    @property
    def unread(self) -> Ints:
        """The turns of which some arm can say nothing."""
        some = [said.unread for said in self.arms.values() if said.unread is not None]
        return distinct(np.concatenate(some)) if some else np.zeros(0, np.int64)
