"""From ranked turns to results: what stands for each turn, whether it still holds, and sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from projections.events import recalls as events
from projections.files import ZoneFiles
from projections.identity import recalls as identity
from projections.memory import recalls as memory
from projections.recall.arms import Found
from projections.recall.index import Index
from projections.recall.ranking import Ranked
from projections.recall.types import Query, Result
from projections.recall.validity import Ended, changes
from schemas.times import format_time

Floats = npt.NDArray[np.float32]


class Chosen(NamedTuple):
    """What is answered: a fact or a raw turn, by id, and the place of the turn."""

    kind: Literal["event", "fact"]
    id: str
    place: int


def of_turns(
    query: Query,
    ranked: Ranked,
    found: Found,
    over: Ended,
    index: Index,
    files: ZoneFiles,
    *,
    count: int,
) -> list[Result]:
    """Return up to `count` results of ranked turns, best first, without facts that are over."""
    chosen = _chosen(query, ranked, found, over, index, files, count)
    return _results(query, chosen, ranked, found, index, files)


def _chosen(
    query: Query,
    ranked: Ranked,
    found: Found,
    over: Ended,
    index: Index,
    files: ZoneFiles,
    count: int,
) -> list[Chosen]:
    """Return what stands for each turn: the one fact that it gave, else the turn itself.

    With raw turns in scope no turn is answered twice; without, each fact stands for itself, a
    turn's nearest first.
    """
    places: list[int] = ranked.places.tolist()
    if "events" in query.scope:
        places = places[:count]
    turns = [Chosen("event", index.turns.ids[place], place) for place in places]
    if "facts" not in query.scope:
        return turns
    given: dict[str, list[str]] = {}
    for fact, event in memory.facts_of_events(files.memory.connection, [turn.id for turn in turns]):
        if fact not in over.facts:
            given.setdefault(event, []).append(fact)
    chosen: list[Chosen] = []
    for turn in turns:
        facts = sorted(given.get(turn.id, ()), key=lambda fact: -found.facts.get(fact, 0.0))
        if "events" not in query.scope:
            chosen += [Chosen("fact", fact, turn.place) for fact in facts]
        else:
            chosen.append(Chosen("fact", facts[0], turn.place) if len(facts) == 1 else turn)
    return chosen[:count]


def _results(
    query: Query,
    chosen: Sequence[Chosen],
    ranked: Ranked,
    found: Found,
    index: Index,
    files: ZoneFiles,
) -> list[Result]:
    fact_ids = [item.id for item in chosen if item.kind == "fact"]
    event_ids = [item.id for item in chosen if item.kind == "event"]
    texts = memory.texts(files.memory.connection, fact_ids)
    repeats = memory.repeating_events(files.memory.connection, fact_ids)
    sources = events.source_ids(
        files.events.connection, [event for again in repeats.values() for event in again]
    )
    entities = {
        **memory.entities_of_facts(files.memory.connection, fact_ids),
        **identity.entities_of_events(files.identity.connection, event_ids),
    }
    stands = index.standing(entity for some in entities.values() for entity in some)
    held = _facts_of_turns(event_ids, files)
    about_turns = {fact for facts in held.values() for fact in facts}
    facts_there = [*fact_ids, *sorted(about_turns)]
    ended = memory.superseded(files.memory.connection, facts_there, query.until)
    stale = _stale_turns(held, ended, found, index).union(ended.keys() & set(fact_ids))
    changed = changes(query, facts_there, index, files)
    numbers = [int(index.turns.numbers[item.place]) for item in chosen]
    said = events.said(files.events.connection, numbers)
    score = dict(zip(ranked.places.tolist(), ranked.scores.tolist(), strict=True))
    results = []
    for item, number in zip(chosen, numbers, strict=True):
        about = [stands[entity] for entity in entities.get(item.id, ()) if entity in stands]
        again = [sources[event] for event in repeats.get(item.id, ()) if event in sources]
        facts = [item.id] if item.kind == "fact" else held.get(item.id, [])
        results.append(
            Result(
                id=item.id,
                type=item.kind,
                text=texts[item.id] if item.kind == "fact" else said[number].text,
                as_of=format_time(int(index.turns.occurred_at[item.place])),
                score=round(min(1.0, max(0.0, score[item.place])), 6),
                is_stale=item.id in stale,
                entity_ids=list(dict.fromkeys(about)),
                platform=index.turns.platform_name(item.place),
                source_event_ids=list(dict.fromkeys([said[number].source_id, *again])),
                arms=ranks_of(found.turns, item.place) if query.explain else None,
                supersedes=[change for fact in facts for change in changed.before.get(fact, ())],
                superseded_by=[change for fact in facts for change in changed.after.get(fact, ())],
            )
        )
    return results


def _facts_of_turns(event_ids: Sequence[str], files: ZoneFiles) -> dict[str, list[str]]:
    """Return the facts that each turn gave or repeated."""
    connection = files.memory.connection
    held: dict[str, list[str]] = {}
    for fact, event in (
        *memory.facts_of_events(connection, event_ids),
        *memory.facts_said_again(connection, event_ids),
    ):
        held.setdefault(event, []).append(fact)
    return held


def _stale_turns(
    held: Mapping[str, Sequence[str]], ended: Mapping[str, int], found: Found, index: Index
) -> set[str]:
    """Return the turns whose nearest fact, given or repeated there, no longer holds.

    Where several are as near, one that no longer holds is enough. What was said again after its
    end holds. `ended`: when each fact that no longer holds last ended.
    """
    if not ended:
        return set()
    stale = set()
    places = dict(zip(held, index.turns.place_of_id.of(list(held)).tolist(), strict=True))
    for event, facts in held.items():
        nearest = max(found.facts.get(fact, 0.0) for fact in facts)
        said_at = int(index.turns.occurred_at[places[event]])
        if any(
            found.facts.get(fact, 0.0) == nearest and fact in ended and said_at <= ended[fact]
            for fact in facts
        ):
            stale.add(event)
    return stale


def ranks_of(arms: dict[str, Floats], place: int) -> dict[str, int]:
    """Return the rank of a turn in every arm that found it."""
    return {
        name: int((scores > scores[place]).sum()) + 1
        for name, scores in arms.items()
        if scores[place] > 0
    }
