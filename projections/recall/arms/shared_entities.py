"""Entity expansion (B3): from the best turns, one hop through what they speak of.

Rare entities connect, common ones do not: a turn scores by the best turn with which it shares an
entity, times the entity's inverse document frequency over the logarithm of the number of turns
(1 for an entity of one turn). The work is bounded by the numbers below, whatever the zone's size.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from projections.recall.index.growable_arrays import distinct
from projections.recall.index.zone_index import MOST_MENTIONS, Index
from projections.recall.question.parsed_question import ParsedQuestion

#: The best turns from which to go; the hop after a wrong one leads astray.
SEEDS = 5
Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


def shared(
    question: ParsedQuestion, best: Ints, scores: Floats, index: Index
) -> tuple[Ints, Floats]:
    """Return turns, ascending, that share something with the best others, and scores from 0 to 1.

    `best` are the places of the best turns so far, best first, and `scores` theirs.

    Whom the question names is not followed: they are everywhere in what was found.
    """
    count = len(index.turns)
    score_of = dict(zip(best.tolist(), scores.tolist(), strict=True))
    found, through = [np.zeros(0, np.int64)], []
    spoken_of = _spoken_of(question, best, index)
    speaking = index.speaking.of(spoken_of)
    for entity, seeds in spoken_of.items():
        mentions, places = speaking[entity]
        if mentions <= MOST_MENTIONS:
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


def _spoken_of(question: ParsedQuestion, best: Ints, index: Index) -> dict[str, list[int]]:
    """Return the best places, best first, by the entities that they speak of, ordered by id."""
    places = best[:SEEDS]
    place_of = dict(zip(index.turns.ids.take(places), places.tolist(), strict=True))
    of_seed = index.mentioned.of(place_of)
    stands = index.standing.of(entity for entities in of_seed.values() for entity in entities)
    named = {item.entity.id for item in question.named}
    found: dict[str, list[int]] = {}
    for event, place in place_of.items():
        for entity in {stands[id_] for id_ in of_seed.get(event, ()) if id_ in stands} - named:
            found.setdefault(entity, []).append(place)
    return dict(sorted(found.items()))
