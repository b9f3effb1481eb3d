"""Typed relationships between entities, and graphs of them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from recollect.schemas.choices import RelationshipType
from recollect.schemas.wire.entries.list_entries import Page

RelationshipDirection = Literal["out", "in", "both"]


class Relationship(msgspec.Struct, frozen=True, kw_only=True):
    """A typed relationship between two entities, and the facts that state it."""

    id: Annotated[
        str, Meta(description="Ids of the source and the target, with the type between them.")
    ]
    type: Annotated[RelationshipType, Meta(description="Type of the relationship.")]
    source_id: Annotated[str, Meta(description="Id of the entity that it begins at.")]
    source: Annotated[str, Meta(description="Name of that entity.")]
    target_id: Annotated[str, Meta(description="Id of the entity that it leads to.")]
    target: Annotated[str, Meta(description="Name of that entity.")]
    weight: Annotated[int, Meta(description="How often it was said.")]
    confidence: Annotated[
        float, Meta(description="Probability, from 0 to 1, that at least one fact states it.")
    ]
    current: Annotated[bool, Meta(description="One of its facts still holds.")]
    first_said: Annotated[str, Meta(description="When it was said first.")]
    last_said: Annotated[str, Meta(description="When a fact last stated it anew.")]
    fact_ids: Annotated[
        list[str], Meta(description="Ids of the facts that state it, the newest first; up to 20.")
    ]
    source_event_ids: Annotated[
        list[str], Meta(description="Source ids of the events that state these facts.")
    ]


class RelationshipPage(Page[Relationship], frozen=True, kw_only=True):
    """A page of relationships, those with the most statements first."""

    relationships: Annotated[
        list[Relationship],
        Meta(description="The relationships, those that were said most often first."),
    ]


class GraphEntity(msgspec.Struct, frozen=True, kw_only=True):
    """An entity of a graph."""

    id: Annotated[str, Meta(description="Id of the entity.")]
    name: Annotated[str, Meta(description="Name of the entity.")]
    type: Annotated[str, Meta(description="Type of the entity.")]
    hops: Annotated[int, Meta(description="Number of relationships to the nearest start.")]


class EntityGraph(msgspec.Struct, frozen=True, kw_only=True):
    """Entities, and all relationships between them."""

    entities: Annotated[list[GraphEntity], Meta(description="The entities, the nearest first.")]
    relationships: Annotated[
        list[Relationship], Meta(description="All relationships between these entities.")
    ]
    truncated: Annotated[
        bool, Meta(description="There are more entities than the limit; the farthest are left out.")
    ] = False
