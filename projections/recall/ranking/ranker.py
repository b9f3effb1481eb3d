"""Ranks what was found for a question as a profile says: turns, and documents."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.arms.arm_scores import Candidates
from recollect.projections.recall.arms.documents import Document
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.ranking.answer_type_match import fitting
from recollect.projections.recall.ranking.candidates import candidates
from recollect.projections.recall.ranking.document_ranking import Scored, scored
from recollect.projections.recall.ranking.fading import faded
from recollect.projections.recall.ranking.list_gathering import spread_list
from recollect.projections.recall.ranking.profiles import Profile
from recollect.projections.recall.ranking.relevance import relevance
from recollect.projections.recall.ranking.reranking import Judge, Reranker, judged, reranked
from recollect.projections.recall.ranking.turn_ranking import Ranked, Rescore, ranked

# These find turns, and observations by the facts of turns.
_OF_TURNS = frozenset({"events", "facts", "observations"})


class Ranker:
    """Finds and ranks for one question after another, as a profile and a reranker say."""

    def __init__(self, files: ZoneFiles, profile: Profile, reranker: Reranker | None) -> None:
        self._files = files
        self._profile = profile
        self._reranker = reranker

    def found(self, question: ParsedQuestion, index: Index) -> Candidates | None:
        """Return the turns that the arms find; None where no turns are in scope."""
        if _OF_TURNS.isdisjoint(question.query.scope) or not len(index.turns):
            return None
        return candidates(question, self._profile, index, self._files)

    def turns(
        self, question: ParsedQuestion, found: Candidates, index: Index, count: int
    ) -> Ranked:
        """Return the turns that were found, in order; up to `count` where these are to differ."""
        order = ranked(
            found,
            question.eligible,
            self._profile,
            index,
            self._files,
            pool=self._profile.pool_for(question.query.max_results),
            count=count,
            rescoring=self._rescoring(question, index),
        )
        if self._judge(question) is not None:
            return order
        # So that a score means the same in every answer; a judge's scores do already.
        return order.times(relevance(found.evidence))

    def documents(
        self, question: ParsedQuestion, documents: Sequence[Document], index: Index
    ) -> Scored:
        """Return the documents that answer a question, with their scores."""
        near = scored(documents, question, self._profile, index, self._files)
        judge = self._judge(question)
        if not near.documents or judge is None:
            return near
        best = np.argsort(-near.scores, kind="stable")
        texts = [near.documents[place].text for place in best[: self._profile.reranked]]
        scores = near.scores.copy()
        scores[best] = reranked(near.scores[best], judge(texts))
        return near._replace(scores=scores)

    def _rescoring(self, question: ParsedQuestion, index: Index) -> list[Rescore]:
        """Return the steps that change the scores of the best turns, in order."""
        profile = self._profile
        steps: list[Rescore] = [
            partial(
                faded,
                asked_at=question.asked_at,
                profile=profile,
                index=index,
                files=self._files,
            )
        ]
        if (judge := self._judge(question)) is not None:
            return [*steps, partial(judged, judge=judge, profile=profile, index=index)]
        if profile.fitting and question.answer_type is not None:
            steps.append(partial(fitting, wanted=question.answer_type, index=index))
        if profile.fitting and question.wants_list and question.speakers:
            by_them = index.turns.sender_mask(question.speakers)
            steps.append(partial(spread_list, by_speakers=by_them, index=index))
        return steps

    def _judge(self, question: ParsedQuestion) -> Judge | None:
        """Return what judges texts by the question; the low budget goes without."""
        if self._reranker is None or question.query.budget == "low":
            return None
        return partial(self._reranker, question.text)
