"""The line of a mental model generated from facts: the lines of its page that fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from recollect.projections.files import ZoneFiles
from recollect.projections.memory.observation_queries import PlacedBlock, blocks_of
from recollect.projections.recall.answer.uncertainty import uncertainties
from recollect.projections.recall.context.context_lines import Doubtful, doubt, with_notes
from recollect.projections.recall.context.framing import escape, label
from recollect.projections.recall.context.packing import Line
from recollect.projections.recall.question.broad_needs import asks_for_events
from recollect.schemas.changes import MentalModel, MentalModelPage
from recollect.schemas.wire import Result, Uncertainty
from recollect.text.dates.resolved_dates import day_in_words

#: The share of a block's budget for the page about what a task asks for as a whole.
PAGE_SHARE = 0.6
# The sections about events.
_EVENTS = ("time", "changed", "ahead")
# All sections, by priority.
_SECTIONS = ("held", "changed", "ahead", "regular", "time", "beside")

Count = Callable[[str], int]


class _PageLine(NamedTuple):
    """A line of a page, with the criteria for showing it."""

    section: str
    id: str
    rank: int
    said: Doubtful


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
        blocks = blocks_of(page.blocks)
        doubts = uncertainties(files, sorted({fact for *_, facts in blocks for fact in facts}))
        texts = _chosen(
            _lines(blocks, model.description, doubts), task, room - count(heading), count
        )
        if texts:
            line = Line(_shortened(result, texts), f"{heading} {'; '.join(texts)}")
            lines.append(line)
            room -= count(line.full)
    return lines


def _lines(
    blocks: Sequence[PlacedBlock], text: str, doubts: Mapping[str, Uncertainty]
) -> list[_PageLine]:
    """Return the lines of a page; one whose fact is uncertain says why."""
    lines = []
    for section, id_, start, end, rank, facts in blocks:
        why = next((doubts[fact] for fact in facts if fact in doubts), None)
        lines.append(_PageLine(section, id_, rank, Doubtful(escape(text[start:end]), doubt(why))))
    return lines


def _shortened(result: Result, texts: Sequence[str]) -> Result:
    """Return a result with the lines that are shown as its text."""
    return msgspec.structs.replace(result, text="\n".join(texts))


def _chosen(lines: Sequence[_PageLine], task: str, room: int, count: Count) -> list[str]:
    """Return the most valuable lines that fit, in the order of the page."""
    sections = _EVENTS if asks_for_events(task) else _SECTIONS
    by_worth = sorted(
        (line for line in lines if line.section in sections),
        key=lambda line: (
            (sections.index(line.section), line.rank)
            if sections is _EVENTS
            else (line.rank, sections.index(line.section))
        ),
    )
    shown: set[str] = set()
    noted: set[str] = set()
    for line in by_worth:
        cost = line.said.cost(count, noted) + 1
        if cost <= room:
            room -= cost
            shown.add(line.id)
            noted.add(line.said.note)
    return with_notes(line.said for line in lines if line.id in shown)
