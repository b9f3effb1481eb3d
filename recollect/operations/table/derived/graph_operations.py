"""Operations on the graph of entities: relationships, neighbours, subgraphs and paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from recollect.home.open_zone import OpenZone
from recollect.operations.memories.derived import graph_listing
from recollect.operations.memories.derived.graph_listing import MAX_HOPS, GraphQuery
from recollect.operations.table.answer_operations import DATA_WARNING
from recollect.operations.table.operation import Tool, operation
from recollect.operations.table.parameters import (
    PAGE,
    Cursor,
    Limit,
    NameOrId,
    described,
)
from recollect.schemas.wire import (
    EntityGraph,
    RelationshipDirection,
    RelationshipPage,
    RelationshipType,
    Time,
)

_AT = "2026-05-08T13:56:00.000Z"
_FACT_ID, _ADA, _TURIN = (
    "01KR3XZBC0BAQNHSCT9EJ4NDPT",
    "0000000000TM58XV8YZVBG9TN4",
    "0000000000FYXTB1N4HF70SMGS",
)
_RELATIONSHIP: dict[str, Any] = {
    "id": f"{_ADA}:LOCATED_IN:{_TURIN}",
    "type": "LOCATED_IN",
    "source_id": _ADA,
    "source": "Ada",
    "target_id": _TURIN,
    "target": "Turin",
    "weight": 1,
    "confidence": 0.81,
    "current": True,
    "first_said": _AT,
    "last_said": _AT,
    "fact_ids": [_FACT_ID],
    "source_event_ids": ["m1"],
}
_GRAPH = {
    "entities": [
        {"id": _ADA, "name": "Ada", "type": "person", "hops": 0},
        {"id": _TURIN, "name": "Turin", "type": "place", "hops": 1},
    ],
    "relationships": [_RELATIONSHIP],
    "truncated": False,
}
_TAG = "graph"

Types = Annotated[
    Sequence[RelationshipType] | None,
    described(description="Only relationships of these types, such as WORKS_WITH or LOCATED_IN."),
]
Way = Annotated[
    RelationshipDirection,
    described(description="Relationships from the entity (out), to it (in), or both."),
]
ValidAt = Annotated[
    Time | None, described(description="Relationships that held at this time; now, if omitted.")
]
KnownAt = Annotated[
    Time | None,
    described(
        description="What was known at this time, or at this consistency token. Anything forgotten "
        "since is left out."
    ),
]
Superseded = Annotated[bool, described(description="Include relationships that no longer hold.")]
Nodes = Annotated[
    int, described(minimum=1, maximum=1_000, description="Maximum number of entities.")
]
_HIDDEN = frozenset({"known_at", "valid_at"})


@operation(
    "GET /entities/{entity}/relationships",
    right="read",
    title="List relationships",
    tag=_TAG,
    tool=Tool(
        verb="list",
        title="List relationships",
        description="List the relationships of a person or thing to others, such as WORKS_WITH, "
        "MANAGES, LOCATED_IN, PART_OF or OWNS, each with the facts that state it. The most often "
        f"stated come first. {DATA_WARNING}",
        defaults={"limit": 20},
        hidden=_HIDDEN,
    ),
    example=(None, {"relationships": [_RELATIONSHIP], "cursor": None}),
)
def relationships(
    zone: OpenZone,
    entity: NameOrId,
    *,
    types: Types = None,
    direction: Way = "both",
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    superseded: Superseded = False,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> RelationshipPage:
    """Return the relationships of an entity, the most often stated first.

    Raises:
        InvalidInput: the entity is unknown, another value is invalid, or the list no longer has
            the entry at the cursor.

    >>> [(one.source, one.type, one.target) for one in zone.relationships("Ada")]
    [('Ada', 'LOCATED_IN', 'Turin')]
    """
    query = GraphQuery(types, direction, valid_at, known_at, superseded)
    return graph_listing.relationship_page(zone, entity, query, cursor=cursor, limit=limit)


@operation(
    "GET /entities/{entity}/neighbors",
    right="read",
    title="Neighbors of an entity",
    tag=_TAG,
    tool=Tool(
        verb="get",
        title="What is related to a person or thing",
        description="Get the people and things related to a person or thing, directly or over "
        f"several hops, with all relationships between them. {DATA_WARNING}",
        defaults={"max_entities": 30},
        hidden=_HIDDEN,
    ),
    example=(None, _GRAPH),
)
def neighbors(
    zone: OpenZone,
    entity: NameOrId,
    *,
    hops: Annotated[
        int, described(minimum=0, maximum=MAX_HOPS, description="Maximum number of hops.")
    ] = 2,
    types: Types = None,
    direction: Way = "both",
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    max_entities: Nodes = 100,
) -> EntityGraph:
    """Return the entities within some hops of an entity, and all relationships among them.

    The nearest come first; at equal distance, those with the most facts.

    Raises:
        InvalidInput: the entity is unknown, or another value is invalid.

    >>> [(one.name, one.hops) for one in zone.neighbors("Ada").entities]
    [('Ada', 0), ('Turin', 1)]
    """
    query = GraphQuery(types, direction, valid_at, known_at)
    return graph_listing.neighborhood(zone, [entity], query, hops=hops, max_entities=max_entities)


@operation(
    "POST /graph/subgraph",
    right="read",
    title="Subgraph of entities",
    tag=_TAG,
    example=({"entities": ["Ada", "Turin"]}, _GRAPH),
)
def subgraph(
    zone: OpenZone,
    entities: Annotated[
        Sequence[str], described(description="Names or ids of entities.", minItems=1)
    ],
    *,
    hops: Annotated[
        int,
        described(
            minimum=0, maximum=MAX_HOPS, description="Include entities within this many hops."
        ),
    ] = 0,
    types: Types = None,
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
    max_entities: Nodes = 100,
) -> EntityGraph:
    """Return some entities, their neighbours, and all relationships among them.

    Raises:
        InvalidInput: an entity is unknown, or another value is invalid.

    >>> [one.type for one in zone.subgraph(["Ada", "Turin"]).relationships]
    ['LOCATED_IN']
    """
    query = GraphQuery(types, "both", valid_at, known_at)
    return graph_listing.neighborhood(zone, entities, query, hops=hops, max_entities=max_entities)


@operation(
    "POST /graph/path",
    right="read",
    title="Path between entities",
    tag=_TAG,
    tool=Tool(
        title="How two people or things are related",
        description="Find how two people or things are related: a shortest chain of relationships "
        f"between them, each with the facts that state it. {DATA_WARNING}",
        hidden=_HIDDEN,
    ),
    example=({"source": "Ada", "target": "Turin"}, _GRAPH),
)
def find_path(
    zone: OpenZone,
    source: NameOrId,
    target: NameOrId,
    *,
    max_hops: Annotated[
        int, described(minimum=1, maximum=MAX_HOPS, description="Maximum number of hops.")
    ] = 4,
    types: Types = None,
    direction: Way = "both",
    valid_at: ValidAt = None,
    known_at: KnownAt = None,
) -> EntityGraph:
    """Return a shortest path between two entities, in order; empty if there is none in range.

    Raises:
        InvalidInput: an entity is unknown, or another value is invalid.

    >>> [one.name for one in zone.find_path("Ada", "Turin").entities]
    ['Ada', 'Turin']
    """
    query = GraphQuery(types, direction, valid_at, known_at)
    return graph_listing.path(zone, source, target, query, max_hops=max_hops)


class GraphOperations:
    """The graph of a zone's entities."""

    relationships = relationships
    neighbors = neighbors
    subgraph = subgraph
    find_path = find_path
