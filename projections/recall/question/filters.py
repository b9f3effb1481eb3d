"""The filters of a question: which turns each of them lets through."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.query import RecallQuery
from recollect.projections.recall.question.times.validity import Ended

Mask = npt.NDArray[np.bool_]

#: The filter that is always set: the text of a turn that was edited or deleted is not current.
REPLACED = "replaced"


def masks(
    query: RecallQuery, entity_ids: set[str] | None, over: Ended, index: Index
) -> dict[str, Mask]:
    """Return which turns pass each filter that is set, by its name in `Query`, or `REPLACED`.

    `entity_ids`: those of the entity that is asked for; `over`: what had ended.
    """
    turns = index.turns
    found: dict[str, Mask] = {}
    if query.platform is not None:
        found["platform"] = turns.platform_mask(query.platform)
    if query.among is not None:
        found["source_event_ids"] = np.isin(turns.numbers, np.fromiter(query.among, np.int64))
    if query.time_after is not None:
        found["time_after"] = turns.occurred_at > query.time_after
    if query.time_before is not None:
        found["time_before"] = turns.occurred_at < query.time_before
    if query.valid_at is not None:
        found["valid_at"] = (turns.occurred_at <= query.valid_at) & ~over.turns
    if len(index.replaced_turns):
        found[REPLACED] = np.ones(len(turns), bool)
        found[REPLACED][index.replaced_turns] = False
    if entity_ids is not None:
        found["entity"] = turns_about(entity_ids, index)
    return found


def allowed(masks: Mapping[str, Mask], index: Index) -> Mask:
    """Return which turns pass every filter."""
    passed: Mask = np.logical_and.reduce([np.ones(len(index.turns), bool), *masks.values()])
    return passed


def eligible(query: RecallQuery, allowed: Mask, index: Index) -> Mask:
    """Return which allowed turns may be answered: where facts alone are, those that gave some."""
    return allowed if "events" in query.scope else allowed & index.facts.turns_with_facts()


def turns_about(entity_ids: set[str], index: Index) -> Mask:
    """Return which turns mention, or come from, an entity under any of its ids."""
    mask = np.zeros(len(index.turns), bool)
    mask[index.mentioning(entity_ids)] = True
    return mask
