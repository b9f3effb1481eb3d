"""Look up supersessions: which fact replaced which, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from recollect.projections.files import ZoneFiles
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.query import RecallQuery
from recollect.schemas.times import format_time
from recollect.schemas.wire import MemoryRevision


class Supersessions(NamedTuple):
    """The supersessions of some facts; keys are fact ids.

    `before`: what each fact superseded, and `after`: what superseded it, both latest first;
    `ended`: when it was superseded (unix ms).
    """

    before: dict[str, list[MemoryRevision]]
    after: dict[str, list[MemoryRevision]]
    ended: dict[str, int]


def supersessions_of(
    query: RecallQuery, fact_ids: Sequence[str], index: Index, files: ZoneFiles
) -> Supersessions:
    """Return the supersessions of facts up to the time that a query is about."""
    if not index.row_kinds.supersessions:
        return Supersessions({}, {}, {})
    connection = files.memory.connection
    recorded = memory.supersessions(connection, fact_ids, query.until)
    requested = set(fact_ids)
    result = Supersessions({}, {}, {older: at for older, _, at in recorded if older in requested})
    if not recorded:
        return result
    ids = sorted({id_ for *pair, _ in recorded for id_ in pair})
    # A fact that is being forgotten still has rows, but its turn is no longer readable.
    readable = index.facts.places_of(ids).keys()
    # An event that corrected a fact in passing stated no fact, so its own id is recorded instead.
    event_texts = _event_texts([id_ for id_ in ids if id_ not in readable], index)
    available = readable | event_texts.keys()
    visible = [(older, newer, at) for older, newer, at in recorded if {older, newer} <= available]
    texts = event_texts | memory.texts(connection, sorted(readable))
    for older, newer, at in visible:
        if newer in requested:
            result.before.setdefault(newer, []).append(_revision(older, texts, at))
        if older in requested:
            result.after.setdefault(older, []).append(_revision(newer, texts, at))
    return result


def _event_texts(ids: list[str], index: Index) -> dict[str, str]:
    """Return event id -> text for those of the ids that are readable events."""
    places = dict(zip(ids, index.turns.place_of_id.of(ids).tolist(), strict=True))
    numbers = {id_: int(index.turns.numbers[place]) for id_, place in places.items() if place >= 0}
    turns = index.event_texts.of(numbers.values())
    return {id_: turns[number].text for id_, number in numbers.items() if number in turns}


def _revision(id_: str, texts: Mapping[str, str], at: int) -> MemoryRevision:
    return MemoryRevision(id=id_, text=texts[id_], at=format_time(at))
