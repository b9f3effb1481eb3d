"""Which results belong to the time that a prompt asks about.

For "What did I eat last Thursday?", similar meals of other days are found too. They would fill a
block, although they do not answer the prompt.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.question.times.closeness import closeness
from recollect.schemas.wire import Result

#: Turns closer to the time than this belong to it: also those of the day before and after, but not
#: those that name a longer time.
MIN_CLOSENESS = 0.5


def is_of_asked_time(
    results: Sequence[Result], question: ParsedQuestion, index: Index, files: ZoneFiles
) -> list[bool]:
    """Return which results belong to the times that a question names; mental models always do."""
    scores = closeness(question.spans, question.utc_offset, index, files)
    turns = [result for result in results if result.type == "event"]
    places = index.turns.place_of_id.of([turn.id for turn in turns])
    sources = {
        id_
        for turn, score in zip(turns, scores[places].tolist(), strict=True)
        if score > MIN_CLOSENESS
        for id_ in turn.source_event_ids
    }
    return [
        result.type == "mental_model" or not sources.isdisjoint(result.source_event_ids)
        for result in results
    ]
