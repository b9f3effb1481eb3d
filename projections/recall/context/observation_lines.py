"""The line of an observation: its items that are nearest to the task and shown nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import msgspec

from recollect.projections.files import ZoneFiles
from recollect.projections.memory.observation_queries import observation_items
from recollect.projections.recall.context.context_lines import Doubtful, doubt, with_notes
from recollect.projections.recall.context.framing import escape, label
from recollect.projections.recall.context.packing import Line
from recollect.schemas.wire import Result
from recollect.text.dates.resolved_dates import day_in_words

#: The share of a block's budget for observations.
OBSERVATION_SHARE = 0.3

Count = Callable[[str], int]


def observation_line(result: Result, files: ZoneFiles, room: int, count: Count) -> Line | None:
    """Return the line of an observation within `room` tokens; None if none of its items fits.

    The items are those of the facts that it is returned with, the nearest first.
    """
    items = observation_items(files.memory.connection, result.id)
    if not items:
        return None
    day = day_in_words(datetime.fromisoformat(result.as_of).date())
    heading = label(day, "observation", "may be out of date" if result.is_stale else None)
    about = escape(result.text[: items[0][1]])
    left = room - count(f"{heading} {about}")
    # A part may cite several facts.
    spans = list(dict.fromkeys((start, end) for _, start, end in items))
    places = {fact: spans.index((start, end)) for fact, start, end in items}
    texts = [escape(result.text[start:end]) for start, end in spans]
    shown: dict[int, Doubtful] = {}
    noted: set[str] = set()
    facts = []
    for fact in result.facts:
        place = places.get(fact.id)
        if place is None:
            continue
        item = Doubtful(texts[place], doubt(fact.uncertain))
        cost = item.cost(count, noted) + 1
        if place not in shown and cost <= left:
            left -= cost
            shown[place] = item
            noted.add(item.note)
            facts.append(fact)
    if not shown:
        return None
    text = f"{about} {'; '.join(with_notes(shown[place] for place in sorted(shown)))}"
    sources = list(dict.fromkeys(fact.source_event_id for fact in facts))
    return Line(
        msgspec.structs.replace(result, text=text, facts=facts, source_event_ids=sources),
        f"{heading} {text}",
    )
