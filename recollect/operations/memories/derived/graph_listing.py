"""The graph of a zone's entities: relationships, neighbours, subgraphs and paths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from recollect.home.open_zone import OpenZone
from recollect.operations.memories.listing import (
    files_known_at,
    resolve_entities,
)
from recollect.operations.memories.page_cursors import after_cursor, check_limit
from recollect.projections import entity_graph
from recollect.projections.events.event_queries import by_ids
from recollect.projections.files import ZoneFiles
from recollect.projections.identity.entity_list import names_of, types_of
from recollect.projections.identity.entity_queries import entities_named
from recollect.projections.memory import fact_statements
from recollect.projections.memory.relationship_queries import RelationshipFilter
from recollect.schemas.choices import RELATIONSHIP_TYPES
from recollect.schemas.errors import InvalidInput
from recollect.schemas.names import normalise_name
from recollect.schemas.times import format_time, parse_query_time
from recollect.schemas.wire import (
    EntityGraph,
    GraphEntity,
    Relationship,
    RelationshipDirection,
    RelationshipPage,
    RelationshipType,
    Time,
)

#: The maximum number of hops.
MAX_HOPS = 6
_MAX_FACTS = 20


class GraphQuery(NamedTuple):
    """Which relationships count: those that held at `valid_at`, as known at `known_at`."""

    types: Sequence[RelationshipType] | None = None
    direction: RelationshipDirection = "both"
    valid_at: Time | None = None
    known_at: Time | None = None
    superseded: bool = False


def relationship_page(
    zone: OpenZone, entity: str, query: GraphQuery, *, cursor: str | None, limit: int
) -> RelationshipPage:
    """Return a page of the relationships of an entity, the most often stated first.

    Raises:
        InvalidInput: the entity is unknown, or another value is invalid.
    """
    check_limit(limit)
    with _opened(zone, query) as graph:
        if graph is None:
            return RelationshipPage(relationships=[])
        edges = graph.edges.edges_of(graph.entities(entity), query.direction)
        listed = sorted(graph.relationships(edges), key=lambda one: (-one.weight, one.id))
    page, more = after_cursor(listed, cursor, limit)
    return RelationshipPage(relationships=page, cursor=more)


def neighborhood(
    zone: OpenZone, entities: Sequence[str], query: GraphQuery, *, hops: int, max_entities: int
) -> EntityGraph:
    """Return the entities within some hops of these, and the relationships between them.

    Raises:
        InvalidInput: an entity is unknown, or another value is invalid.
    """
    check_limit(max_entities, "max_entities")
    check_limit(hops, "hops", least=0, most=MAX_HOPS)
    if not entities:
        raise InvalidInput("entities is empty; name at least one")
    with _opened(zone, query) as graph:
        if graph is None:
            return EntityGraph(entities=[], relationships=[])
        starts = [id_ for entity in entities for id_ in graph.entities(entity)]
        neighborhood_ = graph.edges.neighbors(starts, hops, max_entities, query.direction)
        return graph.of(neighborhood_.hops, truncated=neighborhood_.truncated)


def path(
    zone: OpenZone, source: str, target: str, query: GraphQuery, *, max_hops: int
) -> EntityGraph:
    """Return a shortest path between two entities; it is empty if there is none in range.

    Raises:
        InvalidInput: an entity is unknown, or another value is invalid.
    """
    check_limit(max_hops, "max_hops", most=MAX_HOPS)
    with _opened(zone, query) as graph:
        if graph is None:
            return EntityGraph(entities=[], relationships=[])
        starts, ends = graph.entities(source), graph.entities(target)
        edges = graph.edges.path(starts, ends, max_hops, query.direction)
        return graph.of({id_: place for place, id_ in enumerate(edges)}, truncated=False)


@contextmanager
def _opened(zone: OpenZone, query: GraphQuery) -> Iterator[_Graph | None]:
    types = query.types if query.types is None else tuple(query.types)
    for type_ in types or ():
        if type_ not in RELATIONSHIP_TYPES:
            raise InvalidInput(
                f"type {type_!r} is unknown; choose from {', '.join(RELATIONSHIP_TYPES)}"
            )
    valid = None if query.valid_at is None else parse_query_time(query.valid_at, "valid_at")
    which = RelationshipFilter(types, valid, query.superseded)
    opened = files_known_at(zone, query.known_at)
    if opened is None:
        yield None
        return
    with opened as files, files.read_transaction():
        yield _Graph(files, which)


class _Graph:
    """The graph of a zone's files, and its parts as they are shown."""

    def __init__(self, files: ZoneFiles, which: RelationshipFilter) -> None:
        self._files = files
        self.edges = entity_graph.EntityGraph(
            files.memory.connection, files.identity.connection, which
        )

    def entities(self, name_or_id: str) -> list[str]:
        """Return the ids of all entities with a name or an id, after merges.

        If entities share a name, a question means the person; the graph includes all of them.
        """
        ids = resolve_entities(self._files, name_or_id)
        named = entities_named(self._files.identity.connection, normalise_name(name_or_id))
        ids += [each.id for each in named]
        return sorted(set(self.edges.canonical(ids).values()))

    def of(self, hops: dict[str, int], *, truncated: bool) -> EntityGraph:
        """Return some entities, by their numbers of hops, with all relationships among them."""
        names = names_of(self._files.identity.connection, list(hops))
        types = types_of(self._files.identity.connection, list(hops))
        return EntityGraph(
            entities=[
                GraphEntity(id=id_, name=names[id_], type=types[id_], hops=distance)
                for id_, distance in hops.items()
                if id_ in names
            ],
            relationships=self.relationships(self.edges.edges_among(list(hops))),
            truncated=truncated,
        )

    def relationships(self, edges: Sequence[entity_graph.Edge]) -> list[Relationship]:
        """Return relationships with their names, facts and events."""
        memory, events = self._files.memory.connection, self._files.events.connection
        ends = sorted({id_ for edge in edges for id_ in (edge.source, edge.target)})
        names = names_of(self._files.identity.connection, ends)
        facts = sorted({evidence.fact_id for edge in edges for evidence in edge.evidence})
        stated = fact_statements.statements(memory, facts)
        event_ids = sorted(
            {one.event_id for statements_of_fact in stated.values() for one in statements_of_fact}
        )
        source_ids = {event.id: event.source_id for event in by_ids(events, event_ids)}
        relationships = []
        for edge in edges:
            sources = sorted(
                (one.said_at, source_ids[one.event_id])
                for evidence in edge.evidence
                for one in stated.get(evidence.fact_id, ())
                if one.event_id in source_ids
            )
            if not sources:
                continue  # Its events are being forgotten, or were all deleted.
            newest = [evidence.fact_id for evidence in reversed(edge.evidence)]
            relationships.append(
                Relationship(
                    id=f"{edge.source}:{edge.type}:{edge.target}",
                    type=edge.type,
                    source_id=edge.source,
                    source=names.get(edge.source, edge.source),
                    target_id=edge.target,
                    target=names.get(edge.target, edge.target),
                    weight=len(sources),
                    confidence=edge.confidence,
                    current=any(evidence.ended_at is None for evidence in edge.evidence),
                    first_said=format_time(sources[0][0]),
                    last_said=format_time(sources[-1][0]),
                    fact_ids=newest[:_MAX_FACTS],
                    source_event_ids=list(dict.fromkeys(event for _, event in sources)),
                )
            )
        return relationships
