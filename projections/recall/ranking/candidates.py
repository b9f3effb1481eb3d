"""What the arms find: the cheap ones in every turn, the dear ones in what may be among the best."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from projections.files import ZoneFiles
from projections.recall.arms.arm_scores import Found, Said
from projections.recall.arms.late_interaction import late
from projections.recall.arms.running import run
from projections.recall.arms.shared_entities import SEEDS, shared
from projections.recall.index.growable_arrays import distinct
from projections.recall.index.zone_index import Index
from projections.recall.question.parsed_question import ParsedQuestion
from projections.recall.ranking.profiles import BUDGETS, Profile
from projections.recall.ranking.turn_ranking import leading, so_far

Mask = npt.NDArray[np.bool_]


def candidates(question: ParsedQuestion, profile: Profile, index: Index, files: ZoneFiles) -> Found:
    """Return what the arms of the question's budget say of turns.

    First the cheap arms read the whole zone. Then only those turns are looked at that may still
    be among the best: each of the best twice `pool` by these arms, which late interaction reads,
    and those that share something with the best of them. An explanation, and ranks instead of
    scores, need all turns.
    """
    wanted, eligible = _arms_of(question), question.eligible
    results = question.query.max_results
    pool, read = profile.pool_for(results), profile.read_for(results)
    heard = run(wanted, question, index, files, pool)
    if not heard.arms:
        return heard.everywhere()
    first = leading(heard, eligible, profile, 2 * pool)
    places = np.sort(first.places)
    tokens = question.vectors.tokens
    if "late" in wanted and tokens is not None and profile.weights.get("late"):
        close = np.sort(first.places[:read])
        said = late(tokens, close, index)
        unread = close[said.unread] if said.unread.any() else None
        heard = heard.also("late", Said(close, said.scores, unread))
        if said.nearest is not None:
            heard = heard._replace(evidence={**heard.evidence, "late": said.nearest})
    if "shared" in wanted and profile.weights.get("shared"):
        best = so_far(heard.at(places), eligible, profile, SEEDS)
        reached, scores = shared(question, best.places, best.scores, index)
        if len(reached):
            heard = heard.also("shared", Said(reached, scores))
            places = distinct(np.concatenate((places, reached)))
    whole = question.query.explain or profile.fusion == "rrf"
    return heard.everywhere() if whole else heard.at(places)


def _arms_of(question: ParsedQuestion) -> frozenset[str]:
    """Return the arms of a budget; without a vector, the cheapest answer there is is by words."""
    arms = BUDGETS[question.query.budget]
    return arms if question.vector is not None else arms | {"keyword"}
