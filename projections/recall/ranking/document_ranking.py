"""Score documents, such as observations and mental models, for a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.arms.documents import Document
from recollect.projections.recall.index.vector_index import vectors_of
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.ranking.fusion import weighted_sum
from recollect.projections.recall.ranking.profiles import TEXT_ARMS, Profile

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
        vectors = np.zeros((len(documents), files.embeddings.dimension), np.float32)
        for kind in ("observation", "mental_model"):
            positions = [position for position, item in enumerate(documents) if item.kind == kind]
            if positions:
                ids = [documents[position].id for position in positions]
                vectors[positions] = vectors_of(files.embeddings, kind, ids)
        arms["semantic"] = np.maximum(vectors @ question.vector, 0)
        missing["semantic"] = np.logical_not(vectors.any(axis=1))
    if question.topic.named:
        named = {id_ for item in question.topic.named for id_ in item.ids}
        mentions = [bool(named & item.entities) for item in documents]
        arms["entity"] = np.array(mentions, np.float32)
    scores = weighted_sum(arms, profile.weights, TEXT_ARMS, missing)
    found = np.flatnonzero(np.max([*arms.values()], axis=0) > 0)
    return ScoredDocuments(
        [documents[position] for position in found.tolist()],
        scores[found],
        {name: arm_scores[found] for name, arm_scores in arms.items()},
    )


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
