"""Observations as documents, found by their facts, for questions about their entity.

An observation is returned with the facts that support it, the nearest to the question first, and
with the version that it replaced. Its own words have no vector: the vectors of its facts are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice

from recollect.projections.events.turns_for_recall import source_ids
from recollect.projections.files import ZoneFiles
from recollect.projections.identity.entities_for_recall import senders
from recollect.projections.identity.entity_queries import aliases
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.memory import observation_queries
from recollect.projections.memory.observation_queries import ObservationVersion
from recollect.projections.recall.arms.documents.scored_documents import (
    MIN_NEARNESS,
    TURNS,
    Dated,
    Document,
    Support,
)
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.text.prompts import first_person

# The number of the nearest facts whose observations are candidates.
_MAX_NEAREST = 50
# The maximum number of observations, those with the nearest items, scored in addition to turns and
# facts.
_MAX_SCORED = 2


def observations(
    question: ParsedQuestion, nearness: Mapping[str, float], index: Index, files: ZoneFiles
) -> list[Document]:
    """Return the newest versions of observations whose facts are readable and pass the filters.

    `nearness`: fact id -> similarity to the question, the nearest first. If turns or facts are
    requested too, an observation must also be about an entity of the question, and have an item
    similar to it.
    An observation that rests on an erased fact is hidden until it is derived again.
    """
    connection = files.memory.connection
    if not index.row_kinds.observations:
        return []
    nearest = [*islice(nearness, _MAX_NEAREST)]
    has_turns = not TURNS.isdisjoint(question.query.scope)
    if has_turns:
        least = MIN_NEARNESS * max(nearness.values(), default=0.0)
        nearest = [id_ for id_ in nearest if nearness[id_] >= least]
    versions = observation_queries.observations_of(connection, nearest, question.query.until)
    if has_turns:
        meant = _meant(question, {item.entity_id for item in versions}, index, files)
        versions = [item for item in versions if item.entity_id in meant]
        versions.sort(key=lambda item: -_nearness_of(item, nearness))
        versions = versions[:_MAX_SCORED]
    if not versions:
        return []
    previous_ids = [item.before[0] for item in versions if item.before is not None]
    support = observation_queries.supporting_facts(
        connection, [*(item.id for item in versions), *previous_ids]
    )
    facts = sorted({id_ for of_one in support.values() for id_, _, _ in of_one})
    place_of = index.facts.places_of(facts)
    turn_of = {id_: index.turns.ids[place] for id_, place in place_of.items()}
    sources = source_ids(files.events.connection, sorted(set(turn_of.values())))
    linked = memory.entities_of_facts(connection, facts)
    near = frozenset(nearest)

    def is_readable(run: str) -> bool:
        return run in support and all(id_ in place_of for id_, _, _ in support[run])

    documents = []
    for item in versions:
        supporting = support.get(item.id, ())
        allowed = [
            Support(id_, text, at, sources[turn_of[id_]])
            for id_, text, at in sorted(supporting, key=lambda fact: -nearness.get(fact[0], 0.0))
            if id_ in place_of and question.allowed[place_of[id_]]
        ]
        # The observation's text may reveal any of its supporting facts.
        is_revealing = question.query.allowed_numbers is not None and len(allowed) < len(supporting)
        if not allowed or not is_readable(item.id) or is_revealing:
            continue
        previous = []
        if item.before is not None and is_readable(item.before[0]):
            previous = [(*item.before, item.created_at)]
        entities = {entity for fact in allowed for entity in linked.get(fact.id, ())}
        documents.append(_document(item, allowed, near, entities, previous))
    return documents


def _nearness_of(item: ObservationVersion, nearness: Mapping[str, float]) -> float:
    """Return the summed nearness of the three items of an observation nearest to the question."""
    return sum(sorted((nearness.get(id_, 0.0) for id_ in item.items), reverse=True)[:3])


def _meant(
    question: ParsedQuestion, entities: set[str], index: Index, files: ZoneFiles
) -> set[str]:
    """Filter entities to those that the question names, or refers to in the first person."""
    canonical = index.canonical_ids.of(sorted(entities))
    named = {id_ for item in (*question.named, *question.topic.named) for id_ in item.ids}
    meant = {id_ for id_ in entities if not named.isdisjoint((id_, canonical.get(id_, id_)))}
    if first_person(question.topic.text):
        connection = files.identity.connection
        for id_ in entities - meant:
            last = canonical.get(id_, id_)
            own = senders(connection, [last, *(row.id for row in aliases(connection, last))])
            if own and (own <= question.speakers or index.turns.is_owner(own)):
                meant.add(id_)
    return meant


def _document(
    item: ObservationVersion,
    facts: Sequence[Support],
    near: AbstractSet[str],
    entities: AbstractSet[str],
    previous: Sequence[Dated],
) -> Document:
    quoted = frozenset(item.items)
    return Document(
        kind="observation",
        id=item.id,
        text=item.text,
        words=item.text,
        as_of=max(fact.at for fact in facts),
        is_stale=item.is_stale,
        entities=frozenset([item.entity_id, *entities]),
        items=[fact.id for fact in facts if fact.id in quoted],
        rests_on=sorted(quoted),
        sources=[fact.source for fact in facts if fact.id in quoted],
        facts=[fact for fact in facts if fact.id in near] or facts[:1],
        supersedes=previous,
    )
