"""From ranked turns to results: what stands for each turn, whether it still holds, and sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from projections.events import turns_for_recall as events
from projections.files import ZoneFiles
from projections.memory import facts_for_recall as memory
from projections.recall.answer.supersessions import changes
from projections.recall.arms.arm_scores import Found
from projections.recall.index.zone_index import Index
from projections.recall.question.parsed_question import ParsedQuestion
from projections.recall.question.query import Query
from projections.recall.ranking.turn_ranking import Ranked
from schemas.times import LATEST_MS
from schemas.wire import Change, Result

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Chosen(NamedTuple):
    """What is answered: a fact or a raw turn, by id, the place of the turn, and its score.

    `facts` are the ids of what it tells: the fact, or all that the turn gave or repeated. `text`
    is a fact's; None: what was said.
    """

    kind: Literal["event", "fact"]
    id: str
    place: int
    score: float
    facts: Sequence[str]
    text: str | None = None


def turn_results(
    question: ParsedQuestion,
    ranked: Ranked,
    found: Found,
    index: Index,
    files: ZoneFiles,
    *,
    count: int,
) -> list[Result]:
    """Return up to `count` results of ranked turns, best first, without facts that have ended.

    Only turns that may be answered, and facts of such, are.
    """
    # Where raw turns are in scope nearly every turn is a result; without, some give no fact.
    most = count if "events" in question.query.scope else len(ranked.places)
    chosen = _best(question, ranked, found, index, files, most)
    if len(chosen) < count and most < len(ranked.places):
        chosen = _best(question, ranked, found, index, files, len(ranked.places))
    return _results(question.query, chosen[:count], found, index, files)


def repeated(told: memory.Told) -> str | None:
    """Return the one fact that all a turn says repeats; None: it says more, or less."""
    return told.again[0] if not told.given and len(set(told.again)) == 1 else None


def _best(
    question: ParsedQuestion,
    ranked: Ranked,
    found: Found,
    index: Index,
    files: ZoneFiles,
    most: int,
) -> list[Chosen]:
    """Return what stands for the best `most` turns, best first, nothing twice."""
    places = ranked.places[:most]
    turn_ids = index.turns.ids.take(places)
    told = index.told.of(turn_ids)
    turns = [
        Chosen("event", id_, place, score, _facts(told.get(id_)))
        for id_, place, score in zip(
            turn_ids, places.tolist(), ranked.scores[: len(places)].tolist(), strict=True
        )
    ]
    chosen = _chosen(question, turns, told, found)
    if {"events", "facts"}.issubset(question.query.scope) and index.present.repeats:
        chosen = _said_before(question, chosen, told, index, files)
    first: dict[str, Chosen] = {}
    for item in chosen:
        first.setdefault(item.id, item)
    return list(first.values())


def _said_before(
    question: ParsedQuestion,
    chosen: list[Chosen],
    told: Mapping[str, memory.Told],
    index: Index,
    files: ZoneFiles,
) -> list[Chosen]:
    """Return the same, with the fact itself for each turn that only repeats one (F2).

    Not where the filters let the repeat through alone, or the fact ended before it was repeated.
    """
    over = question.ended.facts
    facts = {
        item.id: fact
        for item in chosen
        if item.id in told and (fact := repeated(told[item.id])) and fact not in over
    }
    if not facts:
        return chosen
    ids = sorted(set(facts.values()))
    place_of = index.facts_said.placed(ids)
    texts = memory.texts(files.memory.connection, ids)
    ended = changes(question.query, ids, index, files).ended
    stand = []
    for item in chosen:
        fact = facts.get(item.id, "")
        place = place_of.get(fact, -1)
        holds = index.turns.occurred_at[item.place] <= ended.get(fact, LATEST_MS)
        if place >= 0 and question.eligible[place] and holds:
            item = Chosen("fact", fact, place, item.score, (fact,), texts[fact])
        stand.append(item)
    return stand


def _facts(told: memory.Told | None) -> Sequence[str]:
    return () if told is None else (*told.given, *told.again)


def _chosen(
    question: ParsedQuestion,
    turns: list[Chosen],
    told: Mapping[str, memory.Told],
    found: Found,
) -> list[Chosen]:
    """Return what stands for each turn: the one fact that it gave, else the turn itself.

    Without raw turns in scope each fact stands for itself, a turn's nearest first.
    """
    scope = question.query.scope
    if "facts" not in scope:
        return turns
    chosen = []
    for turn in turns:
        given = told[turn.id].given if turn.id in told else {}
        stand = [fact for fact in given if fact not in question.ended.facts]
        if "events" in scope and len(stand) != 1:
            chosen.append(turn)
            continue
        stand.sort(key=lambda fact: -found.facts.get(fact, 0.0))
        chosen += [
            Chosen("fact", fact, turn.place, turn.score, (fact,), given[fact]) for fact in stand
        ]
    return chosen


def _results(
    query: Query,
    chosen: Sequence[Chosen],
    found: Found,
    index: Index,
    files: ZoneFiles,
) -> list[Result]:
    fact_ids = [item.id for item in chosen if item.kind == "fact"]
    connection = files.memory.connection
    repeats = memory.repeating_events(connection, fact_ids) if index.present.repeats else {}
    sources = events.source_ids(
        files.events.connection, [event for again in repeats.values() for event in again]
    )
    entities = {
        **memory.entities_of_facts(connection, fact_ids),
        **index.mentioned.of(item.id for item in chosen if item.kind == "event"),
    }
    stands = index.standing.of(entity for some in entities.values() for entity in some)
    changed = changes(query, [fact for item in chosen for fact in item.facts], index, files)
    places = [item.place for item in chosen]
    numbers = index.turns.numbers[places].tolist()
    times = index.turns.occurred_at[places]
    said = index.said.of(numbers)
    results = []
    for item, number, at, as_of, platform in zip(
        chosen,
        numbers,
        times.tolist(),
        _written(times),
        index.turns.platform_names(places),
        strict=True,
    ):
        about = [stands[entity] for entity in entities.get(item.id, ()) if entity in stands]
        again = [sources[event] for event in repeats.get(item.id, ()) if event in sources]
        results.append(
            Result(
                id=item.id,
                type=item.kind,
                text=said[number].text if item.text is None else item.text,
                as_of=as_of,
                score=round(min(1.0, max(0.0, item.score)), 6),
                is_stale=bool(changed.ended) and _is_stale(item, at, changed.ended, found),
                entity_ids=list(dict.fromkeys(about)),
                platform=platform,
                source_event_ids=list(dict.fromkeys([said[number].source_id, *again])),
                arms=ranks_of(found.turns, item.place) if query.explain else None,
                supersedes=_of(item, changed.before),
                superseded_by=_of(item, changed.after),
            )
        )
    return results


def _of(item: Chosen, changes: Mapping[str, list[Change]]) -> list[Change]:
    return [change for fact in item.facts for change in changes.get(fact, ())] if changes else []


def _written(times: Ints) -> list[str]:
    """Return times as `format_time` writes one; of many at once, in a sixth of the time."""
    moments = times.astype("datetime64[ms]")
    texts: list[str] = np.datetime_as_string(moments, timezone="UTC").tolist()
    return texts


def _is_stale(item: Chosen, said_at: int, ended: Mapping[str, int], found: Found) -> bool:
    """Return whether a fact no longer holds, or the nearest of a turn.

    Where several are as near, one that no longer holds is enough. What was said again after its
    end holds. `ended`: when each fact that no longer holds ended.
    """
    over = [fact for fact in item.facts if fact in ended]
    if item.kind == "fact" or not over:
        return bool(over)
    nearest = max(found.facts.get(fact, 0.0) for fact in item.facts)
    return any(found.facts.get(fact, 0.0) == nearest and said_at <= ended[fact] for fact in over)


def ranks_of(arms: dict[str, Floats], place: int) -> dict[str, int]:
    """Return the rank of a turn in every arm that found it."""
    return {
        name: int((scores > scores[place]).sum()) + 1
        for name, scores in arms.items()
        if scores[place] > 0
    }
