"""The line of a mental model generated from facts: the lines of its page that fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

import msgspec

from recollect.projections.files import ZoneFiles
from recollect.projections.memory.observation_queries import PlacedBlock, blocks_of
from recollect.projections.recall.answer.uncertainty import uncertainties
from recollect.projections.recall.context.context_lines import Doubtful, doubt, with_notes
from recollect.projections.recall.context.framing import escape, label
from recollect.projections.recall.context.packing import Line
from recollect.projections.recall.context.repeated_years import without_repeated_years
from recollect.projections.recall.question.broad_needs import asks_for_events
from recollect.schemas.changes import MentalModel, MentalModelPage
from recollect.schemas.wire import Result, Uncertainty
from recollect.text.dates.resolved_dates import day_in_words

#: The share of a block's budget for pages, if a task asks for more than what happened.
PAGE_SHARE = 0.6
# The sections about events.
_EVENTS = ("ahead", "changed", "time")
# All sections, by priority.
_SECTIONS = ("held", "changed", "ahead", "regular", "time", "beside")

Count = Callable[[str], int]


class _PageLine(NamedTuple):
    """A line of a page, with the criteria for showing it."""

    section: str
    id: str
    rank: int
    facts: tuple[str, ...]
    said: Doubtful


def page_lines(
    results: Sequence[Result], task: str, files: ZoneFiles, room: int, count: Count
) -> list[Line]:
    """Return a line for each result that was made from facts, together at most `room` tokens."""
    pages = []
    for result in results:
        page = files.memory.row(MentalModelPage, (result.id,))
        model = files.memory.row(MentalModel, (result.id,))
        if page is not None and model is not None:
            pages.append((result, page, model))
    lines = []
    for place, (result, page, model) in enumerate(pages):
        day = day_in_words(datetime.fromisoformat(result.as_of).date())
        heading = label(day, model.name, "may be out of date" if result.is_stale else None)
        blocks = blocks_of(page.blocks)
        doubts = uncertainties(files, sorted({fact for *_, facts in blocks for fact in facts}))
        share = room // (len(pages) - place)
        texts = _chosen(_lines(blocks, model.description, doubts), task, heading, share, count)
        if texts:
            line = Line(_shortened(result, texts), _full(heading, texts))
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
        # The lines are shown without the headings of their sections, and names alone say nothing.
        heading = "also named: " if section == "beside" else ""
        said = Doubtful(heading + escape(text[start:end]), doubt(why))
        lines.append(_PageLine(section, id_, rank, tuple(facts), said))
    return lines


def _shortened(result: Result, texts: Sequence[str]) -> Result:
    """Return a result with the lines that are shown as its text."""
    return msgspec.structs.replace(result, text="\n".join(texts))


def _full(heading: str, texts: Sequence[str]) -> str:
    return f"{heading} {'; '.join(texts)}"


def _chosen(
    lines: Sequence[_PageLine], task: str, heading: str, room: int, count: Count
) -> list[str]:
    """Return the most valuable lines that fit after a heading, in the order of the page.

    A line is left out if more valuable lines cite all its facts.
    """
    sections = _EVENTS if asks_for_events(task) else _SECTIONS
    by_worth = sorted(
        (line for line in lines if line.section in sections),
        key=lambda line: (line.rank, sections.index(line.section)),
    )
    count_once = lru_cache(maxsize=None)(count)
    shown: list[str] = []
    told: set[str] = set()

    def texts() -> list[str]:
        chosen = (line.said for line in lines if line.id in shown)
        return without_repeated_years(with_notes(chosen))

    for line in by_worth:
        if told.issuperset(line.facts):
            continue
        shown.append(line.id)
        if count_once(heading) + sum(count_once(text) + 1 for text in texts()) <= room:
            told.update(line.facts)
        else:
            shown.pop()
    # Joined texts may have more tokens than the single texts together.
    while shown and count(_full(heading, texts())) > room:
        shown.pop()
    return texts()
