"""recall(): the arms run over one zone's files, and their candidates become one answer."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from projections.files import ZoneFiles
from projections.identity import queries as identity
from projections.memory import recalls
from projections.recall import turns as turn_index
from projections.recall.fusion import mmr, rrf, scaled, weighted
from projections.recall.names import Named, entity_ids, names_in, resolve
from projections.recall.profiles import BUDGETS, DEFAULT_PROFILE, Profile
from projections.recall.turns import Turns
from projections.recall.types import MOST_CHARACTERS, Answer, Query, Result
from projections.recall.vectors import Vectors
from projections.recall.words import MOST_WORDS, STOP_WORDS, Tokeniser, match_any
from schemas.names import normalise_name
from schemas.times import format_time

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

# Turns are looked at one by one (do they ask or tell?) only among the best.
_CLOSE_LOOK = 100


class _Arms(NamedTuple):
    """What the arms say about every turn, each scaled to 0..1, and about facts by id."""

    turns: dict[str, Floats]
    facts: dict[str, float]


class Recaller:
    """Answers questions about one zone from open files; keeps what is worth keeping in memory.

    Not for several threads at once. What it keeps follows the files' watermarks.
    """

    def __init__(self, files: ZoneFiles, profile: Profile = DEFAULT_PROFILE) -> None:
        self._files = files
        self._profile = profile
        self._tokeniser = Tokeniser(files.events.connection)
        turn_index.prepare(files.events.connection)
        self._turns: Turns | None = None
        self._marks: tuple[int, ...] = ()
        self._vectors: dict[str, Vectors] = {}
        self._fact_places: dict[str, int] | None = None
        self._asked = 0

    def text_to_embed(self, text: str) -> str:
        """Return a query without the names of those who take part.

        A name draws every turn near in which it is called, whatever is said there; who spoke is
        the entity arm's to know.
        """
        text = text[:MOST_CHARACTERS]
        for named in reversed(names_in(self._files.identity.connection, text)):
            if named.senders:
                text = text[: named.start] + text[named.end :].removeprefix("'s").removeprefix("’s")
        return " ".join(text.split()) or "?"

    def recall(self, query: Query, vector: Floats | None, *, resident: bool = False) -> Answer:
        """Return the answer. `vector` is the query's unit vector; None: no semantic arm.

        `resident`: bring vectors into memory at once, since more questions follow.

        Raises:
            InvalidInput: the question cannot be asked.
        """
        query.check()
        with self._snapshot():
            # A filter applies before anything is cut off, so every vector must be at hand.
            filtered = any(
                value is not None
                for value in (query.entity, query.platform, query.time_after, query.time_before)
            )
            turns = self._refresh(resident or filtered)
            started = time.perf_counter()
            results = self._answer(query, vector, turns)
            elapsed = (time.perf_counter() - started) * 1000
        return Answer(query=query.text, results=results, ms=round(elapsed, 3))

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """See each file at one moment, whatever is committed meanwhile."""
        begun = []
        try:
            for model in self._files.all:
                model.connection.execute("BEGIN")
                begun.append(model)
            yield
        finally:
            for model in begun:
                model.connection.execute("COMMIT")

    def _refresh(self, resident: bool) -> Turns:
        marks = tuple(model.watermark().number for model in self._files.all)
        if self._turns is None or marks != self._marks:
            self._turns = Turns(self._files)
            self._vectors = {}
            self._fact_places = None
            self._marks = marks
        for target in ("event", "fact", "mental_model", "observation"):
            self._vectors.setdefault(target, Vectors(self._files.embeddings, target))
        self._asked += 1
        if resident or self._asked > 1:
            self._vectors["event"].load()
            self._vectors["fact"].load()
        return self._turns

    def _answer(self, query: Query, vector: Floats | None, turns: Turns) -> list[Result]:
        wanted, factor = BUDGETS[query.budget]
        if vector is None:
            # Without an encoder, the cheapest answer there can be is by words.
            wanted |= {"keyword"}
        pool = max(self._profile.pool * factor, 2 * query.max_results)
        text = query.text[:MOST_CHARACTERS]
        allowed = self._allowed(query, turns)
        named = names_in(self._files.identity.connection, text)
        of_turns: list[Result] = []
        others: list[Result] = []
        if {"events", "facts"} & set(query.scope):
            arms = self._arms(text, vector, turns, named, wanted, allowed, pool)
            of_turns = self._turn_results(query, turns, arms, allowed, pool)
        if "mental_models" in query.scope and query.platform is None:
            others += self._mental_models(query, text, vector)
        if "entities" in query.scope:
            others += self._entities(query, text, named)
        # Turns keep the order that diversity gave them; the others come in where they belong.
        others.sort(key=lambda result: -result.score)
        merged = heapq.merge(of_turns, others, key=lambda result: -result.score)
        return list(islice(merged, query.max_results))

    # Filters

    def _allowed(self, query: Query, turns: Turns) -> Mask:
        """Return which turns pass the filters."""
        allowed = np.ones(len(turns), bool)
        if query.platform is not None:
            allowed &= turns.platform == turns.platform_index.get(query.platform, -1)
        if query.time_after is not None:
            allowed &= turns.occurred_at > query.time_after
        if query.time_before is not None:
            allowed &= turns.occurred_at < query.time_before
        if query.entity is not None:
            allowed &= self._about(self._ids_of(query.entity), turns)
        return allowed

    def _ids_of(self, name_or_id: str) -> set[str]:
        connection = self._files.identity.connection
        entity = resolve(connection, name_or_id) or resolve(connection, normalise_name(name_or_id))
        return entity_ids(connection, entity) if entity is not None else set()

    def _about(self, ids: set[str], turns: Turns) -> Mask:
        """Return which turns speak of, or come from, an entity under any of its ids."""
        mask = np.zeros(len(turns), bool)
        marks = ", ".join("?" * len(ids))
        for (event_id,) in self._files.identity.connection.execute(
            f"SELECT DISTINCT event_id FROM mentions WHERE entity_id IN ({marks})", tuple(ids)
        ):
            place = turns.place_of_id.get(str(event_id))
            if place is not None:
                mask[place] = True
        return mask

    # Arms

    def _arms(
        self,
        text: str,
        vector: Floats | None,
        turns: Turns,
        named: Sequence[Named],
        wanted: frozenset[str],
        allowed: Mask,
        pool: int,
    ) -> _Arms:
        arms: dict[str, Floats] = {}
        facts: dict[str, float] = {}
        if "keyword" in wanted:
            terms = self._tokeniser.terms(text)
            arms["keyword"] = scaled(np.where(allowed, turns.bm25(terms), 0), floor=0.0)
            arms["statement"] = self._fact_keywords(text, turns, allowed, pool)
        if "semantic" in wanted and vector is not None and self._files.embeddings.model:
            arms["semantic"] = self._turn_similarity(vector, turns, allowed, pool)
            arms["sentence"], facts = self._fact_similarity(vector, turns, allowed, pool)
        if "entity" in wanted and named:
            arms["entity"] = np.where(allowed, self._named_arm(turns, named), 0).astype(np.float32)
        if "causal" in wanted and facts:
            arms["causal"] = self._causal_arm(turns, facts, allowed)
        return _Arms(arms, facts)

    def _fact_keywords(self, text: str, turns: Turns, allowed: Mask, pool: int) -> Floats:
        """Return each turn's best fact by words; facts also say who spoke, and resolved dates."""
        scores = np.zeros(len(turns), np.float32)
        words = [word for word in self._tokeniser.words(text) if word not in STOP_WORDS]
        if not words:
            return scores
        # A filter must not leave the arm empty-handed, so nothing is cut off before it.
        limit = pool if allowed.all() else -1
        found = recalls.facts_matching(
            self._files.memory.connection, match_any(words[:MOST_WORDS]), limit
        )
        for _, event, score in found:
            place = turns.place_of_id.get(event, -1)
            if place >= 0 and allowed[place]:
                scores[place] = max(scores[place], score)
        return scaled(scores, floor=0.0)

    def _turn_similarity(self, vector: Floats, turns: Turns, allowed: Mask, pool: int) -> Floats:
        ids, similarity = self._similar("event", vector, pool)
        scores = np.zeros(len(turns), np.float32)
        places = np.array([turns.place_of_id.get(id_, -1) for id_ in ids], np.int64)
        there = places >= 0
        raw = np.full(len(turns), -np.inf, np.float32)
        raw[places[there]] = similarity[there]
        raw[~allowed] = -np.inf
        best = _top(raw, pool)
        scores[best] = scaled(raw[best])
        # What a turn is about is said around it as well.
        return scaled(np.where(allowed, turns.around(scores), 0), floor=0.0)

    def _fact_similarity(
        self, vector: Floats, turns: Turns, allowed: Mask, pool: int
    ) -> tuple[Floats, dict[str, float]]:
        """Return each turn's best sentence, and each near fact by itself."""
        ids, similarity = self._similar("fact", vector, pool * 2)
        places = self._places_of_facts(ids, turns)
        raw = np.where((places >= 0) & allowed[places], similarity, -np.inf).astype(np.float32)
        best = _top(raw, pool * 2)
        scores = np.zeros(len(turns), np.float32)
        facts: dict[str, float] = {}
        for index, score in zip(best.tolist(), scaled(raw[best]).tolist(), strict=True):
            facts[ids[index]] = score
            place = places[index]
            scores[place] = max(scores[place], score)
        return scores, facts

    def _places_of_facts(self, ids: list[str], turns: Turns) -> npt.NDArray[np.int64]:
        """Return the place of each fact's turn, -1 where there is none."""
        if self._fact_places is None:
            self._fact_places = {
                fact: turns.place_of_id.get(event, -1)
                for fact, event in recalls.fact_sources(self._files.memory.connection)
            }
        known = self._fact_places
        return np.fromiter((known.get(id_, -1) for id_ in ids), np.int64, len(ids))

    def _similar(self, target: str, vector: Floats, pool: int) -> tuple[list[str], Floats]:
        vectors = self._vectors[target]
        return vectors.all(vector) or vectors.nearest(vector, pool)

    def _named_arm(self, turns: Turns, named: Sequence[Named]) -> Floats:
        """Return 1 for turns of the one participant who is named; half for turns about others."""
        scores = np.zeros(len(turns), np.float32)
        speakers = [item for item in named if item.senders]
        for item in named:
            if not item.senders:
                scores[self._about(item.ids, turns)] = 0.5
        if len({item.entity.id for item in speakers}) == 1:
            scores[turns.of_senders(speakers[0].senders)] = 1.0
        return scores

    def _causal_arm(self, turns: Turns, facts: dict[str, float], allowed: Mask) -> Floats:
        """Return, for what caused or followed from near facts, their score times the strength."""
        scores = np.zeros(len(turns), np.float32)
        connection = self._files.memory.connection
        links = recalls.effects_and_causes(connection, list(facts))
        sources = recalls.facts(connection, [linked for _, linked, _ in links])
        for fact, linked, strength in links:
            place = turns.place_of_id.get(sources[linked][2], -1) if linked in sources else -1
            if place >= 0 and allowed[place]:
                scores[place] = max(scores[place], facts[fact] * strength)
        return scores

    # From arms to results

    def _turn_results(
        self, query: Query, turns: Turns, arms: _Arms, allowed: Mask, pool: int
    ) -> list[Result]:
        if not len(turns) or not arms.turns:
            return []
        fused = self._fused(arms.turns)
        found = np.zeros(len(turns), bool)
        for scores in arms.turns.values():
            found |= scores > 0
        best = _top(np.where(found & allowed, fused, -np.inf), pool)
        fused = self._less_questions(fused, turns, best)
        best = best[np.argsort(-fused[best], kind="stable")]
        if self._profile.mmr_lambda is not None:
            best = self._diverse(best, fused, turns, query.max_results)
        if "facts" not in query.scope:
            chosen = [("event", turns.ids[place], place) for place in best[: query.max_results]]
        else:
            chosen = self._with_facts(query, turns, arms, best)
        return self._results(query, chosen, turns, arms, fused)

    def _fused(self, arms: dict[str, Floats]) -> Floats:
        if self._profile.fusion == "rrf":
            return scaled(rrf(arms.values(), self._profile.rrf_k), floor=0.0)
        return weighted(arms, self._profile.weights)

    def _less_questions(self, fused: Floats, turns: Turns, best: npt.NDArray[np.int64]) -> Floats:
        """Return the scores less the share of a turn's sentences that ask instead of tell."""
        near = best[:_CLOSE_LOOK]
        numbers = [int(turns.numbers[place]) for place in near]
        marks = ", ".join("?" * len(numbers))
        for number, content in self._files.events.connection.execute(
            f"SELECT number, content FROM events WHERE number IN ({marks})", numbers
        ):
            text = str(content)
            asked = text.count("?")
            if asked:
                ends = asked + text.count(".") + text.count("!")
                fused[turns.row[int(number)]] -= self._profile.question_share * asked / ends
        return np.maximum(fused, 0)

    def _diverse(
        self, best: npt.NDArray[np.int64], fused: Floats, turns: Turns, count: int
    ) -> npt.NDArray[np.int64]:
        vectors = self._vectors["event"].of([turns.ids[place] for place in best])
        lambda_ = self._profile.mmr_lambda
        assert lambda_ is not None

        def similarity(one: int, other: int) -> float:
            left, right = vectors.get(turns.ids[one]), vectors.get(turns.ids[other])
            return 0.0 if left is None or right is None else float(left @ right)

        relevance = {int(place): float(fused[place]) for place in best}
        return np.array(mmr(relevance, similarity, count, lambda_), np.int64)

    def _with_facts(
        self, query: Query, turns: Turns, arms: _Arms, best: npt.NDArray[np.int64]
    ) -> list[tuple[str, str, int]]:
        """Return what stands for each turn: the one fact that was near, else the turn itself.

        With raw turns in scope no turn is answered twice; without, each fact stands for itself.
        """
        places = [int(place) for place in best]
        if "events" in query.scope:
            places = places[: query.max_results]
        of_place: dict[int, list[str]] = {}
        for fact, event_id in recalls.facts_of_events(
            self._files.memory.connection, [turns.ids[place] for place in places]
        ):
            of_place.setdefault(turns.place_of_id[event_id], []).append(fact)
        chosen: list[tuple[str, str, int]] = []
        for place in places:
            facts = sorted(of_place.get(place, ()), key=lambda fact: -arms.facts.get(fact, 0.0))
            if "events" not in query.scope:
                chosen += [("fact", fact, place) for fact in facts]
            elif len(facts) == 1:
                chosen.append(("fact", facts[0], place))
            else:
                chosen.append(("event", turns.ids[place], place))
        return chosen[: query.max_results]

    def _results(
        self,
        query: Query,
        chosen: Sequence[tuple[str, str, int]],
        turns: Turns,
        arms: _Arms,
        fused: Floats,
    ) -> list[Result]:
        fact_ids = [id_ for kind, id_, _ in chosen if kind == "fact"]
        memory = self._files.memory.connection
        facts = recalls.facts(memory, fact_ids)
        stale = recalls.superseded(memory, fact_ids) | self._stale_turns(chosen, arms)
        repeats = recalls.repeating_events(memory, fact_ids)
        about = recalls.entities_of_facts(memory, fact_ids)
        numbers = [int(turns.numbers[place]) for _, _, place in chosen]
        marks = ", ".join("?" * len(numbers))
        rows = {
            int(number): (str(content), str(caption), str(source))
            for number, content, caption, source in self._files.events.connection.execute(
                f"SELECT number, content, caption, source_id FROM events WHERE number IN ({marks})",
                numbers,
            )
        }
        results = []
        for kind, id_, place in chosen:
            content, caption, source = rows[int(turns.numbers[place])]
            sources = [source]
            if kind == "fact":
                text = facts[id_][0]
                sources += self._source_ids(repeats.get(id_, ()))
                entities = about.get(id_, [])
            else:
                text = f"{content} [{caption}]".strip() if caption else content
                entities = self._entities_of_event(id_)
            results.append(
                Result(
                    id=id_,
                    type=kind,
                    text=text,
                    as_of=format_time(int(turns.occurred_at[place])),
                    score=round(min(1.0, max(0.0, float(fused[place]))), 6),
                    is_stale=id_ in stale,
                    entity_ids=self._canonical_ids(entities),
                    platform=turns.platform_name(place),
                    source_event_ids=list(dict.fromkeys(sources)),
                    arms=_ranks(arms.turns, place) if query.explain else None,
                )
            )
        return results

    def _stale_turns(self, chosen: Sequence[tuple[str, str, int]], arms: _Arms) -> set[str]:
        """Return the turns whose nearest fact is no longer current."""
        memory = self._files.memory.connection
        nearest: dict[str, str] = {}
        events = [id_ for kind, id_, _ in chosen if kind == "event"]
        for fact, event in recalls.facts_of_events(memory, events):
            held = nearest.get(event)
            if held is None or arms.facts.get(fact, 0.0) > arms.facts.get(held, 0.0):
                nearest[event] = fact
        stale = recalls.superseded(memory, list(nearest.values()))
        return {event for event, fact in nearest.items() if fact in stale}

    def _source_ids(self, event_ids: Iterable[str]) -> list[str]:
        connection = self._files.events.connection
        found = []
        for event_id in event_ids:
            row = connection.execute(
                "SELECT source_id FROM events WHERE id = ?", (event_id,)
            ).fetchone()
            if row is not None:
                found.append(str(row[0]))
        return found

    def _entities_of_event(self, event_id: str) -> list[str]:
        return [
            str(row[0])
            for row in self._files.identity.connection.execute(
                "SELECT DISTINCT entity_id FROM mentions WHERE event_id = ? ORDER BY entity_id",
                (event_id,),
            )
        ]

    def _canonical_ids(self, ids: Iterable[str]) -> list[str]:
        standing = (identity.canonical(self._files.identity.connection, id_) for id_ in ids)
        return list(dict.fromkeys(entity.id for entity in standing if entity is not None))

    # Other kinds

    def _mental_models(self, query: Query, text: str, vector: Floats | None) -> list[Result]:
        rows = recalls.mental_models(self._files.memory.connection)
        if not rows:
            return []
        terms = set(self._tokeniser.terms(text))
        similar: dict[str, float] = {}
        if vector is not None and self._files.embeddings.model:
            near, similarity = self._vectors["mental_model"].nearest(vector, self._profile.pool)
            similar = dict(zip(near, np.maximum(similarity, 0).tolist(), strict=True))
        ids = self._ids_of(query.entity) if query.entity else None
        results = []
        for id_, name, description, updated_at, is_stale in rows:
            entity_id = self._files.memory.connection.execute(
                "SELECT entity_id FROM mental_models WHERE id = ?", (id_,)
            ).fetchall()[0][0]
            if ids is not None and entity_id not in ids:
                continue
            if query.time_after is not None and updated_at <= query.time_after:
                continue
            if query.time_before is not None and updated_at >= query.time_before:
                continue
            own = set(self._tokeniser.terms(f"{name} {description}"))
            overlap = len(terms & own) / len(terms) if terms else 0.0
            if not overlap and id_ not in similar:
                continue
            results.append(
                Result(
                    id=id_,
                    type="mental_model",
                    text=f"{name}: {description}",
                    as_of=format_time(updated_at),
                    score=round((overlap + similar.get(id_, 0.0)) / 2, 6),
                    is_stale=is_stale,
                    entity_ids=[str(entity_id)] if entity_id else [],
                    platform=None,
                    source_event_ids=[],
                    arms={} if query.explain else None,
                )
            )
        return results

    def _entities(self, query: Query, text: str, named: Sequence[Named]) -> list[Result]:
        """Return the entities that the query names, with what else they are called."""
        connection = self._files.identity.connection
        found = {item.entity.id: item.entity for item in named}
        for name in (text, query.entity or ""):
            entity = resolve(connection, normalise_name(name)) if name.strip() else None
            if entity is not None:
                found[entity.id] = entity
        results = []
        for entity in found.values():
            others = sorted({row.name for row in identity.aliases(connection, entity.id)})
            events = self._mentioning(entity_ids(connection, entity))
            also = f", also {', '.join(others)}" if others else ""
            results.append(
                Result(
                    id=entity.id,
                    type="entity",
                    text=f"{entity.name} ({entity.type}{also})",
                    as_of=format_time(entity.created_at),
                    score=1.0,
                    is_stale=False,
                    entity_ids=[entity.id],
                    platform=None,
                    source_event_ids=self._source_ids(events),
                    arms={"entity": 1} if query.explain else None,
                )
            )
        return results

    def _mentioning(self, ids: set[str], most: int = 20) -> list[str]:
        marks = ", ".join("?" * len(ids))
        return [
            str(row[0])
            for row in self._files.identity.connection.execute(
                f"SELECT DISTINCT event_id FROM mentions WHERE entity_id IN ({marks}) "
                "ORDER BY event_id LIMIT ?",
                (*ids, most),
            )
        ]


def _top(scores: Floats, count: int) -> npt.NDArray[np.int64]:
    """Return the places of the `count` best finite scores, best first; ties in ledger order."""
    if len(scores) > count:
        cut = np.partition(scores, len(scores) - count)[len(scores) - count]
        places = np.flatnonzero((scores >= cut) & np.isfinite(scores))
    else:
        places = np.flatnonzero(np.isfinite(scores))
    return places[np.argsort(-scores[places], kind="stable")][:count]


def _ranks(arms: dict[str, Floats], place: int) -> dict[str, int]:
    """Return the rank of a turn in every arm that found it."""
    return {
        name: int((scores > scores[place]).sum()) + 1
        for name, scores in arms.items()
        if scores[place] > 0
    }
