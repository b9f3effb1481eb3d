"""Validity: the facts that had ended at the time that a query is about."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.query import RecallQuery

Mask = npt.NDArray[np.bool_]


class EndedFacts(NamedTuple):
    """The ids of facts that had ended, and the mask of turns whose facts had all ended.

    The facts of a turn are those that it states or repeats.
    """

    facts: frozenset[str]
    turns: Mask


def ended_at(query: RecallQuery, index: Index, files: ZoneFiles) -> EndedFacts:
    """Return the facts that had ended at the query's `valid_at`; none if it is not set."""
    turns = np.zeros(len(index.turns), bool)
    if query.valid_at is None:
        return EndedFacts(frozenset(), turns)
    connection = files.memory.connection
    ends = memory.ends_until(connection, query.valid_at)
    stated = memory.facts_of_events_stating(connection, ends)
    places = index.turns.place_of_id.of([event for _, event in stated])
    has_valid_fact: dict[int, bool] = {}
    for (fact, _), place in zip(stated, places.tolist(), strict=True):
        if place >= 0:
            # A fact that is repeated after its end is valid again.
            has_ended = fact in ends and index.turns.occurred_at[place] <= ends[fact]
            has_valid_fact[place] = has_valid_fact.get(place, False) or not has_ended
    turns[[place for place, is_valid in has_valid_fact.items() if not is_valid]] = True
    return EndedFacts(frozenset(ends), turns)
