"""Candidates: fast arms read every turn, slow arms only those that may be among the best."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.arms.arm_scores import ArmScores, Candidates
from recollect.projections.recall.arms.late_interaction import late_interaction
from recollect.projections.recall.arms.run_arms import run_arms
from recollect.projections.recall.arms.shared_entities import SEEDS, expand_by_entities
from recollect.projections.recall.index.growable_arrays import distinct
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.ranking.profiles import BUDGETS, Profile
from recollect.projections.recall.ranking.turn_ranking import best_so_far, leading

Mask = npt.NDArray[np.bool_]


def candidates(
    question: ParsedQuestion, profile: Profile, index: Index, files: ZoneFiles
) -> Candidates:
    """Return the turns that the arms of the question's budget find, with their scores.

    First the fast arms read the whole zone. Of the best 2 * `pool` turns by these, late
    interaction reads the first, and turns that share an entity with the best are added. All turns
    are returned where ranks among them are needed: for an explanation, or for rank fusion.
    """
    wanted, eligible = _arms_of(question), question.eligible
    results = question.query.max_results
    pool, read = profile.pool_for(results), profile.read_for(results)
    scored = run_arms(wanted, question, index, files, pool)
    if not scored.arms:
        return scored.all_turns()
    first = leading(scored, eligible, profile, 2 * pool)
    places = np.sort(first.places)
    tokens = question.vectors.tokens
    if "late" in wanted and tokens is not None and profile.weights.get("late"):
        close = np.sort(first.places[:read])
        read_ = late_interaction(tokens, close, index)
        unread = close[read_.unread] if read_.unread.any() else None
        scored = scored.with_arm("late", ArmScores(close, read_.scores, unread))
        if read_.best_raw is not None:
            scored = scored._replace(evidence={**scored.evidence, "late": read_.best_raw})
    if "shared" in wanted and profile.weights.get("shared"):
        best = best_so_far(scored.at(places), eligible, profile, SEEDS)
        reached, scores = expand_by_entities(question, best.places, best.scores, index)
        if len(reached):
            scored = scored.with_arm("shared", ArmScores(reached, scores))
            places = distinct(np.concatenate((places, reached)))
    whole = question.query.explain or profile.fusion == "rrf"
    return scored.all_turns() if whole else scored.at(places)


def _arms_of(question: ParsedQuestion) -> frozenset[str]:
    """Return the arms of the question's budget; without a vector, always the keyword arm."""
    arms = BUDGETS[question.query.budget]
    return arms if question.vector is not None else arms | {"keyword"}
