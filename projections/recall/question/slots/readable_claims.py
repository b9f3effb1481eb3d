"""The claims about a subject that may answer a question."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from recollect.projections.memory.facts_for_recall import Claim
from recollect.projections.recall.index.zone_index import Index

Mask = npt.NDArray[np.bool_]


def readable_claims(
    subjects: Iterable[str], index: Index, *, valid_at: int, allowed: Mask
) -> list[tuple[int, Claim]]:
    """Return the current claims about any of these subjects, each with the place of its turn.

    In order of fact id. `valid_at`: the time at which they must be valid (unix ms); `allowed`: the
    turns that may be results.
    """
    claims = [
        (place, claim)
        for placed in index.claims_about.of(sorted(subjects)).values()
        for place, claim in placed
        if claim.is_valid_at(valid_at) and allowed[place]
    ]
    return sorted(claims, key=lambda placed: placed[1].fact_id)
