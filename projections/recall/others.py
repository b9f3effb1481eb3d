"""Mental models and entities: the results that are no turns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from projections.events import recalls as events
from projections.files import ZoneFiles
from projections.identity import queries as identity
from projections.memory import recalls as memory
from projections.recall.arms import Asked, about
from projections.recall.index import Index
from projections.recall.names import entity_ids, resolve
from projections.recall.types import Query, Result
from projections.recall.words import Tokeniser
from schemas.changes import Entity
from schemas.names import normalise_name
from schemas.times import format_time

Floats = npt.NDArray[np.float32]

# An entity that is spoken of for years is not cited whole.
_MOST_SOURCES = 20


def mental_models(
    query: Query,
    asked: Asked,
    wanted_ids: set[str] | None,
    index: Index,
    files: ZoneFiles,
    tokeniser: Tokeniser,
) -> list[Result]:
    """Return the mental models that share words with the question or have vectors.

    `wanted_ids`: only those of an entity under these ids. A mental model is written by a
    command: it has no platform, and no event that could be cited.
    """
    if query.platform is not None:
        return []
    reports = [
        report
        for report in memory.mental_models(files.memory.connection, query.until)
        if (wanted_ids is None or report.entity_id in wanted_ids)
        and (query.time_after is None or report.updated_at > query.time_after)
        and (query.time_before is None or report.updated_at < query.time_before)
    ]
    if not reports:
        return []
    similar = np.zeros(len(reports), np.float32)
    if asked.vector is not None:
        vectors = index.mental_models.of([report.id for report in reports])
        similar = np.maximum(vectors @ asked.vector, 0)
    terms = set(tokeniser.terms(asked.text))
    stands = index.standing(report.entity_id for report in reports if report.entity_id)
    results = []
    for report, near in zip(reports, similar.tolist(), strict=True):
        own = set(tokeniser.terms(f"{report.name} {report.description}"))
        overlap = len(terms & own) / len(terms) if terms else 0.0
        if not overlap and not near:
            continue
        results.append(
            Result(
                id=report.id,
                type="mental_model",
                text=f"{report.name}: {report.description}",
                as_of=format_time(report.updated_at),
                score=round(min(1.0, (overlap + near) / 2), 6),
                is_stale=report.is_stale,
                entity_ids=[stands[report.entity_id]] if report.entity_id in stands else [],
                platform=None,
                source_event_ids=[],
                arms={} if query.explain else None,
            )
        )
    return results


def entities(query: Query, asked: Asked, index: Index, files: ZoneFiles) -> list[Result]:
    """Return the entities that the query names, with what else they are called.

    An entity is known from the events that speak of it or come from it: where none of them is
    readable and allowed, neither is the entity.
    """
    connection = files.identity.connection
    found = {item.entity.id: item.entity for item in asked.named}
    for name in (asked.text, query.entity or ""):
        entity = resolve(connection, normalise_name(name)) if name.strip() else None
        if entity is not None:
            found[entity.id] = entity
    results = (_entity(entity, query, asked, index, files) for entity in found.values())
    return [result for result in results if result is not None]


def _entity(
    entity: Entity, query: Query, asked: Asked, index: Index, files: ZoneFiles
) -> Result | None:
    connection = files.identity.connection
    places = np.flatnonzero(about(entity_ids(connection, entity), index, files) & asked.allowed)
    if not len(places):
        return None
    turns = index.turns
    places = places[np.lexsort((turns.numbers[places], turns.occurred_at[places]))]
    cited = [turns.ids[place] for place in places[:_MOST_SOURCES]]
    sources = events.source_ids(files.events.connection, cited)
    names = sorted({row.name for row in identity.aliases(connection, entity.id)})
    also = f", also {', '.join(names)}" if names else ""
    return Result(
        id=entity.id,
        type="entity",
        text=f"{entity.name} ({entity.type}{also})",
        as_of=format_time(int(turns.occurred_at[places[0]])),
        score=1.0,
        is_stale=False,
        entity_ids=[entity.id],
        platform=None,
        source_event_ids=list(dict.fromkeys(sources[event] for event in cited)),
        arms={"entity": 1} if query.explain else None,
    )
