"""The line of a mental model that was generated from facts: as many of its lines as fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

import msgspec

from recollect.projections.files import ZoneFiles
from recollect.projections.memory.observation_queries import PlacedBlock, blocks_of
from recollect.projections.recall.context.framing import escape, label
from recollect.projections.recall.context.packing import Line
from recollect.projections.recall.question.broad_needs import asks_for_events
from recollect.schemas.changes import MentalModel, MentalModelPage
from recollect.schemas.wire import Result
from recollect.text.dates.resolved_dates import day_in_words

#: The share of a block's budget for the page about what a task asks for as a whole.
PAGE_SHARE = 0.6
#: The sections that say what happened; the order in which sections are worth their room.
_EVENTS = ("time", "changed", "ahead")
_SECTIONS = ("held", "changed", "ahead", "regular", "time", "beside")

Count = Callable[[str], int]


def page_lines(
    results: Sequence[Result], task: str, files: ZoneFiles, budget: int, count: Count
) -> list[Line]:
    """Return a line for each result that was made from facts, within a share of the budget."""
    room = int(PAGE_SHARE * budget)
    lines = []
    for result in results:
        page = files.memory.row(MentalModelPage, (result.id,))
        model = files.memory.row(MentalModel, (result.id,))
        if page is None or model is None:
            continue
        day = day_in_words(datetime.fromisoformat(result.as_of).date())
        heading = label(day, model.name, "may be out of date" if result.is_stale else None)
        texts = _chosen(
            blocks_of(page.blocks), model.description, task, room - count(heading), count
        )
        if texts:
            line = Line(_shortened(result, texts), f"{heading} {'; '.join(texts)}")
            lines.append(line)
            room -= count(line.full)
    return lines


def _shortened(result: Result, texts: Sequence[str]) -> Result:
    """Return a result with the lines that are shown as its text."""
    return msgspec.structs.replace(result, text="\n".join(texts))


def _chosen(
    blocks: Sequence[PlacedBlock], text: str, task: str, room: int, count: Count
) -> list[str]:
    """Return the most valuable lines that fit, in the order of the page."""
    sections = _EVENTS if asks_for_events(task) else _SECTIONS
    by_worth = sorted(
        (block for block in blocks if block[0] in sections),
        key=lambda block: (
            (sections.index(block[0]), block[4])
            if sections is _EVENTS
            else (block[4], sections.index(block[0]))
        ),
    )
    shown = set()
    for block in by_worth:
        cost = count(escape(text[block[2] : block[3]])) + 1
        if cost <= room:
            room -= cost
            shown.add(block[1])
    return [escape(text[block[2] : block[3]]) for block in blocks if block[1] in shown]
