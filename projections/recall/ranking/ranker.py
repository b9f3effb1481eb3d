"""Rank turns and documents for a question, by a profile and an optional reranker."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.arms.arm_scores import Candidates
from recollect.projections.recall.arms.documents.scored_documents import Document
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.ranking.answer_type_match import boost_matching_type
from recollect.projections.recall.ranking.candidates import candidates
from recollect.projections.recall.ranking.decay import apply_decay
from recollect.projections.recall.ranking.document_ranking import ScoredDocuments, score_documents
from recollect.projections.recall.ranking.list_diversity import demote_neighbours
from recollect.projections.recall.ranking.profiles import Profile
from recollect.projections.recall.ranking.relevance import relevance
from recollect.projections.recall.ranking.reranking import (
    Reranker,
    TextScorer,
    rerank_turns,
    with_reranked,
)
from recollect.projections.recall.ranking.session_diversity import demote_further_turns
from recollect.projections.recall.ranking.time_order import boost_by_time
from recollect.projections.recall.ranking.turn_ranking import RankedTurns, Rescore, rank_turns

# Scopes that need turns: observations and entities are found by the facts of turns.
_TURN_SCOPES = frozenset({"events", "facts", "observations", "entities"})


class Ranker:
    """Finds and ranks candidates, one question at a time."""

    def __init__(self, files: ZoneFiles, profile: Profile, reranker: Reranker | None) -> None:
        self._files = files
        self._profile = profile
        self._reranker = reranker

    def find_candidates(self, question: ParsedQuestion, index: Index) -> Candidates | None:
        """Return the turns that the arms find; None if no turns are in scope."""
        if _TURN_SCOPES.isdisjoint(question.query.scope) or not len(index.turns):
            return None
        return candidates(question, self._profile, index, self._files)

    def rank_turns(
        self, question: ParsedQuestion, found: Candidates, index: Index, count: int
    ) -> RankedTurns:
        """Return the candidates, best first; at most `count` of them if the profile diversifies."""
        ranked = rank_turns(
            found,
            question.eligible,
            self._profile,
            index,
            self._files,
            pool=self._profile.pool_for(question.query.max_results, wide=question.is_wide),
            count=count,
            rescoring=self._rescoring_steps(question, index),
        )
        if self._text_scorer(question) is not None or question.is_time_only:
            return ranked
        # This makes scores comparable between answers. A reranker's scores are comparable already,
        # and to a question about a time, whatever happened then is an answer.
        return ranked.scaled_by(relevance(found.evidence))

    def score_documents(
        self, question: ParsedQuestion, documents: Sequence[Document], index: Index
    ) -> ScoredDocuments:
        """Return the documents that match a question, with their scores."""
        scored = score_documents(documents, question, self._profile, index, self._files)
        scorer = self._text_scorer(question)
        if not scored.documents or scorer is None:
            return scored
        order = np.argsort(-scored.scores, kind="stable")
        texts = [scored.documents[place].text for place in order[: self._profile.rerank_limit]]
        scores = scored.scores.copy()
        scores[order] = with_reranked(scored.scores[order], scorer(texts))
        return scored._replace(scores=scores)

    def _rescoring_steps(self, question: ParsedQuestion, index: Index) -> list[Rescore]:
        """Return the steps that change the scores of the best turns, in order."""
        profile = self._profile
        steps: list[Rescore] = [
            partial(
                apply_decay,
                asked_at=question.asked_at,
                profile=profile,
                index=index,
                files=self._files,
            )
        ]
        if (scorer := self._text_scorer(question)) is not None:
            return [*steps, partial(rerank_turns, scorer=scorer, profile=profile, index=index)]
        if not profile.match_answer_type:
            return steps
        if question.answer_type is not None:
            steps.append(
                partial(boost_matching_type, answer_type=question.answer_type, index=index)
            )
        if question.wants_list and question.speakers:
            by_speakers = index.turns.sender_mask(question.speakers)
            steps.append(partial(demote_neighbours, by_speakers=by_speakers, index=index))
        if question.order is not None:
            steps.append(partial(boost_by_time, order=question.order, index=index))
        if index.turns.in_assistant_chats.any():
            steps.append(partial(demote_further_turns, index=index))
        return steps

    def _text_scorer(self, question: ParsedQuestion) -> TextScorer | None:
        """Return the reranker for a question; None if there is none, or if the budget is low."""
        if self._reranker is None or question.query.budget == "low":
            return None
        return partial(self._reranker, question.text)
