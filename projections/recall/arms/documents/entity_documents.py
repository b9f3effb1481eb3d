"""Entities as documents: those that a question names, and those that its nearest facts are about.

An entity is found by meaning through the vectors of the facts that say something about it ("Dr
Kovacs is Ada's vet" for "the vet"), as an observation is. So it needs no vector of its own, and is
always found by what is known now.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from recollect.projections.events import turns_for_recall as events
from recollect.projections.files import ZoneFiles
from recollect.projections.identity import entity_queries as identity
from recollect.projections.memory import facts_for_recall as memory
from recollect.projections.recall.arms.documents.scored_documents import (
    MIN_NEARNESS,
    TURNS,
    Document,
    Support,
)
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.entity_names import entity_ids, resolve
from recollect.projections.recall.question.filters import turns_about
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.projections.recall.question.times.past import asks_for_past
from recollect.schemas.changes import Entity
from recollect.schemas.names import normalise_name

# Maximum number of events cited for an entity.
_MAX_SOURCES = 20
# Maximum number of entities found by meaning.
_MAX_BY_MEANING = 10


def entities(
    question: ParsedQuestion, nearness: Mapping[str, float], index: Index, files: ZoneFiles
) -> list[Document]:
    """Return the entities that the query names, with their aliases, and others by meaning.

    `nearness`: fact id -> similarity to the question, the nearest first. A question that is a name
    finds only the entities with this name. Only entities that a readable, allowed event mentions or
    comes from are returned. If turns or facts are in scope too, entities do not list the facts that
    found them.
    """
    connection = files.identity.connection
    by_id = {item.entity.id: item.entity for item in question.named}
    is_name = False
    for name in (question.query.entity or "", question.text):
        resolved = resolve(connection, normalise_name(name)) if name.strip() else ()
        by_id |= {entity.id: entity for entity in resolved}
        is_name = bool(resolved)
    about = {} if is_name else _by_meaning(question, nearness, index, files)
    for id_ in about:
        entity = identity.canonical(connection, id_)
        if entity is not None:
            by_id.setdefault(id_, entity)
    documents = (
        _entity(entity, about.get(entity.id, ()), question, index, files)
        for entity in by_id.values()
    )
    has_turns = not TURNS.isdisjoint(question.query.scope)
    return [
        document._replace(facts=()) if has_turns else document
        for document in documents
        if document is not None
    ]


def _by_meaning(
    question: ParsedQuestion, nearness: Mapping[str, float], index: Index, files: ZoneFiles
) -> dict[str, list[Support]]:
    """Return entity id -> the facts near the question that say something about it.

    Facts that were superseded count only for a question about the past. The entity of the nearest
    fact comes first, and of one fact the entity that it names first.
    """
    least = MIN_NEARNESS * max(nearness.values(), default=0.0)
    near = [id_ for id_, similarity in nearness.items() if similarity >= least]
    place_of = index.facts.places_of(near)
    near = [id_ for id_ in near if id_ in place_of and question.allowed[place_of[id_]]]
    if index.row_kinds.supersessions and not asks_for_past(question.text):
        changes = memory.supersessions(files.memory.connection, near, question.query.until)
        ended = {older for older, _, _ in changes}
        near = [id_ for id_ in near if id_ not in ended]
    linked = memory.entities_of_facts(files.memory.connection, near)
    texts = memory.texts(files.memory.connection, near)
    canonical = index.canonical_ids.of(sorted({id_ for ids in linked.values() for id_ in ids}))
    names = _names(files, sorted(set(canonical.values())))
    turns = [index.turns.ids[place_of[id_]] for id_ in near]
    sources = events.source_ids(files.events.connection, sorted(set(turns)))
    by_entity: defaultdict[str, list[Support]] = defaultdict(list)
    for fact, turn in zip(near, turns, strict=True):
        at = int(index.turns.occurred_at[place_of[fact]])
        support = Support(fact, texts[fact], at, sources[turn])
        ids = {canonical[id_] for id_ in linked.get(fact, ()) if id_ in canonical}
        positions = {id_: _position(texts[fact], names[id_]) for id_ in ids}
        for id_ in sorted(ids, key=lambda id_: (positions[id_], id_)):
            if positions[id_] >= 0 and (id_ in by_entity or len(by_entity) < _MAX_BY_MEANING):
                by_entity[id_].append(support)
    return by_entity


def _names(files: ZoneFiles, ids: Sequence[str]) -> dict[str, re.Pattern[str]]:
    """Return id -> a pattern of an entity's names and aliases, except as an owner or a speaker."""
    connection = files.identity.connection
    patterns: dict[str, re.Pattern[str]] = {}
    for id_ in ids:
        entity = identity.canonical(connection, id_)
        named = [entity] if entity is not None else []
        names = {row.name for row in (*named, *identity.aliases(connection, id_))}
        # A person is often named by the first name alone.
        names |= {name.split()[0] for name in names if name.strip()}
        longest = sorted(names, key=lambda name: (-len(name), name))
        patterns[id_] = re.compile(
            rf"\b(?:{'|'.join(map(re.escape, longest))})\b(?!['’]s\b|:)", re.IGNORECASE
        )
    return patterns


def _position(text: str, names: re.Pattern[str]) -> int:
    """Return where a fact names an entity; -1 if it does not, or only as speaker or owner.

    "Ada: Tom's bike is blue" says nothing about Ada or Tom.
    """
    found = names.search(text)
    return -1 if found is None else found.start()


def _entity(
    entity: Entity,
    facts: Sequence[Support],
    question: ParsedQuestion,
    index: Index,
    files: ZoneFiles,
) -> Document | None:
    connection = files.identity.connection
    ids = entity_ids(connection, [entity])
    places = np.flatnonzero(turns_about(ids, index) & question.allowed)
    if not len(places):
        return None
    turns = index.turns
    places = places[np.lexsort((turns.numbers[places], turns.occurred_at[places]))]
    cited = [turns.ids[place] for place in places[:_MAX_SOURCES]]
    sources = events.source_ids(files.events.connection, cited)
    aliases = sorted({row.name for row in identity.aliases(connection, entity.id)})
    also = f", also {', '.join(aliases)}" if aliases else ""
    return Document(
        kind="entity",
        id=entity.id,
        text=f"{entity.name} ({entity.type}{also})",
        words=" ".join((entity.name, *aliases, *(fact.text for fact in facts))),
        as_of=int(turns.occurred_at[places[0]]),
        is_stale=False,
        entities=frozenset(ids),
        sources=[*(fact.source for fact in facts), *(sources[event] for event in cited)],
        items=[fact.id for fact in facts],
        facts=facts,
    )
