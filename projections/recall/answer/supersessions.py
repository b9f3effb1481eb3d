"""Supersessions: which fact replaced which, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from projections.files import ZoneFiles
from projections.memory import facts_for_recall as memory
from projections.recall.index.zone_index import Index
from projections.recall.question.query import RecallQuery
from schemas.times import format_time
from schemas.wire import Change


class Changes(NamedTuple):
    """What each fact superseded, and what superseded it, latest first; `ended`: when it did."""

    before: dict[str, list[Change]]
    after: dict[str, list[Change]]
    ended: dict[str, int]


def changes(query: RecallQuery, fact_ids: Sequence[str], index: Index, files: ZoneFiles) -> Changes:
    """Return the changes of facts up to the time that a question asks for."""
    if not index.exists.supersessions:
        return Changes({}, {}, {})
    connection = files.memory.connection
    all_found = memory.supersessions(connection, fact_ids, query.until)
    wanted = set(fact_ids)
    result = Changes({}, {}, {older: at for older, _, at in all_found if older in wanted})
    if not all_found:
        return result
    ids = sorted({id_ for *pair, _ in all_found for id_ in pair})
    # What is being forgotten is still there, but its turn cannot be read.
    readable = index.facts.placed(ids).keys()
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
