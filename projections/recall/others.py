"""Mental models and entities as documents."""

from __future__ import annotations

import numpy as np

from projections.events import recalls as events
from projections.files import ZoneFiles
from projections.identity import queries as identity
from projections.memory import consolidated
from projections.recall.arms import Asked, about
from projections.recall.documents import Document
from projections.recall.index import Index
from projections.recall.names import entity_ids, resolve
from projections.recall.types import Query
from schemas.changes import Entity
from schemas.names import normalise_name

# An entity that is spoken of for years is not cited whole.
_MOST_SOURCES = 20


def mental_models(query: Query, wanted_ids: set[str] | None, files: ZoneFiles) -> list[Document]:
    """Return the newest versions that pass the filters.

    `wanted_ids`: only those of an entity under these ids. A mental model is written by a
    command: it has no platform, and no event that could be cited.
    """
    if query.platform is not None:
        return []
    return [
        Document(
            kind="mental_model",
            id=report.id,
            text=f"{report.name}: {report.description}",
            words=f"{report.name} {report.description}",
            as_of=report.updated_at,
            is_stale=report.is_stale,
            entities=frozenset([report.entity_id] if report.entity_id else ()),
        )
        for report in consolidated.mental_models(files.memory.connection, query.until)
        if (wanted_ids is None or report.entity_id in wanted_ids)
        and (query.time_after is None or report.updated_at > query.time_after)
        and (query.time_before is None or report.updated_at < query.time_before)
    ]


def entities(query: Query, asked: Asked, index: Index, files: ZoneFiles) -> list[Document]:
    """Return the entities that the query names, with what else they are called.

    An entity is known from the events that speak of it or come from it: where none of them is
    readable and allowed, neither is the entity.
    """
    connection = files.identity.connection
    found = {item.entity.id: item.entity for item in asked.named}
    for name in (asked.text, query.entity or ""):
        meant = resolve(connection, normalise_name(name)) if name.strip() else ()
        found |= {entity.id: entity for entity in meant}
    documents = (_entity(entity, asked, index, files) for entity in found.values())
    return [document for document in documents if document is not None]


def _entity(entity: Entity, asked: Asked, index: Index, files: ZoneFiles) -> Document | None:
    connection = files.identity.connection
    ids = entity_ids(connection, [entity])
    places = np.flatnonzero(about(ids, index) & asked.allowed)
    if not len(places):
        return None
    turns = index.turns
    places = places[np.lexsort((turns.numbers[places], turns.occurred_at[places]))]
    cited = [turns.ids[place] for place in places[:_MOST_SOURCES]]
    sources = events.source_ids(files.events.connection, cited)
    names = sorted({row.name for row in identity.aliases(connection, entity.id)})
    also = f", also {', '.join(names)}" if names else ""
    return Document(
        kind="entity",
        id=entity.id,
        text=f"{entity.name} ({entity.type}{also})",
        words=" ".join((entity.name, *names)),
        as_of=int(turns.occurred_at[places[0]]),
        is_stale=False,
        entities=frozenset(ids),
        sources=[sources[event] for event in cited],
    )
