"""The lines of facts that serve a task's kind of need, such as a diet for a dinner.

They are shown even if the task is similar to no memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

import msgspec

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.answer.explanation import AnswerTrace
from recollect.projections.recall.answer.turn_results import fact_results
from recollect.projections.recall.context.context_lines import doubt, previous_value
from recollect.projections.recall.context.framing import escape, label
from recollect.projections.recall.context.packing import Line
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.slots.needs import needed_facts
from recollect.schemas.wire import Result
from recollect.text.dates.resolved_dates import day_in_words, days_in_words

#: The share of a block's budget for these facts, if other memories are relevant too.
NEEDED_SHARE = 0.3

Count = Callable[[str], int]


def needed_lines(
    traces: Sequence[AnswerTrace], index: Index, files: ZoneFiles, room: int, count: Count
) -> list[Line]:
    """Return the lines of facts that serve the needs of the questions, at most `room` tokens.

    The most needed come first; one that does not fit is skipped.
    """
    lines: dict[str, Line] = {}
    for trace in traces:
        if trace.found is None or not (needed := needed_facts(trace.question, index, files)):
            continue
        places = {fact.fact_id: fact.place for fact in needed}
        results = fact_results(trace.question, places, trace.found, index, files)
        for fact, result in zip(needed, results, strict=True):
            line = _line(msgspec.structs.replace(result, need=fact.need))
            if result.id not in lines and (cost := count(line.full)) <= room:
                lines[result.id] = line
                room -= cost
    return [*lines.values()]


def states_only(event_id: str, facts: AbstractSet[str], index: Index) -> bool:
    """Return whether an event states or repeats some of these facts, and no others."""
    of_event = index.event_facts.of([event_id]).get(event_id)
    return of_event is not None and facts >= {*of_event.stated, *of_event.repeated}


def _line(result: Result) -> Line:
    day = day_in_words(datetime.fromisoformat(result.as_of).date())
    heading = label(f"{day} {result.sender_name or ''}".rstrip())
    text = escape(days_in_words(result.text))
    notes = f"{previous_value(result.supersedes)}{doubt(result.uncertain)}"
    return Line(result, f"{heading} {text}{notes}")
