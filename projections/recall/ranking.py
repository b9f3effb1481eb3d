"""From the scores of the arms to one order of turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from projections.events import recalls
from projections.files import ZoneFiles
from projections.recall.arms import Found
from projections.recall.fusion import mmr, rrf, scaled, top, weighted
from projections.recall.index import Index
from projections.recall.profiles import EXTRA, READING, Profile
from projections.recall.vectors import vectors_of

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# Turns are looked at one by one (do they ask or tell?) only among the best.
_CLOSE_LOOK = 100


#: Returns scores with those of some places, given best first, changed.
Rescore = Callable[[Floats, Ints], Floats]


class Ranked(NamedTuple):
    """Turns by place, best first, and the score of every turn."""

    places: Ints
    scores: Floats

    def weighed(self, relevance: float) -> Ranked:
        """Return the same order, its scores times a probability that anything is meant."""
        return self._replace(scores=self.scores * np.float32(relevance))


def ranked(
    found: Found,
    eligible: Mask,
    profile: Profile,
    index: Index,
    files: ZoneFiles,
    *,
    pool: int,
    count: int,
    rescoring: Sequence[Rescore] = (),
) -> Ranked:
    """Return up to `pool` turns in order; up to `count` where the profile asks for diversity.

    `rescoring`: what looks at those again, one after the other, before diversity.
    """
    scores = _fused(found, profile)
    best = _best(found, scores, eligible, pool)
    scores = _less_questions(scores, best[:_CLOSE_LOOK], profile.question_share, index, files)
    best = best[np.argsort(-scores[best], kind="stable")]
    for rescore in rescoring:
        scores = rescore(scores, best)
        best = best[np.argsort(-scores[best], kind="stable")]
    if profile.mmr_lambda is not None:
        ids = [index.turns.ids[place] for place in best]
        vectors = vectors_of(files.embeddings, "event", ids)
        best = best[mmr(scores[best], vectors, count, profile.mmr_lambda)]
    return Ranked(best, scores)


def so_far(found: Found, eligible: Mask, profile: Profile, count: int) -> Ranked:
    """Return the `count` turns that the arms so far put first."""
    scores = _fused(found, profile)
    return Ranked(_best(found, scores, eligible, count), scores)


def _best(found: Found, scores: Floats, eligible: Mask, pool: int) -> Ints:
    """Return the best eligible turns that any arm found, best first."""
    anywhere = np.zeros(len(scores), bool)
    for arm in found.turns.values():
        anywhere |= arm > 0
    return top(np.where(anywhere & eligible, scores, -np.inf), pool)


def _fused(found: Found, profile: Profile) -> Floats:
    if profile.fusion == "rrf":
        return scaled(rrf(found.turns.values(), profile.rrf_k), floor=0.0)
    judged = {name: arm for name, arm in found.turns.items() if name not in EXTRA}
    scores = weighted(judged, profile.weights, READING, found.unread)
    for name in sorted(found.turns.keys() & EXTRA):
        scores += np.float32(profile.weights[name]) * found.turns[name]
    return scores


def _less_questions(
    scores: Floats, places: Ints, share: float, index: Index, files: ZoneFiles
) -> Floats:
    """Return the scores less a share of what part of a turn's sentences asks instead of tells."""
    less = scores.copy()
    numbers = [int(index.turns.numbers[place]) for place in places]
    for number, said in recalls.said(files.events.connection, numbers).items():
        asked = said.content.count("?")
        if asked:
            ends = asked + said.content.count(".") + said.content.count("!")
            less[index.turns.row[number]] -= share * asked / ends
    return np.maximum(less, 0)
