"""Score documents, such as observations and mental models, for a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.arms.documents.scored_documents import Document
from recollect.projections.recall.index.vector_index import vectors_of
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.ranking.fusion import weighted_sum
from recollect.projections.recall.ranking.profiles import TEXT_ARMS, Profile

# The number of an observation's nearest items from which its similarity is taken.
_BEST_ITEMS = 3

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


class ScoredDocuments(NamedTuple):
    """The documents that at least one arm found, with their fused scores and scores by arm."""

    documents: list[Document]
    scores: Floats
    arms: dict[str, Floats]

    def ranks(self, position: int) -> dict[str, int]:
        """Return the rank of a document in every arm that found it."""
        return {
            name: int((scores > scores[position]).sum()) + 1
            for name, scores in self.arms.items()
            if scores[position] > 0
        }


def score_documents(
    documents: Sequence[Document],
    question: ParsedQuestion,
    profile: Profile,
    index: Index,
    files: ZoneFiles,
) -> ScoredDocuments:
    """Return the documents that match a question by words, by meaning or by a named entity."""
    if not documents:
        return ScoredDocuments([], np.zeros(0, np.float32), {})
    arms = {"keyword": _keyword(documents, question, index)}
    missing: dict[str, Mask] = {}
    if question.vector is not None:
        arms["semantic"], missing["semantic"] = _semantic(documents, question.vector, files)
    if question.topic.named:
        named = {id_ for item in question.topic.named for id_ in item.ids}
        mentions = [bool(named & item.entities) for item in documents]
        arms["entity"] = np.array(mentions, np.float32)
    scores = weighted_sum(arms, profile.weights, TEXT_ARMS, missing)
    matching = np.flatnonzero(np.max([*arms.values()], axis=0) > 0)
    return ScoredDocuments(
        [documents[position] for position in matching.tolist()],
        scores[matching],
        {name: arm_scores[matching] for name, arm_scores in arms.items()},
    )


def _semantic(
    documents: Sequence[Document], vector: Floats, files: ZoneFiles
) -> tuple[Floats, Mask]:
    """Return the cosine of each document to a vector, and which documents have no vector.

    The cosine of an observation comes from the facts that it states: the largest cosine and the
    mean of the three largest, averaged.
    """
    targets = {
        "mental_model": [item.id for item in documents if item.kind == "mental_model"],
        "fact": sorted({id_ for item in documents for id_ in item.items}),
    }
    cosines: dict[str, float] = {}
    for kind, ids in targets.items():
        vectors = vectors_of(files.embeddings, kind, ids)
        scores = np.maximum(vectors @ vector, 0).tolist()
        cosines |= {ids[place]: scores[place] for place in np.flatnonzero(vectors.any(axis=1))}
    similarity = np.zeros(len(documents), np.float32)
    unread = np.zeros(len(documents), bool)
    for place, item in enumerate(documents):
        item_cosines = [cosines[id_] for id_ in item.items or [item.id] if id_ in cosines]
        best = sorted(item_cosines, reverse=True)[:_BEST_ITEMS]
        unread[place] = not best
        similarity[place] = (best[0] + sum(best) / len(best)) / 2 if best else 0
    return similarity, unread


def _keyword(documents: Sequence[Document], question: ParsedQuestion, index: Index) -> Floats:
    """Return the idf-weighted share of the question's terms that each document contains."""
    idf = {term: index.turns.idf(term) for term in question.terms}
    total = sum(idf.values())
    if not total:
        return np.zeros(len(documents), np.float32)
    document_terms = (index.tokeniser.document_terms(item.words) for item in documents)
    return np.array(
        [sum(idf[term] for term in idf.keys() & terms) / total for terms in document_terms],
        np.float32,
    )
