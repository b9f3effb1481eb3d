"""Rank turns by the fused scores of the arms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.arms.arm_scores import Candidates, ScoresByArm
from recollect.projections.recall.arms.scaling import min_max_scale
from recollect.projections.recall.index.arrays.growable_arrays import nonzero
from recollect.projections.recall.index.arrays.selection import top
from recollect.projections.recall.index.vector_index import vectors_of
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.ranking.diversity import mmr
from recollect.projections.recall.ranking.fusion import effective_weights, rrf, weighted_sum
from recollect.projections.recall.ranking.profiles import BONUS_ARMS, TEXT_ARMS, Profile

# With more scores than this, a lower bound for the best ones is first taken from a sample.
_SAMPLE_SIZE = 8_192

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: (scores, places), best first -> the new scores of these places.
Rescore = Callable[[Floats, Ints], Floats]


class RankedTurns(NamedTuple):
    """Turns by place, best first, with their scores, and the scores of all candidates."""

    places: Ints
    scores: Floats
    candidate_scores: Floats

    def scaled_by(self, probability: float) -> RankedTurns:
        """Multiply all scores by the probability that there is an answer."""
        factor = np.float32(probability)
        return RankedTurns(self.places, self.scores * factor, self.candidate_scores * factor)


def rank_turns(
    found: Candidates,
    eligible: Mask,
    profile: Profile,
    index: Index,
    files: ZoneFiles,
    *,
    pool: int,
    count: int,
    rescoring: Sequence[Rescore] = (),
) -> RankedTurns:
    """Return up to `pool` turns, best first; up to `count` if the profile diversifies.

    Turns that ask questions are discounted. The `rescoring` steps are applied in order, before
    diversification.
    """
    scores = _fused(found, profile)
    discount = np.float32(profile.question_share) * index.turns.question_share[found.places]
    discounted = np.maximum(scores - discount, 0)
    best = _best(scores, discounted, eligible[found.places], pool)
    best_scores = discounted[best]
    for rescore in rescoring:
        best_scores = rescore(best_scores, found.places[best])
        order = np.argsort(-best_scores, kind="stable")
        best, best_scores = best[order], best_scores[order]
    discounted[best] = best_scores
    if profile.mmr_lambda is not None:
        ids = [index.turns.ids[place] for place in found.places[best]]
        vectors = vectors_of(files.embeddings, "event", ids)
        best = best[mmr(best_scores, vectors, count, profile.mmr_lambda)]
    return RankedTurns(found.places[best], discounted[best], discounted)


def top_candidates(found: Candidates, eligible: Mask, profile: Profile, count: int) -> RankedTurns:
    """Return the best `count` candidates by the arms that have run so far."""
    scores = _fused(found, profile)
    best = _best(scores, scores, eligible[found.places], count)
    return RankedTurns(found.places[best], scores[best], scores)


def top_turns(scored: ScoresByArm, eligible: Mask, profile: Profile, count: int) -> RankedTurns:
    """Return the best `count` turns of the zone by the arms."""
    if profile.fusion == "rrf":
        # Rank fusion needs the ranks among all turns.
        return top_candidates(scored.all_turns(), eligible, profile, count)
    scores = np.zeros(scored.size, np.float32)
    weights = effective_weights(scored.arms, profile.weights, TEXT_ARMS, BONUS_ARMS)
    for name, arm in scored.arms.items():
        if arm.places is None:
            scores += weights[name] * arm.scores
        else:
            scores[arm.places] += weights[name] * arm.scores
    if len(unread := scored.unread):
        scores[unread] = _fused(scored.at(unread), profile)
    if not eligible.all():
        scores *= eligible
    places = _superset_of_top(scores, count)
    best = places[top(scores[places], count)]
    return RankedTurns(best, scores[best], scores)


def _superset_of_top(scores: Floats, count: int) -> Ints:
    """Return the places of the `count` best scores above 0, and few others, ascending."""
    if len(scores) > _SAMPLE_SIZE:
        sample = scores[:: len(scores) // _SAMPLE_SIZE + 1]
        # Twice the expected number in the sample, plus 16: this is hardly ever too few.
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
    return weighted_sum(found.scores_by_arm, profile.weights, TEXT_ARMS, found.unread, BONUS_ARMS)
