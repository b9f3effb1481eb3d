"""Operations on facts, and on the entities that they are about."""

from __future__ import annotations

from typing import Annotated

from recollect.home.open_zone import OpenZone
from recollect.operations.memories import listing
from recollect.operations.table.answer_operations import DATA_WARNING
from recollect.operations.table.operation import Tool, operation
from recollect.operations.table.parameters import (
    PAGE,
    Cursor,
    Entity,
    KnownAt,
    Limit,
    NameOrId,
    Superseded,
    described,
)
from recollect.schemas import wire
from recollect.schemas.wire import Comparison, EntityPage, FactPage, RelatedEntities

_AT = "2026-05-08T13:56:00.000Z"
_FACT_ID, _ADA = "01KR3XZBC0BAQNHSCT9EJ4NDPT", "0000000000TM58XV8YZVBG9TN4"
_FACT = {
    "id": _FACT_ID,
    "text": "Ada lives in Turin.",
    "as_of": _AT,
    "when": None,
    "subject": "Ada",
    "attribute": "home",
    "value": "Turin",
    "current": True,
    "stability": None,
    "said": {"count": 1, "first": _AT, "last": _AT},
    "entities": ["Ada", "Turin"],
    "source_event_ids": ["m1"],
}
_ENTITY = {
    "id": _ADA,
    "name": "Ada",
    "type": "person",
    "aliases": [],
    "handles": [{"platform": "chat", "handle": "u1"}],
    "facts": 1,
    "mentions": 1,
}
_TAG = "facts and entities"


@operation(
    "GET /facts",
    right="read",
    title="List facts",
    tag=_TAG,
    example=(None, {"facts": [_FACT], "cursor": f"{_AT}/{_FACT_ID}"}),
)
def facts(
    zone: OpenZone,
    *,
    entity: Entity = None,
    superseded: Superseded = False,
    known_at: KnownAt = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> FactPage:
    """Return a page of facts, newest first; its `cursor` selects the next page.

    `recollect.paginate(zone.facts)` yields all of them.

    Raises:
        InvalidInput: `entity` is unknown, or the time or the cursor is invalid.

    >>> [fact.text for fact in zone.facts(entity="Ada")]
    ['Ada lives in Turin.']
    """
    return listing.fact_page(
        zone, entity=entity, superseded=superseded, known_at=known_at, cursor=cursor, limit=limit
    )


@operation(
    "GET /facts/count",
    right="read",
    title="Count facts",
    tag=_TAG,
    response_field="count",
    example=(None, {"count": 1}),
)
def fact_count(zone: OpenZone, *, entity: Entity = None, superseded: Superseded = False) -> int:
    """Return the number of facts that `facts` lists.

    >>> zone.fact_count(entity="Ada")
    1
    """
    return listing.fact_count(zone, entity=entity, superseded=superseded)


@operation(
    "GET /entities",
    right="read",
    title="List entities",
    tag=_TAG,
    tool=Tool(
        verb="list",
        title="List people and things",
        description="List the known people, organisations, places and things, most mentioned "
        f"first. {DATA_WARNING}",
        defaults={"limit": 20},
    ),
    example=(None, {"entities": [_ENTITY], "cursor": "17:50"}),
)
def entities(
    zone: OpenZone,
    *,
    query: Annotated[
        str | None,
        described(
            description="Only entities whose name or account contains this text; if there are "
            "none, those that it describes."
        ),
    ] = None,
    cursor: Cursor = None,
    limit: Limit = PAGE,
) -> EntityPage:
    """Return a page of the zone's entities, most mentioned first.

    A page's `cursor` selects the next page, as of when the first page was read. If no name or
    account contains `query`, it is taken as a description ("the vet"), and the entities that fit it
    are returned, the best first, without a cursor.

    Raises:
        InvalidInput: `limit` is not from 1 to 1,000, or the cursor is from another zone.

    >>> sorted(entity.name for entity in zone.entities() if entity.type == "person")
    ['Ada', 'Bob']
    >>> [entity.name for entity in zone.entities(query="tur")]
    ['Turin']
    >>> page = zone.entities(limit=1)
    >>> len(page), len(zone.entities(cursor=page.cursor)) > 0
    (1, True)
    """
    return listing.entity_page(zone, query=query, cursor=cursor, limit=limit)


@operation(
    "GET /entities/{entity}",
    right="read",
    title="Get an entity",
    tag=_TAG,
    tool=Tool(
        title="Get a person or thing",
        description="Get one person, organisation, place or thing by name or id: other names, "
        "accounts, and the numbers of facts and mentions. To list the memories, call list_memories "
        f"with `entity`. {DATA_WARNING}",
    ),
    example=(None, _ENTITY),
)
def get_entity(zone: OpenZone, entity: NameOrId) -> wire.Entity:
    """Return the entity that has a given name or id.

    Raises:
        UnknownId: no entity has this name or id.
        InvalidInput: several entities have this name; the message lists their ids.

    >>> zone.get_entity("Ada").type
    'person'
    """
    return listing.get_entity(zone, entity)


@operation(
    "GET /entities/{entity}/related",
    right="read",
    title="List related entities",
    tag=_TAG,
    example=(
        None,
        {
            "related": [
                {"id": "0000000000XM58XV8YZVBG9TN4", "name": "Turin", "type": "place", "facts": 1}
            ],
            "links": [],
            "total": 1,
        },
    ),
)
def related(
    zone: OpenZone,
    entity: NameOrId,
    *,
    max_results: Annotated[
        int,
        described(
            minimum=1,
            maximum=listing.MAX_RELATED,
            description="Maximum number of related entities.",
        ),
    ] = 20,
) -> RelatedEntities:
    """Return the entities that share the most facts with an entity, and the links among them.

    Raises:
        UnknownId: no entity has this name or id.
        InvalidInput: several entities have this name; the message lists their ids.

    >>> [(each.name, each.facts) for each in zone.related("Ada").related]
    [('Turin', 1)]
    """
    return listing.related(zone, entity, max_results)


@operation(
    "POST /entities/compare",
    right="read",
    title="Compare entities",
    tag=_TAG,
    example=(
        {"a": "Ada", "b": "Bob"},
        {"decision": "different", "confidence": 0.0, "reasons": ["two names"]},
    ),
)
def compare(zone: OpenZone, a: NameOrId, b: NameOrId) -> Comparison:
    """Return whether two entities have been or would be merged, and why.

    Raises:
        InvalidInput: a name is unknown, or several entities have it.

    >>> zone.compare("Ada", "Bob").decision
    'different'
    """
    # Only a comparison needs the agents.
    from recollect.operations.memories import compare_entities

    return compare_entities.compare(zone, a, b)


class EntityOperations:
    """Facts and entities of a zone."""

    facts = facts
    fact_count = fact_count
    entities = entities
    get_entity = get_entity
    related = related
    compare = compare
