"""Entity expansion (B3): from the best turns, one hop through the entities that they mention.

Rare entities connect, common ones do not: a turn scores by the best turn with which it shares an
entity, times the entity's inverse document frequency over the logarithm of the number of turns
(1 for an entity of one turn). The work is bounded by the numbers below, whatever the zone's size.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from recollect.projections.recall.index.growable_arrays import distinct
from recollect.projections.recall.index.zone_index import MAX_MENTIONS, Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion

#: The hop starts from so many of the best turns; from a wrong turn it leads to wrong ones.
SEEDS = 5
Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def expand_by_entities(
    question: ParsedQuestion, best: Ints, scores: Floats, index: Index
) -> tuple[Ints, Floats]:
    """Return the places of turns that share an entity with the best, ascending, and their scores.

    `best` are the places of the best turns so far, best first, and `scores` theirs.

    Entities that the question names are not followed: most of what was found mentions them.
    """
    count = len(index.turns)
    score_of = dict(zip(best.tolist(), scores.tolist(), strict=True))
    found, through = [np.zeros(0, np.int64)], []
    mentioned = _mentioned_by(question, best, index)
    speaking = index.mentions_of.of(mentioned)
    for entity, seeds in mentioned.items():
        mentions, places = speaking[entity]
        if mentions <= MAX_MENTIONS:
            idf = math.log(1 + (count - mentions + 0.5) / (mentions + 0.5)) / math.log(count + 1)
            # Best first; the best itself is reached from the next, if from any.
            each = [min(score_of[seed] * idf, 1.0) for seed in seeds]
            found.append(places)
            through.append((seeds[0], each[0], each[1] if len(seeds) > 1 else 0.0))
    every, lengths = np.concatenate(found), [len(places) for places in found[1:]]
    seed, gives_most, gives_next = np.array(through).reshape(-1, 3).repeat(lengths, axis=0).T
    reached = distinct(every)
    most = np.zeros(len(reached), np.float32)
    gives = np.where(every == seed, gives_next, gives_most).astype(np.float32)
    np.maximum.at(most, np.searchsorted(reached, every), gives)
    kept = question.allowed[reached] & (most > 0)
    return reached[kept], most[kept]


def _mentioned_by(question: ParsedQuestion, best: Ints, index: Index) -> dict[str, list[int]]:
    """Return entity id -> places of the best turns that mention it, best first; ordered by id."""
    places = best[:SEEDS]
    place_of = dict(zip(index.turns.ids.take(places), places.tolist(), strict=True))
    of_seed = index.event_entities.of(place_of)
    canonical = index.canonical_ids.of(
        entity for entities in of_seed.values() for entity in entities
    )
    named = {item.entity.id for item in question.named}
    found: dict[str, list[int]] = {}
    for event, place in place_of.items():
        for entity in {
            canonical[id_] for id_ in of_seed.get(event, ()) if id_ in canonical
        } - named:
            found.setdefault(entity, []).append(place)
    return dict(sorted(found.items()))
