"""What arms return: how well each turn answers a question, from 0 (not found) to 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.growable_arrays import distinct

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Candidates(NamedTuple):
    """The turns at `places`, ascending, with the scores that each arm gives them, by arm.

    `facts`: how near facts are, by id, the nearest first. `unread`: by arm, the turns that it
    could not read, for arms that cannot read every turn. `evidence`: how near the best comes to
    what is asked, as `relevance` uses it. `personal`: the cosine of the nearest personal turn or
    fact of one; None: not both of the arms by vectors found one.
    """

    places: Ints
    scores_by_arm: dict[str, Floats]
    facts: dict[str, float]
    unread: dict[str, Mask]
    evidence: dict[str, float]
    personal_cosine: float | None = None


class ArmScores(NamedTuple):
    """The scores that an arm gives: to the turns at `places`, ascending; None: to all turns.

    `unread`: the places, ascending, of turns that it could not read.
    """

    places: Ints | None
    scores: Floats
    unread: Ints | None = None

    def of(self, places: Ints) -> Floats:
        """Return the scores of some turns; 0 for those that the arm did not find."""
        if self.places is None:
            return self.scores[places]
        if not len(self.places):
            return np.zeros(len(places), np.float32)
        row = self.places.searchsorted(places)
        known = self.places.take(row, mode="clip") == places
        found: Floats = self.scores.take(row, mode="clip") * known
        return found


class ScoresByArm(NamedTuple):
    """The scores of all `size` turns by arm; the rest as in `Candidates`."""

    size: int
    arms: dict[str, ArmScores]
    facts: dict[str, float]
    evidence: dict[str, float]
    personal_cosine: float | None = None

    def with_arm(self, arm: str, scores: ArmScores) -> ScoresByArm:
        """Return the same with the scores of one more arm."""
        return self._replace(arms={**self.arms, arm: scores})

    def at(self, places: Ints) -> Candidates:
        """Return the scores of some turns; `places` ascend."""
        unread = {
            name: np.isin(places, scores.unread)
            for name, scores in self.arms.items()
            if scores.unread is not None
        }
        turns = {name: scores.of(places) for name, scores in self.arms.items()}
        return Candidates(places, turns, self.facts, unread, self.evidence, self.personal_cosine)

    def all_turns(self) -> Candidates:
        """Return the scores of every turn."""
        return self.at(np.arange(self.size))

    @property
    def unread(self) -> Ints:
        """The turns that some arm could not read."""
        some = [scores.unread for scores in self.arms.values() if scores.unread is not None]
        return distinct(np.concatenate(some)) if some else np.zeros(0, np.int64)
