"""From the scores of the arms to one order of turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.arms.arm_scores import Candidates, ScoresByArm
from recollect.projections.recall.arms.scaling import min_max_scale
from recollect.projections.recall.index.growable_arrays import nonzero
from recollect.projections.recall.index.selection import top
from recollect.projections.recall.index.vector_index import vectors_of
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.ranking.diversity import mmr
from recollect.projections.recall.ranking.fusion import rrf, shares, weighted
from recollect.projections.recall.ranking.profiles import EXTRA, READING, Profile

# Where there are more scores than this, a sample gives a lower bound of the best first.
_SAMPLE = 8_192

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Returns the scores of some places, given best first, changed.
Rescore = Callable[[Floats, Ints], Floats]


class Ranked(NamedTuple):
    """Turns by place, best first, with their scores; and the scores of all that were found."""

    places: Ints
    scores: Floats
    of_found: Floats

    def times(self, relevance: float) -> Ranked:
        """Return the same order, with scores times the probability that there is an answer."""
        share = np.float32(relevance)
        return Ranked(self.places, self.scores * share, self.of_found * share)


def ranked(
    found: Candidates,
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

    A turn that asks a question counts less. `rescoring`: steps that change the scores of these
    turns, one after the other, before diversity.
    """
    scores = _fused(found, profile)
    asks = np.float32(profile.question_share) * index.turns.question_share[found.places]
    discounted = np.maximum(scores - asks, 0)
    best = _best(scores, discounted, eligible[found.places], pool)
    of_best = discounted[best]
    for rescore in rescoring:
        of_best = rescore(of_best, found.places[best])
        order = np.argsort(-of_best, kind="stable")
        best, of_best = best[order], of_best[order]
    discounted[best] = of_best
    if profile.mmr_lambda is not None:
        ids = [index.turns.ids[place] for place in found.places[best]]
        vectors = vectors_of(files.embeddings, "event", ids)
        best = best[mmr(of_best, vectors, count, profile.mmr_lambda)]
    return Ranked(found.places[best], discounted[best], discounted)


def best_so_far(found: Candidates, eligible: Mask, profile: Profile, count: int) -> Ranked:
    """Return the `count` turns that rank first by the arms that ran so far."""
    scores = _fused(found, profile)
    best = _best(scores, scores, eligible[found.places], count)
    return Ranked(found.places[best], scores[best], scores)


def leading(scored: ScoresByArm, eligible: Mask, profile: Profile, count: int) -> Ranked:
    """Return the `count` turns of the zone that rank first by the arms."""
    if profile.fusion == "rrf":
        # Ranks are among all turns.
        return best_so_far(scored.all_turns(), eligible, profile, count)
    scores = np.zeros(scored.size, np.float32)
    share = shares(scored.arms, profile.weights, READING, EXTRA)
    for name, arm in scored.arms.items():
        if arm.places is None:
            scores += share[name] * arm.scores
        else:
            scores[arm.places] += share[name] * arm.scores
    if len(unread := scored.unread):
        scores[unread] = _fused(scored.at(unread), profile)
    if not eligible.all():
        scores *= eligible
    likely = _likely(scores, count)
    best = likely[top(scores[likely], count)]
    return Ranked(best, scores[best], scores)


def _likely(scores: Floats, count: int) -> Ints:
    """Return the places of the `count` best scores above 0, and few others, ascending."""
    if len(scores) > _SAMPLE:
        sample = scores[:: len(scores) // _SAMPLE + 1]
        # Twice as many as are expected in the sample, and 16 more: hardly ever too few.
        rank = 2 * count * len(sample) // len(scores) + 16
        cut = np.partition(sample, -rank)[-rank] if rank <= len(sample) else 0
        if cut > 0 and len(places := nonzero(scores >= cut)) >= count:
            return places
    return nonzero(scores > 0)


def _best(found: Floats, scores: Floats, eligible: Mask, pool: int) -> Ints:
    """Return the rows of the best eligible turns that any arm found, best first."""
    return top(np.where((found > 0) & eligible, scores, -np.inf), pool)


def _fused(found: Candidates, profile: Profile) -> Floats:
    if profile.fusion == "rrf":
        return min_max_scale(rrf(found.scores_by_arm.values(), profile.rrf_k), floor=0.0)
    return weighted(found.scores_by_arm, profile.weights, READING, found.unread, EXTRA)
