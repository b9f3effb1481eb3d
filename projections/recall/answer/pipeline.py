"""Answer one parsed question: run the arms, rank, and assemble turns and documents."""

from __future__ import annotations

import msgspec

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.answer.assembly import (
    MAX_FACTS,
    MAX_FOR_LIST,
    MAX_OBSERVATIONS,
    assemble,
)
from recollect.projections.recall.answer.document_results import document_results
from recollect.projections.recall.answer.explanation import AnswerTrace
from recollect.projections.recall.answer.turn_results import turn_results
from recollect.projections.recall.arms.arm_scores import Candidates
from recollect.projections.recall.arms.documents.entity_documents import entities
from recollect.projections.recall.arms.documents.mental_model_documents import mental_models
from recollect.projections.recall.arms.documents.observation_documents import observations
from recollect.projections.recall.arms.documents.scored_documents import TURNS, Document
from recollect.projections.recall.index.vector_index import vectors_of
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.ranking.profiles import Profile
from recollect.projections.recall.ranking.ranker import Ranker
from recollect.projections.recall.ranking.reranking import Reranker
from recollect.schemas.wire import Result


class Pipeline:
    """Answers parsed questions, one at a time."""

    def __init__(self, files: ZoneFiles, profile: Profile, reranker: Reranker | None) -> None:
        self._files = files
        self._profile = profile
        self._ranker = Ranker(files, profile, reranker)

    def run(self, question: ParsedQuestion, index: Index) -> AnswerTrace:
        """Return the results of a question, with the intermediate results."""
        query = question.query
        candidates = self._ranker.find_candidates(question, index)
        scored = self._ranker.score_documents(
            question, self._documents(question, candidates, index), index
        )
        document_items = document_results(
            scored, index, self._files, until=query.until, explain=query.explain
        )
        ranked, turn_items = None, []
        if (
            candidates is not None
            and candidates.scores_by_arm
            and not TURNS.isdisjoint(query.scope)
        ):
            # Facts listed under an observation are not repeated, so more turns are needed in their
            # place.
            most = MAX_FOR_LIST if question.wants_list else MAX_OBSERVATIONS
            count = query.max_results + (MAX_FACTS * most if document_items else 0)
            ranked = self._ranker.rank_turns(question, candidates, index, count)
            turn_items = turn_results(question, ranked, candidates, index, self._files, count=count)
        results = assemble(
            turn_items,
            document_items,
            query.max_results,
            whole={item.id for item in scored.documents if item.is_whole},
            min_score=query.min_score,
            wants_list=question.wants_list,
            wants_detail=question.wants_detail,
        )
        if query.explain:
            results = self._with_similarity(results, question)
        pool = self._profile.pool_for(query.max_results, wide=question.is_wide)
        return AnswerTrace(question, candidates, ranked, pool, document_items, results)

    def _with_similarity(self, results: list[Result], question: ParsedQuestion) -> list[Result]:
        """Add to each result the cosine similarity of its own vector to the question."""
        if question.vector is None:
            return results
        similarities: dict[str, float] = {}
        for kind in {result.type for result in results}:
            ids = [result.id for result in results if result.type == kind]
            vectors = vectors_of(self._files.embeddings, kind, ids)
            cosines = (vectors @ question.vector).tolist()
            similarities |= {
                id_: round(cosine, 6)
                for id_, cosine, vector in zip(ids, cosines, vectors, strict=True)
                if vector.any()
            }
        return [
            msgspec.structs.replace(result, similarity=similarities.get(result.id))
            for result in results
        ]

    def _documents(
        self, question: ParsedQuestion, candidates: Candidates | None, index: Index
    ) -> list[Document]:
        """Return the documents in scope that pass the filters."""
        scope, documents = question.query.scope, []
        if "observations" in scope and candidates is not None:
            documents += observations(question, candidates.facts, index, self._files)
        if "mental_models" in scope and index.row_kinds.mental_models:
            documents += mental_models(question, self._files)
        if "entities" in scope:
            nearness = {} if candidates is None else candidates.facts
            documents += entities(question, nearness, index, self._files)
        return documents
