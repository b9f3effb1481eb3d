"""recall(): the arms run over one zone's files, and their candidates become one answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import msgspec
import numpy as np
import numpy.typing as npt

from projections.events import recalls as events
from projections.files import ZoneFiles
from projections.memory import recalls as memory
from projections.recall import answers, arms, documents, filters, observations, others
from projections.recall.arms import Asked, Found
from projections.recall.assembling import assembled
from projections.recall.columns import distinct
from projections.recall.documents import Document
from projections.recall.evidence import relevance
from projections.recall.expansion import SEEDS, shared
from projections.recall.explaining import Course, Explanation, explained
from projections.recall.fading import faded
from projections.recall.index import Index
from projections.recall.kinds import fitting, wanted
from projections.recall.late import QueryTokens, late
from projections.recall.names import ids_of, names_in
from projections.recall.parts import Part, furthest, together
from projections.recall.profiles import BUDGETS, DEFAULT_PROFILE, Profile
from projections.recall.ranking import Rescore, ranked, so_far
from projections.recall.reranking import Judge, Reranker, judged, reranked
from projections.recall.types import MOST_CHARACTERS, Answer, Query, Result
from projections.recall.validity import ended
from projections.recall.voices import asked_for
from projections.recall.words import Tokeniser, readable

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


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
        self._reranker = reranker
        self._tokeniser = Tokeniser(files.events.connection)
        events.prepare(files.events.connection)
        memory.prepare(files.memory.connection)
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
        for named in reversed(names_in(self._files.identity.connection, text)):
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
        named = names_in(self._files.identity.connection, readable(text)[:MOST_CHARACTERS])
        return [text[item.start : item.end] for item in named]

    def recall(
        self,
        query: Query,
        vector: Floats | None,
        tokens: QueryTokens | None = None,
    ) -> Answer:
        """Return the answer to one question; see `recall_all`."""
        return self.recall_all(query, [Part(query, vector, tokens)])

    def recall_all(self, query: Query, parts: Sequence[Part]) -> Answer:
        """Return the answer to all questions that a text consists of, each by itself.

        Raises:
            InvalidInput: the question cannot be asked.
        """
        query.check()
        with self._files.snapshot():
            index = self._refreshed()
            started = time.perf_counter()
            courses = [self._course(part, index) for part in parts]
            results = self._together(query, parts, courses)
            elapsed = (time.perf_counter() - started) * 1000
        return Answer(query=readable(query.text), results=results, ms=round(elapsed, 3))

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
            courses = [self._course(part, index) for part in explained_parts]
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
        if self._index is None or not self._index.follow():
            self._index = None
            self._index = Index.opened(self._files)
        return self._index

    def _usable(self, vector: Floats | None) -> Floats | None:
        """Return the vector if it is one of the indexed model, with a direction."""
        embeddings = self._files.embeddings
        if vector is None or embeddings.model is None or len(vector) != embeddings.dimension:
            return None
        return vector if np.isfinite(vector).all() and vector.any() else None

    def _readable(self, tokens: QueryTokens | None) -> QueryTokens | None:
        """Return token vectors if they are of the indexed model."""
        embeddings = self._files.embeddings
        if tokens is None or embeddings.model is None:
            return None
        of_model = tokens.vectors.shape[1] == embeddings.dimension
        return tokens if of_model and np.isfinite(tokens.vectors).all() else None

    def _course(self, part: Part, index: Index) -> Course:
        query = part.query.readable()
        vector, tokens = self._usable(part.vector), self._readable(part.tokens)
        wanted = BUDGETS[query.budget]
        if vector is None:
            # Without an encoder, the cheapest answer there can be is by words.
            wanted |= {"keyword"}
        connection = self._files.identity.connection
        text = query.text[:MOST_CHARACTERS]
        about = None if query.entity is None else ids_of(connection, query.entity)
        named = names_in(connection, text)
        over = ended(query, index, self._files)
        masks = filters.masks(query, about, over, index)
        asked = Asked(
            text=text,
            terms=self._tokeniser.terms(text),
            vector=vector,
            named=named,
            voices=asked_for(text, named, index.turns.senders),
            spans=query.spans,
            allowed=np.logical_and.reduce([np.ones(len(index.turns), bool), *masks.values()]),
            pool=max(self._profile.pool, 2 * query.max_results),
        )
        eligible = asked.allowed
        if "events" not in query.scope:
            eligible = eligible & index.facts_said.gave()
        found = order = None
        if {"events", "facts", "observations"} & set(query.scope) and len(index.turns):
            # Ranks by each arm, and those that are fused, are among all turns.
            whole = query.explain or self._profile.fusion == "rrf"
            found = self._found(asked, tokens, wanted, eligible, index, whole=whole)
        near = documents.scored(
            self._documents(query, asked, about, found, index),
            asked,
            self._profile,
            index,
            self._files,
            self._tokeniser,
        )
        if near.documents and (judge := self._judge(query)) is not None:
            best = np.argsort(-near.scores, kind="stable")
            texts = [near.documents[place].text for place in best[: self._profile.reranked]]
            scores = near.scores.copy()
            scores[best] = reranked(near.scores[best], judge(texts))
            near = near._replace(scores=scores)
        beside = documents.results(near, index, explain=query.explain)
        of_turns: list[Result] = []
        if found is not None and found.turns and {"events", "facts"} & set(query.scope):
            # What comes with an observation is passed over, and others take its place.
            count = query.max_results + sum(len(item.facts) for item in beside)
            order = ranked(
                found,
                eligible,
                self._profile,
                index,
                self._files,
                pool=asked.pool,
                count=count,
                rescoring=self._rescoring(part, index),
            )
            if self._judge(query) is None:
                # So that a score means the same in every answer; a judge's does.
                order = order.weighed(relevance(found.evidence))
            of_turns = answers.of_turns(query, order, found, over, index, self._files, count=count)
        results = assembled(
            [result for result in of_turns if result.score >= query.min_score],
            [result for result in beside if result.score >= query.min_score],
            query.max_results,
        )
        return Course(masks, found, order, eligible, asked.pool, beside, results)

    def _rescoring(self, part: Part, index: Index) -> list[Rescore]:
        """Return what looks at the best turns again."""
        profile, files, query = self._profile, self._files, part.query
        fade = partial(faded, asked_at=query.asked_at, profile=profile, index=index, files=files)
        if (judge := self._judge(query)) is None:
            kind = wanted(part.words or query.text) if profile.fitting else None
            if kind is None:
                return [fade]
            return [fade, partial(fitting, kind=kind, index=index, files=files)]
        return [fade, partial(judged, judge=judge, profile=profile, index=index, files=files)]

    def _judge(self, query: Query) -> Judge | None:
        """Return what says how well texts answer; the low budget is the cheapest answer."""
        if self._reranker is None or query.budget == "low":
            return None
        return partial(self._reranker, query.text[:MOST_CHARACTERS])

    def _documents(
        self,
        query: Query,
        asked: Asked,
        about: set[str] | None,
        found: Found | None,
        index: Index,
    ) -> list[Document]:
        """Return what beside turns is in scope and passes the filters."""
        some: list[Document] = []
        if "observations" in query.scope and found is not None:
            some += observations.observations(query, asked, found.facts, index, self._files)
        if "mental_models" in query.scope:
            some += others.mental_models(query, about, self._files)
        if "entities" in query.scope:
            some += others.entities(query, asked, index, self._files)
        return some

    def _found(
        self,
        asked: Asked,
        tokens: QueryTokens | None,
        wanted: frozenset[str],
        eligible: Mask,
        index: Index,
        *,
        whole: bool,
    ) -> Found:
        """Return what the arms say: the cheap ones of every turn, late interaction of the best.

        Then only those are looked at further that may still be among the best: each of the best
        twice `pool` by the cheap arms, or what shares something with the best of them.
        """
        everywhere = arms.run(wanted, asked, index, self._files)
        if not everywhere.turns:
            return everywhere
        found = everywhere
        if not whole:
            found = found.at(np.sort(so_far(found, eligible, self._profile, 2 * asked.pool).places))
        if "late" in wanted and tokens is not None and self._profile.weights.get("late"):
            close = np.sort(so_far(found, eligible, self._profile, asked.pool).places)
            said = late(tokens, close, index, self._tokeniser)
            found = found.heard("late", close, said.scores, said.unread)
            if said.nearest is not None:
                found = found._replace(evidence={**found.evidence, "late": said.nearest})
        if "shared" in wanted and self._profile.weights.get("shared"):
            best = so_far(found, eligible, self._profile, SEEDS)
            places, scores = shared(asked, best, index, self._files)
            if len(places):
                found = found.at(distinct(np.concatenate((found.places, places))))
                cheap = everywhere.at(found.places)
                found = found._replace(
                    turns={**found.turns, **cheap.turns}, unread={**found.unread, **cheap.unread}
                ).heard("shared", places, scores)
        return found
