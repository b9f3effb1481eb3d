"""Validity: what was no longer true at the time that a question asks for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.query import RecallQuery

Mask = npt.NDArray[np.bool_]


class Ended(NamedTuple):
    """What had ended at the time that a question asks for.

    `facts` by id; `turns`: those of which all facts, given or repeated, had ended.
    """

    facts: frozenset[str]
    turns: Mask


def ended(query: RecallQuery, index: Index, files: ZoneFiles) -> Ended:
    """Return what had ended at `valid_at`; nothing where the question names no time."""
    turns = np.zeros(len(index.turns), bool)
    if query.valid_at is None:
        return Ended(frozenset(), turns)
    connection = files.memory.connection
    ends = memory.ended_by(connection, query.valid_at)
    given = memory.facts_of_events_with_ended(connection, query.valid_at)
    places = index.turns.place_of_id.of([event for _, event in given])
    standing: dict[int, bool] = {}
    for (fact, _), place in zip(given, places.tolist(), strict=True):
        if place >= 0:
            # A fact that is repeated after its end is true again.
            over = fact in ends and index.turns.occurred_at[place] <= ends[fact]
            standing[place] = standing.get(place, False) or not over
    turns[[place for place, stands in standing.items() if not stands]] = True
    return Ended(frozenset(ends), turns)
