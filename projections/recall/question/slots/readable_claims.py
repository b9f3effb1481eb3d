"""The claims about a subject that may answer a question."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.recall.index.zone_index import Index

Mask = npt.NDArray[np.bool_]


def readable_claims(
    subjects: Iterable[str], index: Index, files: ZoneFiles, *, valid_at: int, allowed: Mask
) -> list[tuple[int, memory.CurrentClaim]]:
    """Return the current claims about any of these subjects, each with the place of its turn.

    `valid_at`: the time at which they must be valid (unix ms); `allowed`: the turns that may be
    results.
    """
    claims = memory.current_claims(files.memory.connection, sorted(subjects), valid_at)
    place_of = index.facts.places_of([claim.fact_id for claim in claims])
    placed = ((place_of.get(claim.fact_id, -1), claim) for claim in claims)
    return [(place, claim) for place, claim in placed if place >= 0 and allowed[place]]
