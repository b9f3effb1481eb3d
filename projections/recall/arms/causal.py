"""The causal arm: causes and effects of the most similar facts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recollect.projections.files import ZoneFiles
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.recall.arms.arm_scores import ArmScores
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion

# The number of facts whose links are followed. Links of less similar facts lead to no results.
_MAX_FACTS = 50


def causal(
    question: ParsedQuestion, index: Index, files: ZoneFiles, facts: Mapping[str, float]
) -> ArmScores:
    """Score causes and effects of facts by the fact's similarity times the link's strength."""
    if not index.row_kinds.causal_links:
        return ArmScores(np.zeros(0, np.int64), np.zeros(0, np.float32))
    links = memory.causal_neighbours(files.memory.connection, list(facts)[:_MAX_FACTS])
    rows = index.facts.rows_of([linked for _, linked, _ in links])
    best: dict[int, float] = {}
    for (fact, _, strength), row in zip(links, rows.tolist(), strict=True):
        place = int(index.facts.places[row]) if row >= 0 else -1
        if place >= 0 and question.allowed[place]:
            best[place] = max(best.get(place, 0.0), facts[fact] * strength)
    places = np.array(sorted(best), np.int64)
    return ArmScores(places, np.array([best[place] for place in places.tolist()], np.float32))
