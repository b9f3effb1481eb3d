"""What the arms find: the cheap ones in every turn, the dear ones in what may be among the best."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from projections.files import ZoneFiles
from projections.recall import arms
from projections.recall.arms import Asked, Found
from projections.recall.columns import distinct
from projections.recall.expansion import SEEDS, shared
from projections.recall.index import Index
from projections.recall.late import QueryTokens, late
from projections.recall.profiles import Profile
from projections.recall.ranking import so_far
from projections.recall.words import Tokeniser

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
    everywhere = arms.run(wanted, asked, index, files)
    if not everywhere.turns:
        return everywhere
    near = everywhere
    if not whole:
        near = near.at(np.sort(so_far(near, eligible, profile, 2 * asked.pool).places))
    if "late" in wanted and tokens is not None and profile.weights.get("late"):
        close = np.sort(so_far(near, eligible, profile, asked.pool).places)
        said = late(tokens, close, index, tokeniser)
        near = near.heard("late", close, said.scores, said.unread)
        if said.nearest is not None:
            near = near._replace(evidence={**near.evidence, "late": said.nearest})
    if "shared" in wanted and profile.weights.get("shared"):
        best = so_far(near, eligible, profile, SEEDS)
        places, scores = shared(asked, best, index, files)
        if len(places):
            near = near.at(distinct(np.concatenate((near.places, places))))
            cheap = everywhere.at(near.places)
            near = near._replace(
                turns={**near.turns, **cheap.turns}, unread={**near.unread, **cheap.unread}
            ).heard("shared", places, scores)
    return near
