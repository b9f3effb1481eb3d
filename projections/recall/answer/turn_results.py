"""From ranked turns to results: each turn or the fact in it, whether it is current, and sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.projections.events import turns_for_recall as events
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.recall.answer.supersessions import changes
from recollect.projections.recall.arms.arm_scores import Candidates
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.question.query import RecallQuery
from recollect.projections.recall.question.times.past import asks_for_past, was_then
from recollect.projections.recall.ranking.turn_ranking import RankedTurns
from recollect.schemas.times import LATEST_MS, format_time
from recollect.schemas.wire import MemoryRevision, Result, SupportingFact

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: The least score of what fills the slot that is asked for.
FILLS_SLOT = 0.9


class Chosen(NamedTuple):
    """What is answered: a fact or a raw turn, by id, the place of the turn, and its score.

    `facts` are the ids of its facts: of a turn, all that it gave or repeated. `text` is that of a
    fact; None: that of the turn.
    """

    kind: Literal["event", "fact"]
    id: str
    place: int
    score: float
    facts: Sequence[str]
    text: str | None = None


def turn_results(
    question: ParsedQuestion,
    ranked: RankedTurns,
    found: Candidates,
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
    if question.chain and chosen:
        chosen = _led_by(question, question.chain[-1], chosen, found, index)
    elif question.slot_values and chosen:
        chosen = _slot_first(question, chosen, found, index)
    elif chosen and index.row_kinds.supersessions and not asks_for_past(question.text):
        chosen = _current_first(question, chosen, found, index, files)
    results = _results(question.query, chosen[:count], found, index, files)
    if question.chain and question.query.explain and results:
        results[0] = _explained(results[0], question.chain, index, files)
    return results


def repeated_fact(of_event: memory.EventFacts) -> str | None:
    """Return the fact that a turn repeats, where it says nothing else; else None."""
    only = set(of_event.repeated)
    return of_event.repeated[0] if not of_event.stated and len(only) == 1 else None


def _best(
    question: ParsedQuestion,
    ranked: RankedTurns,
    found: Candidates,
    index: Index,
    files: ZoneFiles,
    most: int,
) -> list[Chosen]:
    """Return what is answered of the best `most` turns, best first, nothing twice."""
    places = ranked.places[:most]
    turn_ids = index.turns.ids.take(places)
    facts_of = index.event_facts.of(turn_ids)
    turns = [
        Chosen("event", id_, place, score, _fact_ids(facts_of.get(id_)))
        for id_, place, score in zip(
            turn_ids, places.tolist(), ranked.scores[: len(places)].tolist(), strict=True
        )
    ]
    chosen = _facts_or_turns(question, turns, facts_of, found)
    if {"events", "facts"}.issubset(question.query.scope) and index.row_kinds.repeats:
        chosen = _originals(question, chosen, facts_of, index, files)
    first: dict[str, Chosen] = {}
    for item in chosen:
        first.setdefault(item.id, item)
    return list(first.values())


def _originals(
    question: ParsedQuestion,
    chosen: list[Chosen],
    facts_of: Mapping[str, memory.EventFacts],
    index: Index,
    files: ZoneFiles,
) -> list[Chosen]:
    """Return the same with the original fact in place of each turn that only repeats it (F2).

    Not where the filters exclude the original, or the fact had ended before it was repeated.
    """
    over = question.ended.facts
    facts = {
        item.id: fact
        for item in chosen
        if item.id in facts_of and (fact := repeated_fact(facts_of[item.id])) and fact not in over
    }
    if not facts:
        return chosen
    ids = sorted(set(facts.values()))
    place_of = index.facts.places_of(ids)
    texts = memory.texts(files.memory.connection, ids)
    ended = changes(question.query, ids, index, files).ended
    result = []
    for item in chosen:
        fact = facts.get(item.id, "")
        place = place_of.get(fact, -1)
        holds = index.turns.occurred_at[item.place] <= ended.get(fact, LATEST_MS)
        if place >= 0 and question.eligible[place] and holds:
            item = Chosen("fact", fact, place, item.score, (fact,), texts[fact])
        result.append(item)
    return result


def _current_first(
    question: ParsedQuestion,
    chosen: list[Chosen],
    found: Candidates,
    index: Index,
    files: ZoneFiles,
) -> list[Chosen]:
    """Return the same, led by what superseded the first of them, if anything did (F7).

    The newest of the slot comes first, also where both are raw turns or it was not found by
    itself; all others stay in their order.
    """
    first = chosen[0]
    if not first.facts:
        return chosen
    over = changes(question.query, first.facts, index, files).ended
    said_at = int(index.turns.occurred_at[first.place])
    if not _is_stale(first, said_at, over, found):
        return chosen
    ended = max((fact for fact in first.facts if fact in over), key=_nearness(found))
    if was_then(question.spans, said_at, over[ended]):
        return chosen
    newest = memory.latest_version_of(files.memory.connection, ended, question.query.until)
    return _led_by(question, newest, chosen, found, index)


def _slot_first(
    question: ParsedQuestion, chosen: list[Chosen], found: Candidates, index: Index
) -> list[Chosen]:
    """Return the same, led by what fills the slot that the question asks for, newest first.

    What fills it is an answer, however few words the question shares with it.
    """
    fills = frozenset(question.slot_values)
    for fact in reversed(question.slot_values):
        chosen = _led_by(question, fact, chosen, found, index)
    raised = [
        one if fills.isdisjoint(one.facts) else one._replace(score=max(one.score, FILLS_SLOT))
        for one in chosen
    ]
    return sorted(raised, key=lambda one: -one.score)


def _led_by(
    question: ParsedQuestion, id_: str, chosen: list[Chosen], found: Candidates, index: Index
) -> list[Chosen]:
    """Return the same with what stands for a fact or an event first, where it may be answered."""
    place = index.facts.places_of([id_]).get(id_, index.turns.place_of_id.get(id_, -1))
    if place < 0 or place == chosen[0].place or not question.eligible[place]:
        return chosen
    turn_id = index.turns.ids[place]
    facts_of = index.event_facts.of([turn_id])
    turn = Chosen("event", turn_id, place, chosen[0].score, _fact_ids(facts_of.get(turn_id)))
    standing = _facts_or_turns(question, [turn], facts_of, found)
    leads = next((one for one in standing if id_ in (one.id, turn_id) or one.kind == "event"), None)
    if leads is None:
        return chosen
    return [leads, *(item for item in chosen if item.id != leads.id)]


def _explained(first: Result, chain: Sequence[str], index: Index, files: ZoneFiles) -> Result:
    """Return what a chain ends at with the facts that led to it; another result as it is."""
    places = index.facts.places_of(list(chain))
    if first.id not in (chain[-1], index.turns.ids[places[chain[-1]]]):
        return first
    times = index.turns.occurred_at
    texts = memory.texts(files.memory.connection, chain)
    way = [
        SupportingFact(id=fact, text=texts[fact], as_of=format_time(int(times[places[fact]])))
        for fact in chain[:-1]
    ]
    return msgspec.structs.replace(first, hop_path=way)


def _nearness(found: Candidates) -> Callable[[str], float]:
    return lambda fact: found.facts.get(fact, 0.0)


def _fact_ids(of_event: memory.EventFacts | None) -> Sequence[str]:
    return () if of_event is None else (*of_event.stated, *of_event.repeated)


def _facts_or_turns(
    question: ParsedQuestion,
    turns: list[Chosen],
    facts_of: Mapping[str, memory.EventFacts],
    found: Candidates,
) -> list[Chosen]:
    """Return what is answered of each turn: the fact that it gave, if it is one, else the turn.

    Where events are not in scope, all facts of a turn are answered, the nearest first.
    """
    scope = question.query.scope
    if "facts" not in scope:
        return turns
    chosen = []
    for turn in turns:
        given = facts_of[turn.id].stated if turn.id in facts_of else {}
        current = [fact for fact in given if fact not in question.ended.facts]
        if "events" in scope and len(current) != 1:
            chosen.append(turn)
            continue
        current.sort(key=lambda fact: -found.facts.get(fact, 0.0))
        chosen += [
            Chosen("fact", fact, turn.place, turn.score, (fact,), given[fact]) for fact in current
        ]
    return chosen


def _results(
    query: RecallQuery,
    chosen: Sequence[Chosen],
    found: Candidates,
    index: Index,
    files: ZoneFiles,
) -> list[Result]:
    fact_ids = [item.id for item in chosen if item.kind == "fact"]
    connection = files.memory.connection
    repeats = memory.repeating_events(connection, fact_ids) if index.row_kinds.repeats else {}
    sources = events.source_ids(
        files.events.connection, [event for again in repeats.values() for event in again]
    )
    entities = {
        **memory.entities_of_facts(connection, fact_ids),
        **index.event_entities.of(item.id for item in chosen if item.kind == "event"),
    }
    canonical = index.canonical_ids.of(entity for some in entities.values() for entity in some)
    ids = [id_ for item in chosen for id_ in dict.fromkeys((*item.facts, item.id))]
    changed = changes(query, ids, index, files)
    places = [item.place for item in chosen]
    revised = len(index.replaced_turns) > 0
    numbers = index.turns.numbers[places].tolist()
    times = index.turns.occurred_at[places]
    said = index.event_texts.of(numbers)
    edited = events.versions_before(files.events.connection, numbers) if revised else {}
    results = []
    for item, number, at, as_of, platform in zip(
        chosen,
        numbers,
        times.tolist(),
        _written(times),
        index.turns.platform_names(places),
        strict=True,
    ):
        about = [canonical[entity] for entity in entities.get(item.id, ()) if entity in canonical]
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
                sender_name=said[number].speaker,
                source_event_ids=list(dict.fromkeys([said[number].source_id, *again])),
                arms=ranks_of(found.scores_by_arm, item.place) if query.explain else None,
                supersedes=[
                    *_of(item, changed.before),
                    # What an edit replaced is told in the words of the version before.
                    *(() if number in edited else _corrected_by(item, changed.before)),
                    *(
                        MemoryRevision(id=one.id, text=one.content, at=format_time(one.replaced_at))
                        for one in edited.get(number, ())
                    ),
                ],
                superseded_by=_of(item, changed.after),
            )
        )
    return results


def _of(item: Chosen, changes: Mapping[str, list[MemoryRevision]]) -> list[MemoryRevision]:
    return [change for fact in item.facts for change in changes.get(fact, ())] if changes else []


def _corrected_by(
    item: Chosen, changes: Mapping[str, list[MemoryRevision]]
) -> Sequence[MemoryRevision]:
    """Return what a turn that gave no fact of it corrected in passing."""
    return changes.get(item.id, ()) if item.kind == "event" else ()


def _written(times: Ints) -> list[str]:
    """Return times as `format_time` writes them; for many, in a sixth of the time."""
    moments = times.astype("datetime64[ms]")
    texts: list[str] = np.datetime_as_string(moments, timezone="UTC").tolist()
    return texts


def _is_stale(item: Chosen, said_at: int, ended: Mapping[str, int], found: Candidates) -> bool:
    """Return whether a fact, or the fact of a turn that is nearest to the question, has ended.

    Of several that are equally near, one that ended is enough. A fact that was repeated after its
    end is current. `ended`: when each fact that ended did.
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
