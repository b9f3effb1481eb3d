"""What holds when: which facts a newer one has taken the place of, and what changed into what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from projections.files import ZoneFiles
from projections.memory import recalls as memory
from projections.recall.index import Index
from projections.recall.types import Change, Query
from schemas.times import format_time

Mask = npt.NDArray[np.bool_]


class Ended(NamedTuple):
    """What was no longer true at the time that a question asks for.

    `facts` by id; `turns`: those all of whose facts, given or repeated, are among them.
    """

    facts: frozenset[str]
    turns: Mask


def ended(query: Query, index: Index, files: ZoneFiles) -> Ended:
    """Return what had ended at `valid_at`; nothing where the question names no time."""
    turns = np.zeros(len(index.turns), bool)
    if query.valid_at is None:
        return Ended(frozenset(), turns)
    connection = files.memory.connection
    ends = memory.ended_by(connection, query.valid_at)
    given = memory.facts_beside_ended(connection, query.valid_at)
    places = index.turns.place_of_id.of([event for _, event in given])
    standing: dict[int, bool] = {}
    for (fact, _), place in zip(given, places.tolist(), strict=True):
        if place >= 0:
            # What is said again after its end holds again.
            over = fact in ends and index.turns.occurred_at[place] <= ends[fact]
            standing[place] = standing.get(place, False) or not over
    turns[[place for place, stands in standing.items() if not stands]] = True
    return Ended(frozenset(ends), turns)


class Changes(NamedTuple):
    """What each fact superseded, and what superseded it, latest first; `ended`: when it did."""

    before: dict[str, list[Change]]
    after: dict[str, list[Change]]
    ended: dict[str, int]


def changes(query: Query, fact_ids: Sequence[str], index: Index, files: ZoneFiles) -> Changes:
    """Return the changes of facts up to the time that a question asks for."""
    if not index.present.supersessions:
        return Changes({}, {}, {})
    connection = files.memory.connection
    all_found = memory.supersessions(connection, fact_ids, query.until)
    wanted = set(fact_ids)
    result = Changes({}, {}, {older: at for older, _, at in all_found if older in wanted})
    if not all_found:
        return result
    ids = sorted({id_ for *pair, _ in all_found for id_ in pair})
    # What is being forgotten is still there, but its turn cannot be read.
    readable = index.facts_said.placed(ids).keys()
    found = [(older, newer, at) for older, newer, at in all_found if {older, newer} <= readable]
    texts = memory.texts(connection, sorted({id_ for *pair, _ in found for id_ in pair}))
    for older, newer, at in found:
        if newer in wanted:
            result.before.setdefault(newer, []).append(_change(older, texts, at))
        if older in wanted:
            result.after.setdefault(older, []).append(_change(newer, texts, at))
    return result


def _change(id_: str, texts: Mapping[str, str], at: int) -> Change:
    return Change(id=id_, text=texts[id_], at=format_time(at))
