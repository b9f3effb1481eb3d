"""Recall of one zone: a query is read, its questions are answered, and the answers are joined."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.recall.answer.assembly import together
from recollect.projections.recall.answer.explanation import AnswerTrace, explained, furthest
from recollect.projections.recall.answer.fair_lock import FairLock
from recollect.projections.recall.answer.pipeline import Pipeline
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.encoding import (
    EncodedTexts,
    NotEncoded,
    TextEncoder,
    query_vectors,
)
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.question.query import RecallQuery, readable
from recollect.projections.recall.question.question_reader import QuestionReader
from recollect.projections.recall.question.times.time_spans import span_of_event
from recollect.projections.recall.ranking.profiles import DEFAULT_PROFILE, Profile
from recollect.projections.recall.ranking.prompt_relevance import (
    GENERIC_PROMPTS,
    baseline_similarity,
    baseline_turn_count,
    prompt_features,
    prompt_relevance,
)
from recollect.projections.recall.ranking.reranking import Reranker
from recollect.schemas.times import parse_time
from recollect.schemas.wire import Explanation, RecallAnswer, Result

T = TypeVar("T")
Floats = npt.NDArray[np.float32]


class Recaller:
    """Answers questions about one zone from open files, whose index it holds in memory.

    Several threads may ask it. Their questions are encoded side by side, and answered one at a
    time, in the order in which they came: what is left is Python's work, of which a process does
    no two at once. The index follows the files' watermarks.
    """

    def __init__(
        self,
        files: ZoneFiles,
        profile: Profile = DEFAULT_PROFILE,
        reranker: Reranker | None = None,
        encoder: TextEncoder | None = None,
    ) -> None:
        self._files = files
        self._profile = profile
        self._encoder = encoder
        self._reader = QuestionReader(files)
        self._pipeline = Pipeline(files, profile, reranker)
        self._index: Index | None = None
        self._lock = FairLock()
        # The vectors of GENERIC_PROMPTS, once something was asked.
        self._generic: list[Floats] = []
        self._usual_of: tuple[tuple[object, ...], float] | None = None

    def recall(self, query: RecallQuery, now: int | None = None) -> RecallAnswer:
        """Return the answer to a query; each question in its text is answered by itself.

        `now`: when it is asked (unix ms), where the query does not say.

        Raises:
            InvalidInput: the question cannot be asked.
        """
        query.check()

        def answer(index: Index, encoder: TextEncoder | None) -> RecallAnswer:
            started = time.perf_counter()
            traces, relevant = self._weighed(query, index, encoder, now)
            results = _joined(query, traces)
            elapsed = (time.perf_counter() - started) * 1000
            return RecallAnswer(
                query=readable(query.text),
                results=results,
                ms=round(elapsed, 3),
                relevance=round(relevant, 6),
            )

        return self._answered(query, answer)

    def composed(
        self,
        query: RecallQuery,
        compose: Callable[[list[AnswerTrace], float, Index, ZoneFiles], T],
        *,
        now: int | None = None,
        deadline: float | None = None,
    ) -> T:
        """Return what `compose` makes of the answers to a query, while nothing else is asked.

        It is given how each came about, and how likely it is that anything is relevant.
        `deadline`: on the clock of `time.monotonic`; questions that are late are left out.

        Raises:
            InvalidInput: the question cannot be asked.
        """
        query.check()

        def answer(index: Index, encoder: TextEncoder | None) -> T:
            return compose(*self._weighed(query, index, encoder, now, deadline), index, self._files)

        return self._answered(query, answer)

    def explain(self, query: RecallQuery, id_: str, now: int | None = None) -> Explanation | None:
        """Return what became of a memory in the answer; None where nothing has this id.

        Raises:
            InvalidInput: the question cannot be asked.
        """
        query.check()
        query = msgspec.structs.replace(query, explain=True)

        def explanation(index: Index, encoder: TextEncoder | None) -> Explanation | None:
            traces = self._traces(query, index, encoder, now)
            results = _joined(query, traces)
            became = []
            for trace in traces:
                trace = trace._replace(results=results)
                one = explained(trace, readable(id_), self._profile, index, self._files)
                if one is None:
                    return None
                became.append(one)
            return furthest(query.readable(), traces, became, results)

        return self._answered(query, explanation)

    def follow(self) -> None:
        """Bring the index to where the files are."""
        with self._lock, self._files.read_transaction():
            self._refreshed()

    @property
    def should_store(self) -> bool:
        """Whether `store` would spare another process much work."""
        # Without the lock: who has an answer does not wait for those of others.
        index = self._index
        return index is not None and index.should_store

    def store(self) -> None:
        """Write the index to the files' folder; only under the lock of `index.array_store`."""
        with self._lock:
            if self._index is not None:
                self._index.store()
                # The next question maps what was stored, and what was read goes.
                self._index = None

    def _answered(self, query: RecallQuery, answer: Callable[[Index, TextEncoder | None], T]) -> T:
        """Return an answer from the index and the files as they are at one moment.

        The query's sentences are encoded first, while others are answered. What `answer` needs
        encoded besides is encoded then, and it is called again.
        """
        encoder = None if self._encoder is None else EncodedTexts(self._encoder)
        if self._encoder is not None and self._encoder.model is not None and not self._generic:
            self._generic = query_vectors(self._encoder, GENERIC_PROMPTS)
        if encoder is not None:
            with self._lock:
                sentences = self._reader.embedded_sentences(query, encoder)
            for sentence in dict.fromkeys(sentences):
                encoder.encode(sentence)
        while True:
            try:
                with self._lock, self._files.read_transaction():
                    return answer(self._refreshed(), encoder)
            except NotEncoded as lacking:
                assert encoder is not None
                encoder.encode(lacking.text)

    def _weighed(
        self,
        query: RecallQuery,
        index: Index,
        encoder: TextEncoder | None,
        now: int | None,
        deadline: float | None = None,
    ) -> tuple[list[AnswerTrace], float]:
        """Return how each answer came about, and how likely it is that anything is relevant."""
        # Before anything is searched: what is not encoded yet makes the answer begin again.
        sentences = self._reader.sentence_vectors(query, encoder)
        traces = self._traces(query, index, encoder, now, deadline)
        usual = self._usual(index) if sentences else 0.0
        asked = [(trace.question, trace.found) for trace in traces]
        near = prompt_features(asked, sentences, usual, index)
        return traces, prompt_relevance(near, self._reader.about(query))

    def _usual(self, index: Index) -> float:
        """Return the cosine to which generic prompts come in this index."""
        state = (baseline_turn_count(index), *index.lineages)
        if self._usual_of is None or self._usual_of[0] != state:
            self._usual_of = (state, baseline_similarity(self._generic, index))
        return self._usual_of[1]

    def _traces(
        self,
        query: RecallQuery,
        index: Index,
        encoder: TextEncoder | None,
        now: int | None,
        deadline: float | None = None,
    ) -> list[AnswerTrace]:
        """Return how the answer to each question of a query came about; what is late has none."""
        questions = [
            self._timed(question, index, encoder)
            for question in self._reader.read(query, index, encoder, now)
        ]
        return [
            self._pipeline.run(question, index)
            for question in questions
            if deadline is None or time.monotonic() < deadline
        ]

    def _timed(
        self, question: ParsedQuestion, index: Index, encoder: TextEncoder | None
    ) -> ParsedQuestion:
        """Return a question with the time that it gives by an event, where that event is found.

        "The week before the move": first the turn about the move is recalled.
        """
        if question.event is None:
            return question
        found = self._pipeline.run(self._reader.event_of(question, index, encoder), index).results
        for turn in found[:1]:
            at = parse_time(turn.as_of)[0]
            span = span_of_event(question.event, turn.text, at, question.utc_offset)
            return question._replace(spans=(span,))
        return question

    def _refreshed(self) -> Index:
        # An index that was interrupted while it followed has half of the new rows, and is dropped.
        index, self._index = self._index, None
        if index is None or not index.follow():
            index = None
            index = Index.opened(self._files)
        self._index = index
        return index


def _joined(query: RecallQuery, traces: Sequence[AnswerTrace]) -> list[Result]:
    """Return the results of a query from those of its questions."""
    if len(traces) == 1:
        return traces[0].results
    return together(traces, query.max_results)
