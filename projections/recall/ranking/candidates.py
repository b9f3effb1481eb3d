"""Find candidates: fast arms score every turn, slow arms only the best of those."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.arms.arm_scores import ArmScores, Candidates
from recollect.projections.recall.arms.late_interaction import late_interaction
from recollect.projections.recall.arms.run_arms import run_arms
from recollect.projections.recall.arms.same_day import same_day
from recollect.projections.recall.arms.shared_entities import SEEDS, expand_by_entities
from recollect.projections.recall.index.arrays.growable_arrays import distinct
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.ranking.profiles import BUDGETS, Profile
from recollect.projections.recall.ranking.turn_ranking import top_candidates, top_turns

Mask = npt.NDArray[np.bool_]


def candidates(
    question: ParsedQuestion, profile: Profile, index: Index, files: ZoneFiles
) -> Candidates:
    """Return the turns that the arms of the question's budget find, with their scores.

    The fast arms score the whole zone. Of the best 2 * pool turns, late interaction rescores the
    top few. Turns that share an entity with the best are added, and turns are supported by others
    of their day. All turns of the zone are returned if ranks among them are needed: for an
    explanation, or for rank fusion.
    """
    arms, eligible = _arms_of(question), question.eligible
    results = question.query.max_results
    pool = profile.pool_for(results, wide=question.is_wide)
    scored = run_arms(arms, question, index, files, pool)
    if not scored.arms:
        return scored.all_turns()
    best = top_turns(scored, eligible, profile, 2 * pool)
    by_day = "day" in arms and profile.weights.get("day") and len(index.turns.platforms) > 1
    if by_day:
        pairs = index.day_pairs(question.utc_offset)
        day = same_day(best.places, best.scores, index.turns.platform, pairs)
        best = top_turns(scored.with_arm("day", day), eligible, profile, 2 * pool)
    places = np.sort(best.places)
    tokens = question.vectors.tokens
    if "late" in arms and tokens is not None and profile.weights.get("late"):
        high = question.query.budget == "high"
        limit = profile.late_interaction_limit_for(results, wide=high)
        rescored = np.sort(best.places[:limit])
        late = late_interaction(tokens, rescored, index)
        unread = rescored[late.unread] if late.unread.any() else None
        scored = scored.with_arm("late", ArmScores(rescored, late.scores, unread))
        if late.best_raw is not None:
            scored = scored._replace(evidence={**scored.evidence, "late": late.best_raw})
    if "shared" in arms and profile.weights.get("shared"):
        seeds = top_candidates(scored.at(places), eligible, profile, SEEDS)
        reached, scores = expand_by_entities(question, seeds.places, seeds.scores, index)
        if len(reached):
            scored = scored.with_arm("shared", ArmScores(reached, scores))
            places = distinct(np.concatenate((places, reached)))
    if by_day:
        seeds = top_candidates(scored.at(places), eligible, profile, 2 * pool)
        day = same_day(seeds.places, seeds.scores, index.turns.platform, pairs)
        scored = scored.with_arm("day", day)
    needs_all = question.query.explain or profile.fusion == "rrf"
    return scored.all_turns() if needs_all else scored.at(places)


def _arms_of(question: ParsedQuestion) -> frozenset[str]:
    """Return the arms that the question's budget runs; without a vector, the keyword arm too."""
    arms = BUDGETS[question.query.budget]
    return arms if question.vector is not None else arms | {"keyword"}
