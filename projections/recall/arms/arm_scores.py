"""The scores that arms return: from 0 (not found) to 1 for each turn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.arrays.growable_arrays import distinct

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Candidates(NamedTuple):
    """The turns at `places` (ascending), with their scores by arm.

    `facts`: id -> similarity, the most similar first. `unread`: by arm, the turns that the arm
    could not read, such as turns without token vectors. `evidence`: the best raw score per signal,
    for `relevance`. `personal_cosine`: the best cosine among personal turns and their facts; None
    unless both vector arms found a personal turn.
    """

    places: Ints
    scores_by_arm: dict[str, Floats]
    facts: dict[str, float]
    unread: dict[str, Mask]
    evidence: dict[str, float]
    personal_cosine: float | None = None


class ArmScores(NamedTuple):
    """The scores of one arm for the turns at `places` (ascending), or for all turns if None.

    `unread`: the places, ascending, of turns that the arm could not read.
    """

    places: Ints | None
    scores: Floats
    unread: Ints | None = None

    def of(self, places: Ints) -> Floats:
        """Return the scores of turns; 0 for those that the arm did not find."""
        if self.places is None:
            return self.scores[places]
        if not len(self.places):
            return np.zeros(len(places), np.float32)
        row = self.places.searchsorted(places)
        known = self.places.take(row, mode="clip") == places
        found: Floats = self.scores.take(row, mode="clip") * known
        return found


class ScoresByArm(NamedTuple):
    """The scores of all `size` turns by arm; for the other fields see `Candidates`."""

    size: int
    arms: dict[str, ArmScores]
    facts: dict[str, float]
    evidence: dict[str, float]
    personal_cosine: float | None = None

    def with_arm(self, arm: str, scores: ArmScores) -> ScoresByArm:
        """Return a copy with the scores of one more arm."""
        return self._replace(arms={**self.arms, arm: scores})

    def at(self, places: Ints) -> Candidates:
        """Return the scores of the turns at `places`, ascending."""
        unread = {
            name: np.isin(places, scores.unread)
            for name, scores in self.arms.items()
            if scores.unread is not None
        }
        turns = {name: scores.of(places) for name, scores in self.arms.items()}
        return Candidates(places, turns, self.facts, unread, self.evidence, self.personal_cosine)

    def all_turns(self) -> Candidates:
        """Return the scores of all turns."""
        return self.at(np.arange(self.size))

    @property
    def unread(self) -> Ints:
        """The places of the turns that at least one arm could not read."""
        some = [scores.unread for scores in self.arms.values() if scores.unread is not None]
        return distinct(np.concatenate(some)) if some else np.zeros(0, np.int64)
