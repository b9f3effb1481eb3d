"""Convert ranked turns to results: each turn or its fact, with its sources and staleness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from recollect.projections.events import turns_for_recall as events
from recollect.projections.files import ZoneFiles
from recollect.projections.memory import fact_statements
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.recall.answer.fact_days import days_of_facts
from recollect.projections.recall.answer.supersessions import supersessions_of
from recollect.projections.recall.answer.uncertainty import uncertainties
from recollect.projections.recall.arms.arm_scores import Candidates
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.question.times.past import asks_for_past, is_about_earlier_value
from recollect.projections.recall.ranking.turn_ranking import RankedTurns
from recollect.schemas.times import LATEST_MS, format_time
from recollect.schemas.wire import MemoryRevision, Result, SupportingFact

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: The minimum score of a result that states a value of the slot that the question asks for.
MIN_SLOT_VALUE_SCORE = 0.9


class Chosen(NamedTuple):
    """A fact or raw turn that was chosen as a result: its id, the place of its turn, and its score.

    `facts`: the fact's own id; for a turn, the ids of all facts that it states or repeats. `text`:
    the text of the fact; None for a turn.
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

    Only eligible turns have results.
    """
    # If raw turns are in scope, nearly every turn gives a result. If not, turns without facts give
    # none.
    limit = count if "events" in question.query.scope else len(ranked.places)
    chosen = _choose(question, ranked, found, index, files, limit)
    if len(chosen) < count and limit < len(ranked.places):
        chosen = _choose(question, ranked, found, index, files, len(ranked.places))
    if question.chain and chosen:
        chosen = _promote(question, question.chain[-1], chosen, found, index)
    elif question.slot_values and chosen:
        chosen = _promote_slot_values(question, chosen, found, index)
    elif chosen and index.row_kinds.supersessions and not asks_for_past(question.text):
        chosen = _promote_current_value(question, chosen, found, index, files)
    results = _results(question, chosen[:count], found, index, files)
    if question.chain and question.query.explain and results:
        results[0] = _with_hop_path(results[0], question.chain, index, files)
    return results


def fact_results(
    question: ParsedQuestion,
    facts: Mapping[str, int],
    found: Candidates,
    index: Index,
    files: ZoneFiles,
) -> list[Result]:
    """Return a result for each of these facts, in their order, as for a value that is asked for.

    `facts`: the place of the turn of each fact.
    """
    texts = memory.texts(files.memory.connection, [*facts])
    chosen = [
        Chosen("fact", fact, place, MIN_SLOT_VALUE_SCORE, (fact,), texts[fact])
        for fact, place in facts.items()
    ]
    return _results(question, chosen, found, index, files)


def repeated_fact(of_event: memory.EventFacts) -> str | None:
    """Return the fact that a turn repeats if it states nothing else, or None."""
    repeated = set(of_event.repeated)
    return of_event.repeated[0] if not of_event.stated and len(repeated) == 1 else None


def _choose(
    question: ParsedQuestion,
    ranked: RankedTurns,
    candidates: Candidates,
    index: Index,
    files: ZoneFiles,
    limit: int,
) -> list[Chosen]:
    """Return each of the best `limit` turns, or its facts instead, without duplicates."""
    places = ranked.places[:limit]
    turn_ids = index.turns.ids.take(places)
    facts_of = index.event_facts.of(turn_ids)
    retracted = index.retracted.facts
    turns = [
        Chosen("event", id_, place, score, _fact_ids(facts_of.get(id_), retracted))
        for id_, place, score in zip(
            turn_ids, places.tolist(), ranked.scores[: len(places)].tolist(), strict=True
        )
    ]
    repetitions = _repetitions(question, turns, facts_of, index, files)
    chosen = _facts_or_turns(question, turns, facts_of, repetitions, candidates, index)
    if "events" in question.query.scope and repetitions:
        chosen = _replace_repetitions(question, chosen, facts_of, repetitions)
    unique: dict[str, Chosen] = {}
    for item in chosen:
        unique.setdefault(item.id, item)
    return list(unique.values())


class _Repetition(NamedTuple):
    """A fact that a turn repeats: the place of the turn that stated it first, and its text."""

    place: int
    text: str

    def replacing(self, turn: Chosen, fact: str, *, place: int) -> Chosen:
        """Return the fact as a result that replaces a turn that repeats it."""
        return Chosen("fact", fact, place, turn.score, (fact,), self.text)


def _repetitions(
    question: ParsedQuestion,
    turns: Sequence[Chosen],
    facts_of: Mapping[str, memory.EventFacts],
    index: Index,
    files: ZoneFiles,
) -> dict[tuple[str, str], _Repetition]:
    """Return (turn, fact) -> repetition, if the fact had not ended when the turn repeated it."""
    if not index.row_kinds.repeats or "facts" not in question.query.scope:
        return {}
    pairs = [
        (turn, fact)
        for turn in turns
        if turn.id in facts_of
        for fact in dict.fromkeys(facts_of[turn.id].repeated)
        if fact not in question.ended.facts and fact not in index.retracted.facts
    ]
    ids = sorted({fact for _, fact in pairs})
    if not ids:
        return {}
    place_of = index.facts.places_of(ids)
    texts = memory.texts(files.memory.connection, ids)
    ended = supersessions_of(question.query, ids, index, files).ended
    return {
        (turn.id, fact): _Repetition(place_of[fact], texts[fact])
        for turn, fact in pairs
        if place_of.get(fact, -1) >= 0
        and index.turns.occurred_at[turn.place] <= ended.get(fact, LATEST_MS)
    }


def _replace_repetitions(
    question: ParsedQuestion,
    chosen: list[Chosen],
    facts_of: Mapping[str, memory.EventFacts],
    repetitions: Mapping[tuple[str, str], _Repetition],
) -> list[Chosen]:
    """Replace each turn that only repeats a fact by that fact.

    If the filters exclude the turn that first stated the fact, only the best of the turns that
    repeat it is kept.
    """
    result = []
    shown: set[str] = set()
    for item in chosen:
        fact = (repeated_fact(facts_of[item.id]) if item.id in facts_of else None) or ""
        repetition = repetitions.get((item.id, fact))
        if repetition is not None:
            if question.eligible[repetition.place]:
                item = repetition.replacing(item, fact, place=repetition.place)
            elif fact in shown:
                continue
            shown.add(fact)
        result.append(item)
    return result


def _promote_current_value(
    question: ParsedQuestion,
    chosen: list[Chosen],
    candidates: Candidates,
    index: Index,
    files: ZoneFiles,
) -> list[Chosen]:
    """If the first result is superseded, move the latest version before it.

    The latest version is added if no arm found it. All other results keep their order.
    """
    first = chosen[0]
    if not first.facts:
        return chosen
    ended = supersessions_of(question.query, first.facts, index, files).ended
    stated_at = int(index.turns.occurred_at[first.place])
    if not _is_stale(first, stated_at, ended, candidates):
        return chosen
    fact = max((fact for fact in first.facts if fact in ended), key=_fact_score(candidates))
    if is_about_earlier_value(question.spans, stated_at, ended[fact]):
        return chosen
    latest = memory.latest_version_of(files.memory.connection, fact, question.query.until)
    return _promote(question, latest, chosen, candidates, index)


def _promote_slot_values(
    question: ParsedQuestion, chosen: list[Chosen], candidates: Candidates, index: Index
) -> list[Chosen]:
    """Move the values of the slot that the question asks for to the front, newest first.

    Their scores are raised: such a value answers the question, even if it shares few words with it.
    """
    values = frozenset(question.slot_values)
    for fact in reversed(question.slot_values):
        chosen = _promote(question, fact, chosen, candidates, index)
    raised = [
        item
        if values.isdisjoint(item.facts)
        else item._replace(score=max(item.score, MIN_SLOT_VALUE_SCORE))
        for item in chosen
    ]
    return sorted(raised, key=lambda item: -item.score)


def _promote(
    question: ParsedQuestion, id_: str, chosen: list[Chosen], candidates: Candidates, index: Index
) -> list[Chosen]:
    """Move the result for a fact or an event to the front; add it if it is missing and eligible."""
    place = index.facts.places_of([id_]).get(id_, index.turns.place_of_id.get(id_, -1))
    if place < 0 or place == chosen[0].place or not question.eligible[place]:
        return chosen
    turn_id = index.turns.ids[place]
    facts_of = index.event_facts.of([turn_id])
    facts = _fact_ids(facts_of.get(turn_id), index.retracted.facts)
    turn = Chosen("event", turn_id, place, chosen[0].score, facts)
    replacements = _facts_or_turns(question, [turn], facts_of, {}, candidates, index)
    promoted = next(
        (item for item in replacements if id_ in (item.id, turn_id) or item.kind == "event"), None
    )
    if promoted is None:
        return chosen
    return [promoted, *(item for item in chosen if item.id != promoted.id)]


def _with_hop_path(first: Result, chain: Sequence[str], index: Index, files: ZoneFiles) -> Result:
    """Add the facts of the earlier hops to a result that is the end of a chain.

    Return any other result unchanged.
    """
    places = index.facts.places_of(list(chain))
    if first.id not in (chain[-1], index.turns.ids[places[chain[-1]]]):
        return first
    times = index.turns.occurred_at
    texts = memory.texts(files.memory.connection, chain)
    days = days_of_facts(files.memory.connection, chain)
    turns = {fact: index.turns.ids[place] for fact, place in places.items()}
    sources = events.source_ids(files.events.connection, sorted(turns.values()))
    hop_path = [
        SupportingFact(
            id=fact,
            text=texts[fact],
            as_of=format_time(int(times[places[fact]])),
            source_event_id=sources[turns[fact]],
            when=days.get(fact),
        )
        for fact in chain[:-1]
    ]
    return msgspec.structs.replace(first, hop_path=hop_path)


def _fact_score(candidates: Candidates) -> Callable[[str], float]:
    return lambda fact: candidates.facts.get(fact, 0.0)


def _fact_ids(of_event: memory.EventFacts | None, retracted: frozenset[str]) -> Sequence[str]:
    """Return the facts that a turn states or repeats, except retracted ones."""
    ids = () if of_event is None else (*of_event.stated, *of_event.repeated)
    return [fact for fact in ids if fact not in retracted] if retracted else ids


def _facts_or_turns(
    question: ParsedQuestion,
    turns: list[Chosen],
    facts_of: Mapping[str, memory.EventFacts],
    repetitions: Mapping[tuple[str, str], _Repetition],
    candidates: Candidates,
    index: Index,
) -> list[Chosen]:
    """Replace each turn that states exactly one current fact by this fact.

    If events are not in scope, replace every turn by all current facts that it states or repeats,
    those most similar to the question first.
    """
    scope = question.query.scope
    if "facts" not in scope:
        return turns
    chosen = []
    for turn in turns:
        of_turn = facts_of.get(turn.id)
        stated = [
            Chosen("fact", fact, turn.place, turn.score, (fact,), text)
            for fact, text in (of_turn.stated.items() if of_turn else ())
            if fact not in question.ended.facts
        ]
        if "events" in scope and len(stated) != 1:
            chosen.append(turn)
            continue
        stated.sort(key=lambda item: -candidates.facts.get(item.id, 0.0))
        repeated = [
            known.replacing(
                turn, fact, place=known.place if question.eligible[known.place] else turn.place
            )
            for fact in (of_turn.repeated if of_turn and "events" not in scope else ())
            if (known := repetitions.get((turn.id, fact))) is not None
        ]
        # Facts have no score if the filters exclude the turn that first stated them.
        repeated.sort(key=lambda item: -_shared_terms(item.text or "", question, index))
        chosen += [*stated, *repeated]
    return chosen


def _shared_terms(text: str, question: ParsedQuestion, index: Index) -> int:
    return len({*index.tokeniser.query_terms(text)} & {*question.terms})


def _results(
    question: ParsedQuestion,
    chosen: Sequence[Chosen],
    candidates: Candidates,
    index: Index,
    files: ZoneFiles,
) -> list[Result]:
    query = question.query
    fact_ids = [item.id for item in chosen if item.kind == "fact"]
    connection = files.memory.connection
    days = days_of_facts(connection, fact_ids)
    contexts = memory.contexts(connection, fact_ids)
    stated = fact_statements.statements(connection, fact_ids)
    sources = events.source_ids(
        files.events.connection,
        [statement.event_id for statements in stated.values() for statement in statements],
    )
    entities = {
        **memory.entities_of_facts(connection, fact_ids),
        **index.event_entities.of(item.id for item in chosen if item.kind == "event"),
    }
    canonical = index.canonical_ids.of(entity for ids in entities.values() for entity in ids)
    ids = [id_ for item in chosen for id_ in dict.fromkeys((*item.facts, item.id))]
    superseded = supersessions_of(query, ids, index, files)
    uncertain = uncertainties(files, [fact for item in chosen for fact in item.facts], query.until)
    places = [item.place for item in chosen]
    has_edits = len(index.replaced_turns) > 0
    numbers = index.turns.numbers[places].tolist()
    times = index.turns.occurred_at[places]
    texts, shortened = index.event_texts.of(numbers), index.retracted.texts
    edited = events.versions_before(files.events.connection, numbers) if has_edits else {}
    results = []
    for item, number, at, as_of, platform in zip(
        chosen,
        numbers,
        times.tolist(),
        _format_times(times),
        index.turns.platform_names(places),
        strict=True,
    ):
        entity_ids = [canonical[id_] for id_ in entities.get(item.id, ()) if id_ in canonical]
        stated_in = fact_statements.in_order(stated.get(item.id, ()), sources)
        source_ids = [sources[statement.event_id] for statement in stated_in] or [
            texts[number].source_id
        ]
        results.append(
            Result(
                id=item.id,
                type=item.kind,
                text=item.text or shortened.get(number, texts[number].text),
                as_of=as_of,
                score=round(min(1.0, max(0.0, item.score)), 6),
                is_stale=bool(superseded.ended)
                and _is_stale(item, at, superseded.ended, candidates),
                entity_ids=list(dict.fromkeys(entity_ids)),
                platform=platform,
                sender_name=texts[number].speaker,
                source_event_ids=list(dict.fromkeys(source_ids)),
                arms=ranks_of(candidates.scores_by_arm, item.place) if query.explain else None,
                supersedes=[
                    *_revisions(item, superseded.before),
                    # For an edit, the previous version of the message is listed instead.
                    *(() if number in edited else _corrected_by(item, superseded.before)),
                    *(
                        MemoryRevision(
                            id=version.id,
                            text=version.content,
                            at=format_time(version.replaced_at),
                        )
                        for version in edited.get(number, ())
                    ),
                ],
                superseded_by=_revisions(item, superseded.after),
                when=days.get(item.id),
                context=contexts.get(item.id),
                said=fact_statements.statement_summary(stated_in) if stated_in else None,
                uncertain=next((uncertain[fact] for fact in item.facts if fact in uncertain), None),
            )
        )
    return results


def _revisions(item: Chosen, by_fact: Mapping[str, list[MemoryRevision]]) -> list[MemoryRevision]:
    # Most answers have no superseded facts.
    return (
        [revision for fact in item.facts for revision in by_fact.get(fact, ())] if by_fact else []
    )


def _corrected_by(
    item: Chosen, before: Mapping[str, list[MemoryRevision]]
) -> Sequence[MemoryRevision]:
    """Return what a turn corrected in passing, without stating a fact of its own."""
    return before.get(item.id, ()) if item.kind == "event" else ()


def _format_times(times: Ints) -> list[str]:
    """Format times like `format_time`, but six times as fast for many."""
    formatted: list[str] = np.datetime_as_string(
        times.astype("datetime64[ms]"), timezone="UTC"
    ).tolist()
    return formatted


def _is_stale(
    item: Chosen, stated_at: int, ended: Mapping[str, int], candidates: Candidates
) -> bool:
    """Return whether a fact has ended; for a turn, its fact that is most similar to the question.

    If several facts are equally similar, the turn is stale if any of them has ended. A turn that
    repeats a fact after its end is not stale. `ended`: fact -> when it ended.
    """
    ended_facts = [fact for fact in item.facts if fact in ended]
    if item.kind == "fact" or not ended_facts:
        return bool(ended_facts)
    highest = max(candidates.facts.get(fact, 0.0) for fact in item.facts)
    return any(
        candidates.facts.get(fact, 0.0) == highest and stated_at <= ended[fact]
        for fact in ended_facts
    )


def ranks_of(arms: dict[str, Floats], place: int) -> dict[str, int]:
    """Return the rank of a turn in every arm that found it."""
    return {
        name: int((scores > scores[place]).sum()) + 1
        for name, scores in arms.items()
        if scores[place] > 0
    }
