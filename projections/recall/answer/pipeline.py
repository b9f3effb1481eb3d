"""What becomes of one question: it is read, the arms look, and what they find becomes results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from projections.files import ZoneFiles
from projections.recall.answer import document_results, turn_results
from projections.recall.answer.assembly import assembled
from projections.recall.answer.explanation import Course
from projections.recall.arms import entity_documents, mental_model_documents, observations
from projections.recall.arms.arm_scores import Found
from projections.recall.arms.documents import Document
from projections.recall.index.tokeniser import Tokeniser
from projections.recall.index.zone_index import Index
from projections.recall.question import filters
from projections.recall.question.answer_type import asks_for_list, wanted
from projections.recall.question.entity_names import Names, ids_of
from projections.recall.question.parsed_question import Asked
from projections.recall.question.query import MOST_CHARACTERS, Query
from projections.recall.question.speakers import asked_for
from projections.recall.question.sub_questions import Part
from projections.recall.question.validity import Ended, ended
from projections.recall.ranking import document_ranking
from projections.recall.ranking.answer_type_match import fitting
from projections.recall.ranking.candidates import found_by
from projections.recall.ranking.document_ranking import Scored
from projections.recall.ranking.fading import faded
from projections.recall.ranking.list_gathering import gathered
from projections.recall.ranking.profiles import BUDGETS, Profile
from projections.recall.ranking.relevance import relevance
from projections.recall.ranking.reranking import Judge, Reranker, judged, reranked
from projections.recall.ranking.turn_ranking import Ranked, Rescore, ranked

Mask = npt.NDArray[np.bool_]

_OF_TURNS = frozenset({"events", "facts"})


class _Question(NamedTuple):
    """A question as it was read. `about`: the ids of the entity that is asked for, None: any.

    `over` is what had ended, `masks` what each filter lets through, and `eligible` the turns that
    may be found.
    """

    part: Part
    query: Query
    asked: Asked
    about: set[str] | None
    over: Ended
    masks: Mapping[str, Mask]
    eligible: Mask


class Pipeline:
    """Answers questions about files, one at a time, as a profile ranks."""

    def __init__(
        self, files: ZoneFiles, names: Names, profile: Profile, reranker: Reranker | None
    ) -> None:
        self._files = files
        self._names = names
        self._profile = profile
        self._reranker = reranker
        self._tokeniser = Tokeniser(files.events.connection)

    def run(self, part: Part, index: Index) -> Course:
        """Return the results of a question, and how they came about."""
        question = self._read(part.usable(self._files.embeddings), index)
        query, asked = question.query, question.asked
        found = order = None
        if {*_OF_TURNS, "observations"}.intersection(query.scope) and len(index.turns):
            found = self._found(question, index)
        near = self._documents(question, found, index)
        beside = document_results.results(near, index, explain=query.explain)
        of_turns = []
        if found is not None and found.turns and _OF_TURNS.intersection(query.scope):
            # What comes with an observation is passed over, and others take its place.
            count = query.max_results + sum(len(item.facts) for item in beside)
            order = self._ranked(question, found, index, count)
            of_turns = turn_results.of_turns(
                query,
                order,
                found,
                question.over,
                index,
                self._files,
                question.eligible,
                count=count,
            )
        results = assembled(
            [result for result in of_turns if result.score >= query.min_score],
            [result for result in beside if result.score >= query.min_score],
            query.max_results,
        )
        return Course(question.masks, found, order, question.eligible, asked.pool, beside, results)

    def _read(self, part: Part, index: Index) -> _Question:
        query = part.query.readable()
        text = query.text[:MOST_CHARACTERS]
        connection = self._files.identity.connection
        about = None if query.entity is None else ids_of(connection, query.entity)
        over = ended(query, index, self._files)
        masks = filters.masks(query, about, over, index)
        named = self._names.of(text)
        asked = Asked(
            text=text,
            terms=self._tokeniser.terms(text),
            vector=part.vector,
            named=named,
            voices=asked_for(text, named, index.turns.senders),
            spans=query.spans,
            about=masks.get("entity"),
            allowed=np.logical_and.reduce([np.ones(len(index.turns), bool), *masks.values()]),
            filtered=bool(masks),
            pool=max(self._profile.pool, 2 * query.max_results),
            read=max(self._profile.read, 2 * query.max_results),
        )
        eligible = asked.allowed
        if "events" not in query.scope:
            eligible = eligible & index.facts_said.gave()
        return _Question(part, query, asked, about, over, masks, eligible)

    def _found(self, question: _Question, index: Index) -> Found:
        """Return what the arms of the question's budget find."""
        budget = BUDGETS[question.query.budget]
        if question.asked.vector is None:
            # Without an encoder, the cheapest answer there can be is by words.
            budget |= {"keyword"}
        return found_by(
            budget,
            question.asked,
            question.part.tokens,
            question.eligible,
            self._profile,
            index,
            self._files,
            self._tokeniser,
            # Ranks by each arm, and those that are fused, are among all turns.
            whole=question.query.explain or self._profile.fusion == "rrf",
        )

    def _documents(self, question: _Question, found: Found | None, index: Index) -> Scored:
        """Return what answers beside turns, of what is in scope and passes the filters."""
        query, asked = question.query, question.asked
        some: list[Document] = []
        if "observations" in query.scope and found is not None:
            some += observations.observations(query, asked, found.facts, index, self._files)
        if "mental_models" in query.scope and index.present.mental_models:
            some += mental_model_documents.mental_models(query, question.about, self._files)
        if "entities" in query.scope:
            some += entity_documents.entities(query, asked, index, self._files)
        near = document_ranking.scored(
            some, asked, self._profile, index, self._files, self._tokeniser
        )
        judge = self._judge(query)
        if not near.documents or judge is None:
            return near
        best = np.argsort(-near.scores, kind="stable")
        texts = [near.documents[place].text for place in best[: self._profile.reranked]]
        scores = near.scores.copy()
        scores[best] = reranked(near.scores[best], judge(texts))
        return near._replace(scores=scores)

    def _ranked(self, question: _Question, found: Found, index: Index, count: int) -> Ranked:
        order = ranked(
            found,
            question.eligible,
            self._profile,
            index,
            self._files,
            pool=question.asked.pool,
            count=count,
            rescoring=self._rescoring(question, index),
        )
        if self._judge(question.query) is not None:
            return order
        # So that a score means the same in every answer; a judge's does.
        return order.weighed(relevance(found.evidence))

    def _rescoring(self, question: _Question, index: Index) -> list[Rescore]:
        """Return what looks at the best turns again."""
        profile, files, query = self._profile, self._files, question.query
        fade = partial(faded, asked_at=query.asked_at, profile=profile, index=index, files=files)
        if (judge := self._judge(query)) is not None:
            judging = partial(judged, judge=judge, profile=profile, index=index)
            return [fade, judging]
        steps: list[Rescore] = [fade]
        if not profile.fitting:
            return steps
        words = question.part.words or query.text
        if (kind := wanted(words)) is not None:
            steps.append(partial(fitting, kind=kind, index=index))
        if question.asked.voices and asks_for_list(words):
            said = index.turns.of_senders(question.asked.voices)
            steps.append(partial(gathered, said=said, index=index))
        return steps

    def _judge(self, query: Query) -> Judge | None:
        """Return what says how well texts answer; the low budget is the cheapest answer."""
        if self._reranker is None or query.budget == "low":
            return None
        return partial(self._reranker, query.text[:MOST_CHARACTERS])
