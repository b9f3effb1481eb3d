"""recall(): the questions of a text go through the pipeline, and their answers become one."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from projections.events import turns_for_recall as events
from projections.files import ZoneFiles
from projections.recall.answer.assembly import together
from projections.recall.answer.explanation import Course, explained, furthest
from projections.recall.answer.pipeline import Pipeline
from projections.recall.index.zone_index import Index
from projections.recall.question.encoding import QueryTokens
from projections.recall.question.entity_names import Names
from projections.recall.question.query import MOST_CHARACTERS, Query, readable
from projections.recall.question.sub_questions import Part
from projections.recall.ranking.profiles import DEFAULT_PROFILE, Profile
from projections.recall.ranking.reranking import Reranker
from schemas.wire import Explanation, RecallAnswer, Result

Floats = npt.NDArray[np.float32]


class Recaller:
    """Answers questions about one zone from open files; keeps what is worth keeping in memory.

    Not for several threads at once. What it keeps follows the files' watermarks.
    """

    def __init__(
        self,
        files: ZoneFiles,
        profile: Profile = DEFAULT_PROFILE,
        reranker: Reranker | None = None,
    ) -> None:
        self._files = files
        self._profile = profile
        self._names = Names(files.identity)
        self._pipeline = Pipeline(files, self._names, profile, reranker)
        self._index: Index | None = None

    @property
    def encoder(self) -> str | None:
        """The model whose vectors are indexed; None where none are."""
        return self._files.embeddings.model

    def text_to_embed(self, text: str) -> str:
        """Return a query without the names of those who take part.

        A name draws every turn near in which it is called, whatever is said there; who spoke is
        the entity arm's to know.
        """
        text = readable(text)[:MOST_CHARACTERS]
        for named in reversed(self._names.of(text)):
            if named.senders:
                text = text[: named.start] + text[named.end :].removeprefix("'s").removeprefix("’s")
        return " ".join(text.split()) or "?"

    def latest(self) -> tuple[int, int] | None:
        """Return when the last thing happened, in unix ms, and its sender's offset from UTC, min.

        None where nothing did.
        """
        return events.latest(self._files.events.connection)

    def names(self, text: str) -> list[str]:
        """Return the names in a text, as they stand there, of what the zone knows."""
        text = readable(text)[:MOST_CHARACTERS]
        return [text[item.start : item.end] for item in self._names.of(text)]

    def recall(
        self,
        query: Query,
        vector: Floats | None,
        tokens: QueryTokens | None = None,
    ) -> RecallAnswer:
        """Return the answer to one question; see `recall_all`."""
        return self.recall_all(query, [Part(query, vector, tokens)])

    def recall_all(self, query: Query, parts: Sequence[Part]) -> RecallAnswer:
        """Return the answer to all questions that a text consists of, each by itself.

        Raises:
            InvalidInput: the question cannot be asked.
        """
        query.check()
        with self._files.snapshot():
            index = self._refreshed()
            started = time.perf_counter()
            courses = [self._pipeline.run(part, index) for part in parts]
            results = self._together(query, parts, courses)
            elapsed = (time.perf_counter() - started) * 1000
        return RecallAnswer(query=readable(query.text), results=results, ms=round(elapsed, 3))

    def explain(self, query: Query, parts: Sequence[Part], id_: str) -> Explanation | None:
        """Return what became of a memory in the answer; None where nothing has this id.

        Raises:
            InvalidInput: the question cannot be asked.
        """
        query.check()
        explained_parts = [
            part._replace(query=msgspec.structs.replace(part.query, explain=True)) for part in parts
        ]
        with self._files.snapshot():
            index = self._refreshed()
            courses = [self._pipeline.run(part, index) for part in explained_parts]
            results = self._together(query, explained_parts, courses)
            became = []
            for part, course in zip(parts, courses, strict=True):
                course = course._replace(results=results)
                one = explained(
                    part.query, readable(id_), course, self._profile, index, self._files
                )
                if one is None:
                    return None
                became.append(one)
        return furthest(query.readable(), parts, became, results)

    def _together(
        self, query: Query, parts: Sequence[Part], courses: Sequence[Course]
    ) -> list[Result]:
        if len(parts) == 1:
            return courses[0].results
        return together(parts, [course.results for course in courses], query.max_results)

    def follow(self) -> None:
        """Bring what is kept in memory to where the files are."""
        with self._files.snapshot():
            self._refreshed()

    @property
    def worth_storing(self) -> bool:
        """Whether `store` would spare another process much work."""
        return self._index is not None and self._index.worth_storing

    def store(self) -> None:
        """Keep the index beside the files; only inside the lock that it is kept under."""
        if self._index is not None:
            self._index.store()
            # The next question maps what was stored, and what was read goes.
            self._index = None

    def _refreshed(self) -> Index:
        # One that was interrupted while it followed has half of what came, and is let go.
        index, self._index = self._index, None
        if index is None or not index.follow():
            index = None
            index = Index.opened(self._files)
        self._index = index
        return index
