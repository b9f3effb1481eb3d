"""Supersessions: which fact replaced which, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from recollect.projections.files import ZoneFiles
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.query import RecallQuery
from recollect.schemas.times import format_time
from recollect.schemas.wire import MemoryRevision


class Changes(NamedTuple):
    """What each fact superseded, and what superseded it, latest first; `ended`: when it did."""

    before: dict[str, list[MemoryRevision]]
    after: dict[str, list[MemoryRevision]]
    ended: dict[str, int]


def changes(query: RecallQuery, fact_ids: Sequence[str], index: Index, files: ZoneFiles) -> Changes:
    """Return the changes of facts up to the time that a question asks for."""
    if not index.row_kinds.supersessions:
        return Changes({}, {}, {})
    connection = files.memory.connection
    all_found = memory.supersessions(connection, fact_ids, query.until)
    wanted = set(fact_ids)
    result = Changes({}, {}, {older: at for older, _, at in all_found if older in wanted})
    if not all_found:
        return result
    ids = sorted({id_ for *pair, _ in all_found for id_ in pair})
    # What is being forgotten is still there, but its turn cannot be read.
    readable = index.facts.places_of(ids).keys()
    # What was corrected in passing ended by an event that gave no fact.
    words = _words_of([id_ for id_ in ids if id_ not in readable], index)
    known = readable | words.keys()
    found = [(older, newer, at) for older, newer, at in all_found if {older, newer} <= known]
    texts = words | memory.texts(connection, sorted(readable))
    for older, newer, at in found:
        if newer in wanted:
            result.before.setdefault(newer, []).append(_change(older, texts, at))
        if older in wanted:
            result.after.setdefault(older, []).append(_change(newer, texts, at))
    return result


def _words_of(ids: list[str], index: Index) -> dict[str, str]:
    """Return event id -> its text, of those that are readable events."""
    places = dict(zip(ids, index.turns.place_of_id.of(ids).tolist(), strict=True))
    numbers = {id_: int(index.turns.numbers[place]) for id_, place in places.items() if place >= 0}
    said = index.event_texts.of(numbers.values())
    return {id_: said[number].text for id_, number in numbers.items() if number in said}


def _change(id_: str, texts: Mapping[str, str], at: int) -> MemoryRevision:
    return MemoryRevision(id=id_, text=texts[id_], at=format_time(at))
