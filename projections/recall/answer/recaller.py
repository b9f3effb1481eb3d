"""Recall from one zone: parse a query, answer each of its questions, and merge the answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.projections.files import ZoneFiles
from recollect.projections.memory.facts_for_recall import message_dates
from recollect.projections.recall.answer.assembly import merge_answers
from recollect.projections.recall.answer.explanation import (
    AnswerTrace,
    explain,
    explanation_of_last_step,
)
from recollect.projections.recall.answer.fair_lock import FairLock
from recollect.projections.recall.answer.pipeline import Pipeline
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.encoding import (
    EncodingCache,
    EncodingRequired,
    TextEncoder,
    query_vectors,
)
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.question.query import RecallQuery, encodable
from recollect.projections.recall.question.query_parser import QueryParser
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
from recollect.schemas.times import LATEST_MS, parse_time
from recollect.schemas.wire import Explanation, RecallAnswer, Result

T = TypeVar("T")
Floats = npt.NDArray[np.float32]


class Recaller:
    """Answers queries about one zone from open files, with their index in memory.

    It is thread-safe. Queries are encoded concurrently. They are answered one at a time in order of
    arrival, since answering is bound by Python's global interpreter lock. The index follows the
    files' watermarks.
    """

    def __init__(
        self,
        files: ZoneFiles,
        profile: Profile = DEFAULT_PROFILE,
        reranker: Reranker | None = None,
        encoder: TextEncoder | None = None,
        *,
        uses_stored_index: bool = True,
    ) -> None:
        """`uses_stored_index`: False if the files are restricted to one reader."""
        self._files = files
        self._uses_stored_index = uses_stored_index
        self._profile = profile
        self._encoder = encoder
        self._parser = QueryParser(files)
        self._pipeline = Pipeline(files, profile, reranker)
        self._index: Index | None = None
        self._lock = FairLock()
        # The vectors of GENERIC_PROMPTS, from the first query on.
        self._generic_vectors: list[Floats] = []
        self._cached_baseline: tuple[tuple[object, ...], float] | None = None

    def recall(self, query: RecallQuery, now: int | None = None) -> RecallAnswer:
        """Return the answer to a query; each question in its text is answered separately.

        `now` (unix ms) is the time of asking if the query has none.

        Raises:
            InvalidInput: the query is invalid.
        """
        query.check()

        def answer(index: Index, encoder: TextEncoder | None) -> RecallAnswer:
            started = time.perf_counter()
            traces, relevance = self._traces_and_relevance(query, index, encoder, now)
            results = _merge(query, traces)
            elapsed = (time.perf_counter() - started) * 1000
            return RecallAnswer(
                query=encodable(query.text),
                results=results,
                ms=round(elapsed, 3),
                relevant=round(relevance, 6),
            )

        return self._run(query, answer)

    def with_traces(
        self,
        query: RecallQuery,
        compose: Callable[[list[AnswerTrace], float, Index, ZoneFiles], T],
        *,
        now: int | None = None,
        deadline: float | None = None,
    ) -> T:
        """Return what `compose` makes of the traces of a query's answers and the query's relevance.

        The lock is held meanwhile. Questions not begun by `deadline`, on the clock of
        `time.monotonic`, are skipped.

        Raises:
            InvalidInput: the query is invalid.
        """
        query.check()

        def answer(index: Index, encoder: TextEncoder | None) -> T:
            traces, relevance = self._traces_and_relevance(query, index, encoder, now, deadline)
            return compose(traces, relevance, index, self._files)

        return self._run(query, answer)

    def explain(self, query: RecallQuery, id_: str, now: int | None = None) -> Explanation | None:
        """Explain why a memory is or is not in the answer; return None if nothing has this id.

        Raises:
            InvalidInput: the query is invalid.
        """
        query.check()
        query = msgspec.structs.replace(query, explain=True)

        def explanation(index: Index, encoder: TextEncoder | None) -> Explanation | None:
            traces = self._traces(query, index, encoder, now)
            results = _merge(query, traces)
            explanations = []
            for trace in traces:
                trace = trace._replace(results=results)
                step = explain(trace, encodable(id_), self._profile, index, self._files)
                if step is None:
                    return None
                explanations.append(step)
            return explanation_of_last_step(query.encodable(), traces, explanations, results)

        return self._run(query, explanation)

    def follow(self) -> None:
        """Bring the index up to the files' watermarks."""
        with self._lock, self._files.read_transaction():
            self._current_index()

    @property
    def should_store(self) -> bool:
        """Whether storing the index would save another process much work."""
        # Read without the lock, so that a thread that has just answered
        # a query need not wait for others.
        index = self._index
        return index is not None and self._uses_stored_index and index.should_store

    def store(self) -> None:
        """Write the index next to the files; the caller holds the lock of `index.array_store`."""
        with self._lock:
            if self._index is not None:
                self._index.store()
                # The next query maps the stored index, and the memory of this one is freed.
                self._index = None

    def _run(self, query: RecallQuery, answer: Callable[[Index, TextEncoder | None], T]) -> T:
        """Call `answer` under the lock, with a consistent view of the index and the files.

        The query's sentences are encoded first, outside the lock. If `answer` needs the vectors of
        another text, this text is encoded outside the lock as well, and `answer` is called again.
        """
        encoder = None if self._encoder is None else EncodingCache(self._encoder)
        if (
            self._encoder is not None
            and self._encoder.model is not None
            and not self._generic_vectors
        ):
            self._generic_vectors = query_vectors(self._encoder, GENERIC_PROMPTS)
        if encoder is not None:
            with self._lock:
                sentences = self._parser.embedded_sentences(query, self._index, encoder)
            for sentence in dict.fromkeys(sentences):
                encoder.encode(sentence)
        while True:
            try:
                with self._lock, self._files.read_transaction():
                    return answer(self._current_index(), encoder)
            except EncodingRequired as required:
                assert encoder is not None
                encoder.encode(required.text)

    def _traces_and_relevance(
        self,
        query: RecallQuery,
        index: Index,
        encoder: TextEncoder | None,
        now: int | None,
        deadline: float | None = None,
    ) -> tuple[list[AnswerTrace], float]:
        """Return the trace of each question, and the probability that anything is relevant."""
        # This comes before any search, since a text that is not encoded yet aborts the answer.
        sentences = self._parser.sentence_vectors(query, index, encoder)
        traces = self._traces(query, index, encoder, now, deadline)
        if any(trace.question.is_time_only for trace in traces):
            # Any turn of that time answers a question about a time alone, whatever its words.
            return traces, 1.0
        baseline = self._baseline(index) if sentences else 0.0
        searched = [(trace.question, trace.found) for trace in traces]
        features = prompt_features(searched, sentences, baseline, index)
        return traces, prompt_relevance(features, self._parser.prompt_cues(query))

    def _baseline(self, index: Index) -> float:
        """Return the similarity of generic prompts to the index, cached until its turns change.

        The cache is valid for one lineage of each file: until the file is replaced or its rows are
        changed or deleted.
        """
        state = (baseline_turn_count(index), *index.state.lineages)
        if self._cached_baseline is None or self._cached_baseline[0] != state:
            self._cached_baseline = (state, baseline_similarity(self._generic_vectors, index))
        return self._cached_baseline[1]

    def _traces(
        self,
        query: RecallQuery,
        index: Index,
        encoder: TextEncoder | None,
        now: int | None,
        deadline: float | None = None,
    ) -> list[AnswerTrace]:
        """Return the trace of each question of a query; questions past the deadline are skipped."""
        query = _in_present(query, index)
        questions = [
            self._resolve_event_time(question, index, encoder)
            for question in self._parser.parse(query, index, encoder, now)
        ]
        return [
            self._pipeline.run(question, index)
            for question in questions
            if deadline is None or time.monotonic() < deadline
        ]

    def _resolve_event_time(
        self, question: ParsedQuestion, index: Index, encoder: TextEncoder | None
    ) -> ParsedQuestion:
        """Replace a time relative to an event by a time span, if the event is found.

        For "the week before the move", the turn about the move is recalled first.
        """
        if question.event is None:
            return question
        trace = self._pipeline.run(
            self._parser.anchor_question(question, index, encoder), index
        ).results
        for turn in trace[:1]:
            at = parse_time(turn.as_of)[0]
            span = span_of_event(question.event, self._days_of(turn), at, question.utc_offset)
            return question._replace(spans=(span,))
        return question

    def _days_of(self, result: Result) -> set[tuple[str, str]]:
        """Return (first day, last day) of each date in a turn, or of the days of a fact."""
        if result.type == "fact":
            return set() if result.when is None else {(result.when.first, result.when.last)}
        dates = message_dates(self._files.memory.connection, [result.id]).get(result.id, ())
        return {(each.first_day, each.last_day) for each in dates}

    def _current_index(self) -> Index:
        # The index is taken out first: if its update is interrupted, it has only some of the new
        # rows and must not be used.
        index, self._index = self._index, None
        if index is None or not index.follow():
            index = None
            index = Index.open(self._files, uses_stored=self._uses_stored_index)
        self._index = index
        return index


def _in_present(query: RecallQuery, index: Index) -> RecallQuery:
    """Return a query whose present is not before the last turn, nor before it is asked."""
    if query.present is None:
        return query
    last = int(index.turns.occurred_at.max()) if len(index.turns.occurred_at) else 0
    present = max(query.present, last, query.asked_at or 0)
    return msgspec.structs.replace(query, present=min(present, LATEST_MS))


def _merge(query: RecallQuery, traces: Sequence[AnswerTrace]) -> list[Result]:
    """Return the results of a query, merged from those of its questions."""
    if len(traces) == 1:
        return traces[0].results
    return merge_answers(traces, query.max_results)
