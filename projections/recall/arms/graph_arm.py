"""The graph arm: turns found by the relationships of a question's entities, or by its themes.

By entities (`low`): from the entities that the question names, or else those of the most similar
facts, relationships are followed over two hops. A turn that states one of them counts by the
distance of its farther end, a turn that mentions an entity on the way half as much. By themes
(`high`): the turns that support the observations in which the most similar facts are items.
`dual` is both.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import numpy as np
import numpy.typing as npt

from recollect.projections.entity_graph import EntityGraph
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.memory import observation_queries
from recollect.projections.memory.relationship_queries import RelationshipFilter
from recollect.projections.recall.arms.arm_scores import ArmScores
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion

#: How many hops relationships are followed.
NEIGHBOR_HOPS = 2
#: The minimum similarity, as a share of the best, of a fact whose entities are followed.
ENTITY_SIMILARITY_THRESHOLD = 0.75
#: The maximum number of entities that are reached, and of entities at the start.
MAX_ENTITIES, _MAX_STARTS = 100, 10
#: The most similar facts whose observations are followed.
_MAX_NEAREST = 50
_MENTION_SCORE = 0.5

Floats = npt.NDArray[np.float32]


def graph(
    question: ParsedQuestion, index: Index, files: ZoneFiles, facts: Mapping[str, float]
) -> ArmScores | None:
    """Score turns by the query's `graph_mode`; None if it is `none` or finds nothing.

    `facts`: id -> similarity to the question, the most similar first.
    """
    mode = question.query.graph_mode
    scores = np.zeros(len(index.turns), np.float32)
    if mode in ("low", "dual"):
        _add_by_entities(scores, question, index, files, facts)
    if mode in ("high", "dual") and index.row_kinds.observations:
        _add_by_themes(scores, question, index, files, facts)
    scores = question.masked(scores)
    return ArmScores(None, scores) if scores.any() else None


def _add_by_entities(
    scores: Floats,
    question: ParsedQuestion,
    index: Index,
    files: ZoneFiles,
    facts: Mapping[str, float],
) -> None:
    which = RelationshipFilter(valid_ms=question.query.valid_at)
    edges = EntityGraph(files.memory.connection, files.identity.connection, which)
    starts = [item.entity.id for item in question.topic.named]
    if not starts:
        similar = [id_ for id_, score in facts.items() if score >= ENTITY_SIMILARITY_THRESHOLD]
        linked = memory.entities_of_facts(files.memory.connection, similar[:_MAX_STARTS])
        starts = [id_ for fact in similar for id_ in linked.get(fact, ())]
    entities = list(dict.fromkeys(edges.canonical(starts).values()))[:_MAX_STARTS]
    hops = edges.neighbors(entities, NEIGHBOR_HOPS, MAX_ENTITIES).hops
    stated: dict[str, float] = {}
    for edge in edges.edges_among(list(hops)):
        score = edge.confidence / max(hops[edge.source], hops[edge.target], 1)
        for fact in edge.evidence:
            stated[fact.fact_id] = max(stated.get(fact.fact_id, 0.0), score)
    _add_facts(scores, stated, index)
    mentions = index.mentions_of.of([id_ for id_, distance in hops.items() if distance])
    for id_, (_, places) in mentions.items():
        np.maximum.at(scores, places, np.float32(_MENTION_SCORE / (1 + hops[id_])))


def _add_by_themes(
    scores: Floats,
    question: ParsedQuestion,
    index: Index,
    files: ZoneFiles,
    facts: Mapping[str, float],
) -> None:
    """Score the support of observations by the most similar of their items."""
    connection = files.memory.connection
    nearest = [*islice(facts, _MAX_NEAREST)]
    themes = observation_queries.observations_of(connection, nearest, question.query.until)
    support = observation_queries.supporting_facts(connection, [item.id for item in themes])
    stated: dict[str, float] = {}
    for item in themes:
        score = max((facts.get(id_, 0.0) for id_ in item.items), default=0.0)
        for id_, _, _ in support.get(item.id, ()):
            stated[id_] = max(stated.get(id_, 0.0), score)
    _add_facts(scores, stated, index)


def _add_facts(scores: Floats, stated: Mapping[str, float], index: Index) -> None:
    """Raise the scores of the turns of some facts to those of the facts."""
    rows = index.facts.rows_of(list(stated))
    known = rows >= 0
    values = np.array(list(stated.values()), np.float32)[known]
    np.maximum.at(scores, index.facts.places[rows[known]], values)
