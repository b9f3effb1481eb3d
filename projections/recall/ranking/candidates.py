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
from projections.recall.index.tokeniser import Tokeniser
from projections.recall.index.zone_index import Index
from projections.recall.question.encoding import QueryTokens
from projections.recall.question.parsed_question import Asked
from projections.recall.ranking.profiles import Profile
from projections.recall.ranking.turn_ranking import leading, so_far

Mask = npt.NDArray[np.bool_]


def found_by(
    wanted: frozenset[str],
    asked: Asked,
    tokens: QueryTokens | None,
    eligible: Mask,
    profile: Profile,
    index: Index,
    files: ZoneFiles,
    tokeniser: Tokeniser,
    *,
    whole: bool,
) -> Found:
    """Return what the arms that are wanted say of turns.

    Where not the `whole` zone is asked for, only those are looked at after the cheap arms that
    may still be among the best: each of the best twice `pool` by these, or what shares something
    with the best of them.
    """
    heard = run(wanted, asked, index, files)
    if not heard.arms:
        return heard.everywhere()
    first = leading(heard, eligible, profile, 2 * asked.pool)
    places = np.sort(first.places)
    if "late" in wanted and tokens is not None and profile.weights.get("late"):
        close = np.sort(first.places[: asked.read])
        said = late(tokens, close, index, tokeniser)
        unread = close[said.unread] if said.unread.any() else None
        heard = heard.also("late", Said(close, said.scores, unread))
        if said.nearest is not None:
            heard = heard._replace(evidence={**heard.evidence, "late": said.nearest})
    if "shared" in wanted and profile.weights.get("shared"):
        best = so_far(heard.at(places), eligible, profile, SEEDS)
        reached, scores = shared(asked, best.places, best.scores, index)
        if len(reached):
            heard = heard.also("shared", Said(reached, scores))
            places = distinct(np.concatenate((places, reached)))
    return heard.everywhere() if whole else heard.at(places)
