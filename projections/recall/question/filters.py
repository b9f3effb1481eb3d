"""The filters of a question, as masks of the turns that pass them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.query import RecallQuery
from recollect.projections.recall.question.times.validity import EndedFacts

Mask = npt.NDArray[np.bool_]

#: The name of a filter that always applies: it excludes turns that were edited or deleted since.
REPLACED = "replaced"
#: The name of a filter that always applies: it excludes turns that were retracted completely.
RETRACTED = "retracted"
#: The name of the filter of a question about nothing but a time.
TIME = "time"


def filter_masks(
    query: RecallQuery,
    entity_ids: set[str] | None,
    ended: EndedFacts,
    index: Index,
) -> dict[str, Mask]:
    """Return a mask of turns for each filter that is set.

    The keys are names in `Query`, `REPLACED` and `RETRACTED`. `entity_ids`: the ids of the entity
    to filter by; `ended`: what had ended at `valid_at`.
    """
    turns = index.turns
    masks: dict[str, Mask] = {}
    if query.platform is not None:
        masks["platform"] = turns.platforms_mask({query.platform})
    if query.allowed_numbers is not None:
        masks["source_event_ids"] = np.isin(
            turns.numbers, np.fromiter(query.allowed_numbers, np.int64)
        )
    if query.time_after is not None:
        masks["time_after"] = turns.occurred_at > query.time_after
    if query.time_before is not None:
        masks["time_before"] = turns.occurred_at < query.time_before
    if query.valid_at is not None:
        masks["valid_at"] = (turns.occurred_at <= query.valid_at) & ~ended.turns
    if len(index.replaced_turns):
        masks[REPLACED] = np.ones(len(turns), bool)
        masks[REPLACED][index.replaced_turns] = False
    if index.retracted.turns.any():
        masks[RETRACTED] = ~index.retracted.turns
    if entity_ids is not None:
        masks["entity"] = turns_about(entity_ids, index)
    return masks


def combined_mask(masks: Mapping[str, Mask], index: Index) -> Mask:
    """Return the mask of the turns that pass every filter."""
    passed: Mask = np.logical_and.reduce([np.ones(len(index.turns), bool), *masks.values()])
    return passed


def eligible_mask(query: RecallQuery, allowed: Mask, index: Index) -> Mask:
    """Return the mask of turns that may be results.

    A turn without words, such as a picture without a caption, is none. If events are not in scope,
    turns need facts.
    """
    if "events" in query.scope:
        return allowed & index.turns.has_words
    with_facts = index.facts.turns_with_facts().copy()
    with_facts[index.repeating_turns] = True
    return allowed & with_facts


def turns_about(entity_ids: set[str], index: Index) -> Mask:
    """Return the mask of turns that mention, or come from, an entity under any of its ids."""
    mask = np.zeros(len(index.turns), bool)
    mask[index.mentioning(entity_ids)] = True
    return mask
