"""Entity expansion: one hop from the best turns, through the entities that they mention.

A turn's score is the score of the best turn with which it shares an entity, times the idf of this
entity, divided by the logarithm of the number of turns. The factor is 1 for an entity of a single
turn, so rare entities count most. SEEDS and MAX_MENTIONS limit the work.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.arrays.growable_arrays import distinct
from recollect.projections.recall.index.zone_index import MAX_MENTIONS, Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion

#: Turns from which entities are followed; more would add wrong turns.
SEEDS = 5
Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def expand_by_entities(
    question: ParsedQuestion, best: Ints, scores: Floats, index: Index
) -> tuple[Ints, Floats]:
    """Return the places, ascending, and scores of turns that share an entity with the best turns.

    `best`: the places of the best turns so far, best first; `scores`: their scores. Entities named
    in the question are not followed, since most of the turns found mention them.
    """
    count = len(index.turns)
    score_of = dict(zip(best.tolist(), scores.tolist(), strict=True))
    places_by_entity, contributions = [np.zeros(0, np.int64)], []
    mentioned = _mentioned_by(question, best, index)
    mentions_of = index.mentions_of.of(mentioned)
    for entity, seeds in mentioned.items():
        mentions, places = mentions_of[entity]
        if mentions <= MAX_MENTIONS:
            idf = math.log(1 + (count - mentions + 0.5) / (mentions + 0.5)) / math.log(count + 1)
            # Best first. A seed does not reach itself, so the best one is reached from the second.
            by_seed = [min(score_of[seed] * idf, 1.0) for seed in seeds]
            places_by_entity.append(places)
            contributions.append((seeds[0], by_seed[0], by_seed[1] if len(seeds) > 1 else 0.0))
    all_places = np.concatenate(places_by_entity)
    lengths = [len(places) for places in places_by_entity[1:]]
    best_seed, best_score, second_score = (
        np.array(contributions).reshape(-1, 3).repeat(lengths, axis=0).T
    )
    reached = distinct(all_places)
    highest = np.zeros(len(reached), np.float32)
    contribution = np.where(all_places == best_seed, second_score, best_score).astype(np.float32)
    np.maximum.at(highest, np.searchsorted(reached, all_places), contribution)
    kept = question.allowed[reached] & (highest > 0)
    return reached[kept], highest[kept]


def _mentioned_by(question: ParsedQuestion, best: Ints, index: Index) -> dict[str, list[int]]:
    """Return entity id -> places of the best turns that mention it, best first; ordered by id."""
    places = best[:SEEDS]
    place_of = dict(zip(index.turns.ids.take(places), places.tolist(), strict=True))
    of_seed = index.event_entities.of(place_of)
    canonical = index.canonical_ids.of(
        entity for entities in of_seed.values() for entity in entities
    )
    named = {item.entity.id for item in question.named}
    places_by_entity: dict[str, list[int]] = {}
    for event, place in place_of.items():
        for entity in {
            canonical[id_] for id_ in of_seed.get(event, ()) if id_ in canonical
        } - named:
            places_by_entity.setdefault(entity, []).append(place)
    return dict(sorted(places_by_entity.items()))
