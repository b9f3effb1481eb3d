"""Recall of one zone: a query is read, its questions are answered, and the answers are joined."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

import msgspec

from projections.files import ZoneFiles
from projections.recall.answer.assembly import together
from projections.recall.answer.explanation import AnswerTrace, explained, furthest
from projections.recall.answer.pipeline import Pipeline
from projections.recall.index.zone_index import Index
from projections.recall.question.encoding import TextEncoder
from projections.recall.question.parsed_question import ParsedQuestion
from projections.recall.question.query import RecallQuery, readable
from projections.recall.question.question_reader import QuestionReader
from projections.recall.question.time_spans import span_of_event
from projections.recall.ranking.profiles import DEFAULT_PROFILE, Profile
from projections.recall.ranking.reranking import Reranker
from schemas.times import parse_time
from schemas.wire import Explanation, RecallAnswer, Result


class Recaller:
    """Answers questions about one zone from open files, whose index it holds in memory.

    Several threads may ask it: each waits until the one before it has its answer. The index
    follows the files' watermarks.
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
        self._reader = QuestionReader(files, encoder)
        self._pipeline = Pipeline(files, profile, reranker)
        self._index: Index | None = None
        self._lock = threading.RLock()

    def recall(self, query: RecallQuery, now: int | None = None) -> RecallAnswer:
        """Return the answer to a query; each question in its text is answered by itself.

        `now`: when it is asked (unix ms), where the query does not say.

        Raises:
            InvalidInput: the question cannot be asked.
        """
        query.check()
        with self._lock, self._files.snapshot():
            index = self._refreshed()
            started, encoding = time.perf_counter(), self._reader.encoding_seconds
            results = _joined(query, self._traces(query, index, now))
            encoding = self._reader.encoding_seconds - encoding
            elapsed = (time.perf_counter() - started - encoding) * 1000
        return RecallAnswer(query=readable(query.text), results=results, ms=round(elapsed, 3))

    def explain(self, query: RecallQuery, id_: str, now: int | None = None) -> Explanation | None:
        """Return what became of a memory in the answer; None where nothing has this id.

        Raises:
            InvalidInput: the question cannot be asked.
        """
        query.check()
        query = msgspec.structs.replace(query, explain=True)
        with self._lock, self._files.snapshot():
            index = self._refreshed()
            traces = self._traces(query, index, now)
            results = _joined(query, traces)
            became = []
            for trace in traces:
                trace = trace._replace(results=results)
                one = explained(trace, readable(id_), self._profile, index, self._files)
                if one is None:
                    return None
                became.append(one)
        return furthest(query.readable(), traces, became, results)

    def follow(self) -> None:
        """Bring the index to where the files are."""
        with self._lock, self._files.snapshot():
            self._refreshed()

    @property
    def worth_storing(self) -> bool:
        """Whether `store` would spare another process much work."""
        with self._lock:
            return self._index is not None and self._index.worth_storing

    def store(self) -> None:
        """Write the index to the files' folder; only under the lock of `index.array_store`."""
        with self._lock:
            if self._index is not None:
                self._index.store()
                # The next question maps what was stored, and what was read goes.
                self._index = None

    def _traces(self, query: RecallQuery, index: Index, now: int | None) -> list[AnswerTrace]:
        """Return how the answer to each question of a query came about."""
        return [
            self._pipeline.run(self._timed(question, index), index)
            for question in self._reader.read(query, index, now)
        ]

    def _timed(self, question: ParsedQuestion, index: Index) -> ParsedQuestion:
        """Return a question with the time that it gives by an event, where that event is found.

        "The week before the move": first the turn about the move is recalled.
        """
        if question.event is None:
            return question
        found = self._pipeline.run(self._reader.event_of(question, index), index).results
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
