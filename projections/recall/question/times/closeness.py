"""How close turns are to the times of a question: when they were sent, and their facts' days."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.memory.facts_for_recall import facts_about_days
from recollect.projections.recall.index.turn_days import EPOCH, NamedDays
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.times.time_spans import Span
from recollect.text.dates.found_dates import local_day

Floats = npt.NDArray[np.float32]

# People speak of an event before and after it, too: outside the time span, a turn's score falls to
# 1/e within the first of these durations, and to 0 after the second.
_BESIDE_SCORE = 0.7
_DECAY_MS = 3 * 86_400_000
_REACH_MS = 9 * 86_400_000
# The score of a fact that covers more days than the question asks for.
_OVERLAP_SCORE = 0.5


def closeness(spans: Sequence[Span], utc_offset: int, index: Index, files: ZoneFiles) -> Floats:
    """Return 1 for the turns within one of the time spans, and less for others, by distance.

    A turn that names days in a span, or has a fact that speaks of them, scores 1 too, or 0.5 if
    these days only overlap the span.
    """
    at = index.turns.occurred_at
    scores = np.zeros(len(index.turns), np.float32)
    for first, last in spans:
        distance = np.maximum(np.maximum(first - at, at - last), 0).astype(np.float32)
        near = np.flatnonzero(distance <= _REACH_MS)
        decayed = np.float32(_BESIDE_SCORE) * np.exp(distance[near] / np.float32(-_DECAY_MS))
        scores[near] = np.maximum(scores[near], np.where(distance[near] > 0, decayed, 1))
        first_day, last_day = (local_day(moment, utc_offset) for moment in (first, last))
        _score_named_days(scores, first_day, last_day, index.named_days)
        _score_facts(scores, first_day, last_day, index, files)
    return scores


def _score_named_days(scores: Floats, first: int, last: int, dates: NamedDays) -> None:
    """Raise the scores of the turns whose texts name days (ordinals) in a span."""
    first, last = first - EPOCH, last - EPOCH
    overlaps = np.flatnonzero((dates.first <= last) & (dates.last >= first))
    inside = (dates.first[overlaps] >= first) & (dates.last[overlaps] <= last)
    raised = np.where(inside, np.float32(1), np.float32(_OVERLAP_SCORE))
    np.maximum.at(scores, dates.places[overlaps], raised)


def _score_facts(scores: Floats, first: int, last: int, index: Index, files: ZoneFiles) -> None:
    """Raise the scores of the turns whose facts speak of days (ordinals) in a span."""
    first_day, last_day = (date.fromordinal(day).isoformat() for day in (first, last))
    found = facts_about_days(files.memory.connection, first_day, last_day)
    rowids, inside = np.array(found, np.int64).reshape(-1, 2).T
    rows = index.facts.rows_with(rowids)
    is_scored = rows >= 0
    if index.retracted.facts:
        is_scored &= ~np.isin(rows, index.facts.rows_of([*index.retracted.facts]))
    raised = np.where(inside[is_scored], np.float32(1), np.float32(_OVERLAP_SCORE))
    np.maximum.at(scores, index.facts.places[rows[is_scored]], raised)
