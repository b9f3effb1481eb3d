"""Entities as documents."""

from __future__ import annotations

import numpy as np

from recollect.projections.events import turns_for_recall as events
from recollect.projections.files import ZoneFiles
from recollect.projections.identity import entity_queries as identity
from recollect.projections.recall.arms.documents import Document
from recollect.projections.recall.index.zone_index import Index
from recollect.projections.recall.question.entity_names import entity_ids, resolve
from recollect.projections.recall.question.filters import turns_about
from recollect.projections.recall.question.parsed_question import ParsedQuestion
from recollect.schemas.changes import Entity
from recollect.schemas.names import normalise_name

# Maximum number of events cited for an entity.
_MAX_SOURCES = 20


def entities(question: ParsedQuestion, index: Index, files: ZoneFiles) -> list[Document]:
    """Return the entities that the query names, with their aliases.

    Only entities that a readable, allowed event mentions or comes from are returned.
    """
    connection = files.identity.connection
    found = {item.entity.id: item.entity for item in question.named}
    for name in (question.text, question.query.entity or ""):
        resolved = resolve(connection, normalise_name(name)) if name.strip() else ()
        found |= {entity.id: entity for entity in resolved}
    documents = (_entity(entity, question, index, files) for entity in found.values())
    return [document for document in documents if document is not None]


def _entity(
    entity: Entity, question: ParsedQuestion, index: Index, files: ZoneFiles
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
        words=" ".join((entity.name, *aliases)),
        as_of=int(turns.occurred_at[places[0]]),
        is_stale=False,
        entities=frozenset(ids),
        sources=[sources[event] for event in cited],
    )
