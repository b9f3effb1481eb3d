"""Entity expansion (B3): from the best turns, one hop through what they speak of.

Rare entities connect, common ones do not: a turn scores by the best turn with which it shares an
entity, times the entity's inverse document frequency over the logarithm of the number of turns
(1 for an entity of one turn). The work is bounded by the numbers below, whatever the zone's size.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from projections.files import ZoneFiles
from projections.identity import recalls as identity
from projections.recall.arms import Asked
from projections.recall.index import Index
from projections.recall.names import ids_of
from projections.recall.ranking import Ranked

#: The best turns from which to go; the hop after a wrong one leads astray.
SEEDS = 5
#: What is mentioned more often connects nothing, and is not followed.
MOST_MENTIONS = 1_000

Floats = npt.NDArray[np.float32]


def shared(asked: Asked, best: Ranked, index: Index, files: ZoneFiles) -> Floats:
    """Score turns by what they share with the best others, from 0 to 1.

    Whom the question names is not followed: they are everywhere in what was found.
    """
    found = np.zeros(len(index.turns), np.float32)
    count = len(index.turns)
    connection = files.identity.connection
    for entity, seeds in _spoken_of(asked, best, index, files).items():
        events = identity.events_mentioning(
            connection, sorted(ids_of(connection, entity)), MOST_MENTIONS + 1
        )
        if len(events) > MOST_MENTIONS:
            continue
        idf = math.log(1 + (count - len(events) + 0.5) / (len(events) + 0.5))
        places = index.turns.place_of_id.of(events)
        places = places[places >= 0]
        for seed in seeds:
            others = places[places != seed]
            score = np.float32(best.scores[seed] * idf / math.log(count + 1))
            found[others] = np.maximum(found[others], score)
    return np.where(asked.allowed, np.minimum(found, 1), 0).astype(np.float32)


def _spoken_of(asked: Asked, best: Ranked, index: Index, files: ZoneFiles) -> dict[str, list[int]]:
    """Return the best places by the entities that they speak of, in the order of their ids."""
    place_of = {index.turns.ids[place]: place for place in best.places[:SEEDS].tolist()}
    of_seed = identity.entities_of_events(files.identity.connection, list(place_of))
    stands = index.standing(entity for entities in of_seed.values() for entity in entities)
    named = {item.entity.id for item in asked.named}
    found: dict[str, list[int]] = {}
    for event, entities in of_seed.items():
        for entity in {stands[id_] for id_ in entities if id_ in stands} - named:
            found.setdefault(entity, []).append(place_of[event])
    return dict(sorted(found.items()))
