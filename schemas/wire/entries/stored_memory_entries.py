"""Stored memories: texts that somebody asked to remember, with their attributes and versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from recollect.schemas.choices import RelationshipType
from recollect.schemas.events import MemoryScope, MemoryState, MemoryVisibility
from recollect.schemas.memory_terms import (
    DEFAULT_ENRICHMENTS,
    Enrichment,
    MemoryTier,
    StoredMemoryType,
)
from recollect.schemas.wire.answering import Time
from recollect.schemas.wire.entries.list_entries import Page
from recollect.schemas.wire.reports import RememberReceipt

Stability = Literal["static", "semi_dynamic", "dynamic"]


class MemoryInput(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text to remember, with its attributes."""

    content: Annotated[str, Meta(description="The text to remember.")]
    sender_id: Annotated[
        str, Meta(description="Who says it: user, assistant for the agent's own words, or an id.")
    ] = "user"
    at: Annotated[
        Time | None,
        Meta(description="When it was said: ISO 8601 with a zone, or unix milliseconds; or now."),
    ] = None
    memory_type: Annotated[StoredMemoryType, Meta(description="The type of memory.")] = "fact"
    scope: Annotated[
        MemoryScope | None,
        Meta(
            description="Who owns it: the agent, the user, or everyone in the zone (zone, "
            "global). If it is left out: user if the visibility private is given, otherwise zone."
        ),
    ] = None
    visibility: Annotated[
        MemoryVisibility | None,
        Meta(
            description="private: the owner reads it, which is everyone in the zone with the "
            "scope zone or global; shared: an agent's user too, or everyone in the zone if a "
            "user owns it; public: everyone in the zone. If it is left out: private."
        ),
    ] = None
    user_id: Annotated[
        str | None, Meta(description="The user that it belongs to; by default, the caller.")
    ] = None
    agent_id: Annotated[
        str | None, Meta(description="The agent that it belongs to; by default, the caller.")
    ] = None
    namespace: Annotated[
        str | None, Meta(description="A path such as /people/alice, for lists.")
    ] = None
    path_key: Annotated[
        str | None,
        Meta(
            description="A key in the namespace; a later text of the same owner with the same "
            "key is a new version of this memory."
        ),
    ] = None
    importance: Annotated[float | None, Meta(description="From 0 to 1; 0.5 if not given.")] = None
    valid_at: Annotated[
        Time | None, Meta(description="Since when it is true; since it was said if not given.")
    ] = None
    invalid_at: Annotated[Time | None, Meta(description="Until when it is true.")] = None
    enrichments: Annotated[
        Sequence[Enrichment],
        Meta(description="What to show about it: its entities, dates, stability and so on."),
    ] = DEFAULT_ENRICHMENTS
    abstraction_level: Annotated[
        int, Meta(description="0 for a text of its own; more if it summarises others.")
    ] = 0
    derived_from: Annotated[
        Sequence[str], Meta(description="Ids of the memories that it was made from.")
    ] = ()


class MemoryReceipts(msgspec.Struct, frozen=True, kw_only=True):
    """The receipts of stored memories."""

    receipts: Annotated[
        list[RememberReceipt], Meta(description="A receipt for each text, in the same order.")
    ]

    def __iter__(self) -> Iterator[RememberReceipt]:
        return iter(self.receipts)


class MemoryMention(msgspec.Struct, frozen=True, kw_only=True):
    """A name, date or value in a memory's text."""

    text: Annotated[str, Meta(description="The words.")]
    type: Annotated[str, Meta(description="The type of entity, such as PERSON or ORG.")]
    start: Annotated[int, Meta(description="Where it begins in the text, in characters.")]
    end: Annotated[int, Meta(description="Where it ends.")]
    confidence: Annotated[float, Meta(description="How likely it is, from 0 to 1.")]
    entity_id: Annotated[str | None, Meta(description="Id of the entity, if it is known.")] = None
    entity: Annotated[str | None, Meta(description="Name of the entity, if it is known.")] = None


class MemoryDate(msgspec.Struct, frozen=True, kw_only=True):
    """A date in a memory's text, and the days that it means."""

    text: Annotated[str, Meta(description="The words.")]
    start: Annotated[int, Meta(description="Where it begins in the text, in characters.")]
    end: Annotated[int, Meta(description="Where it ends.")]
    first: Annotated[str, Meta(description="The first day.")]
    last: Annotated[str, Meta(description="The last day.")]
    time: Annotated[str | None, Meta(description="The time of day, as HH:MM.")] = None


class MemoryRelationship(msgspec.Struct, frozen=True, kw_only=True):
    """A relationship that a memory's text states: a subject, a predicate and an object."""

    subject: Annotated[str, Meta(description="The name that it begins at.")]
    predicate: Annotated[RelationshipType, Meta(description="Type of the relationship.")]
    object: Annotated[str, Meta(description="The name that it leads to.")]
    confidence: Annotated[float, Meta(description="How likely it is, from 0 to 1.")]
    subject_id: Annotated[
        str | None, Meta(description="Id of the subject's entity, if it is known.")
    ] = None
    object_id: Annotated[
        str | None, Meta(description="Id of the object's entity, if it is known.")
    ] = None


class StoredMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a stored memory."""

    memory_id: Annotated[str, Meta(description="Id of this version: that of its event.")]
    first_id: Annotated[str, Meta(description="Id of the memory's first version.")]
    version: Annotated[int, Meta(description="Number of this version, from 1.")]
    content: Annotated[str, Meta(description="The text as it was stored.")]
    content_hash: Annotated[str, Meta(description="SHA-256 of the text, in hex.")]
    resolved_content: Annotated[
        str | None,
        Meta(description="The text with names and dates in place of pronouns and relative dates."),
    ] = None
    memory_type: Annotated[str, Meta(description="The type of memory.")]
    scope: Annotated[MemoryScope, Meta(description="Who owns it.")]
    visibility: Annotated[MemoryVisibility, Meta(description="Who else reads it.")]
    state: Annotated[MemoryState, Meta(description="active, inactive or deleted.")]
    tier: Annotated[
        MemoryTier | None,
        Meta(description="main, recall or archival; null if it is replaced or not active."),
    ] = None
    is_archived: Annotated[bool, Meta(description="It is in the archival store.")] = False
    archived_at: Annotated[str | None, Meta(description="When it was archived.")] = None
    archive_cause: Annotated[
        Literal["age", "expiry", "request", "consolidation"] | None,
        Meta(
            description="age: long unused; expiry: it no longer holds; request; consolidation: "
            "another memory consolidates it."
        ),
    ] = None
    user_id: Annotated[str | None, Meta(description="The user that it belongs to.")] = None
    agent_id: Annotated[str | None, Meta(description="The agent that it belongs to.")] = None
    namespace: Annotated[str | None, Meta(description="The namespace.")] = None
    path_key: Annotated[str | None, Meta(description="The key in the namespace.")] = None
    importance: Annotated[float, Meta(description="The importance that it was stored with.")]
    effective_importance: Annotated[
        float,
        Meta(description="The importance now: 5% lower for each day without access, at least 0.1."),
    ]
    access_count: Annotated[int, Meta(description="How often it was retrieved.")] = 0
    last_accessed_at: Annotated[str | None, Meta(description="When it was last retrieved.")] = None
    created_at: Annotated[str, Meta(description="When it was stored.")]
    updated_at: Annotated[str, Meta(description="When it was stored or replaced.")]
    valid_at: Annotated[str, Meta(description="Since when it is true.")]
    invalid_at: Annotated[
        str | None, Meta(description="Until when it is true, or was the current version.")
    ] = None
    supersedes_id: Annotated[str | None, Meta(description="Id of the version before.")] = None
    superseded_by_id: Annotated[str | None, Meta(description="Id of the next version.")] = None
    abstraction_level: Annotated[int, Meta(description="0 for a text of its own.")] = 0
    derived_from_ids: Annotated[
        list[str], Meta(description="Ids of the memories that it was made from, or follows from.")
    ] = []
    updates_ids: Annotated[
        list[str], Meta(description="Ids of memories with a fact that it replaces.")
    ] = []
    parent_memory_id: Annotated[
        str | None, Meta(description="Id of the memory that consolidates it.")
    ] = None
    child_memory_ids: Annotated[
        list[str], Meta(description="Ids of the memories that it consolidates.")
    ] = []
    consolidated_from: Annotated[
        list[str], Meta(description="Ids of all texts under it, whatever their level.")
    ] = []
    consolidation_version: Annotated[
        int, Meta(description="How many memories above it consolidate it.")
    ] = 0
    extends_ids: Annotated[list[str], Meta(description="Ids of memories that it adds to.")] = []
    extended_by_ids: Annotated[list[str], Meta(description="Ids of memories that add to it.")] = []
    entities: Annotated[
        list[MemoryMention], Meta(description="The entities in its text, if asked for.")
    ] = []
    entity_types: Annotated[list[str], Meta(description="The types of its entities.")] = []
    person_refs: Annotated[list[str], Meta(description="The persons that it names.")] = []
    temporal_refs: Annotated[
        list[MemoryDate], Meta(description="The dates in its text, if asked for.")
    ] = []
    relationships: Annotated[
        list[MemoryRelationship],
        Meta(description="The relationships that its text states, if asked for."),
    ] = []
    relationship_count: Annotated[int, Meta(description="Number of its relationships.")] = 0
    earliest_date: Annotated[str | None, Meta(description="The first day it speaks of.")] = None
    latest_date: Annotated[str | None, Meta(description="The last day it speaks of.")] = None
    temporal_stability: Annotated[
        Stability | None, Meta(description="How long its statement holds, if asked for.")
    ] = None
    stability_confidence: Annotated[
        float | None, Meta(description="Confidence in it, from 0 to 1.")
    ] = None
    estimated_ttl_days: Annotated[
        int | None, Meta(description="Number of days that it holds; null: for ever.")
    ] = None
    is_stale: Annotated[bool, Meta(description="Whether these days are over.")] = False
    embedding_model: Annotated[str | None, Meta(description="The encoder of its vector.")] = None
    embedding_dim: Annotated[
        int | None, Meta(description="Number of dimensions of its vector.")
    ] = None


class StoredMemoryPage(Page[StoredMemory], frozen=True, kw_only=True):
    """A page of stored memories, newest first."""

    memories: Annotated[list[StoredMemory], Meta(description="The memories, newest first.")]


class StoredMemoryVersionPage(Page[StoredMemory], frozen=True, kw_only=True):
    """A page of the versions of a stored memory, the first version first."""

    versions: Annotated[list[StoredMemory], Meta(description="The versions, in their order.")]


class PathEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A stored memory or a directory at a virtual path."""

    path: Annotated[str, Meta(description="The path; that of a directory ends with a slash.")]
    is_directory: Annotated[bool, Meta(description="Whether it is a directory.")] = False
    memory_id: Annotated[str | None, Meta(description="Id of the memory's version.")] = None
    memory_type: Annotated[str | None, Meta(description="The type of the memory.")] = None
    created_at: Annotated[str | None, Meta(description="When this version was stored.")] = None


class PathPage(Page[PathEntry], frozen=True, kw_only=True):
    """A page of paths."""

    entries: Annotated[list[PathEntry], Meta(description="Directories by name, then memories.")]


class MemoryStateReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of approving, deactivating or deleting memories."""

    state: Annotated[MemoryState, Meta(description="The state that was asked for.")]
    changed: Annotated[list[str], Meta(description="Ids that are now in this state.")]
    unchanged: Annotated[
        list[str], Meta(description="Ids that were in this state already, or are deleted.")
    ]
    unknown: Annotated[list[str], Meta(description="Ids that no memory has.")]


class ArchiveReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of archiving or restoring memories."""

    changed: Annotated[list[str], Meta(description="Ids that were archived, or restored.")]
    unchanged: Annotated[
        list[str], Meta(description="Ids that were in the wanted store already, or are not active.")
    ]
    unknown: Annotated[list[str], Meta(description="Ids that no memory has.")]


class TierEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a tier."""

    tier: Annotated[MemoryTier, Meta(description="main, recall or archival.")]
    memories: Annotated[int, Meta(description="The number of memories in it.")]
    capacity: Annotated[
        int | None, Meta(description="How many it has room for; null: no limit.")
    ] = None
    utilization: Annotated[
        float | None, Meta(description="The part of the capacity that is used, from 0 to 1.")
    ] = None
    oldest: Annotated[str | None, Meta(description="When the first was stored.")] = None
    newest: Annotated[str | None, Meta(description="When the last was stored.")] = None


class TierReport(msgspec.Struct, frozen=True, kw_only=True):
    """The tiers of the stored memories, with their sizes."""

    tiers: Annotated[list[TierEntry], Meta(description="main, recall and archival.")]
    memories: Annotated[int, Meta(description="The number of memories in all tiers.")]
    recall_max_age_hours: Annotated[
        float, Meta(description="The hours after which unused memories are archived.")
    ]


class RecentMemories(msgspec.Struct, frozen=True, kw_only=True):
    """The main context, most recently used first, then the newest of the recall store."""

    memories: Annotated[list[StoredMemory], Meta(description="The memories, in this order.")]

    def __iter__(self) -> Iterator[StoredMemory]:
        return iter(self.memories)


class TierHit(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that a search found."""

    score: Annotated[float, Meta(description="How well it matches, as in recall.")]
    memory: Annotated[StoredMemory, Meta(description="The memory.")]


class TierSearch(msgspec.Struct, frozen=True, kw_only=True):
    """What a search found, by tier, best first."""

    main: Annotated[list[TierHit], Meta(description="In the main context.")] = []
    recall: Annotated[list[TierHit], Meta(description="In the recall store.")] = []
    archival: Annotated[list[TierHit], Meta(description="In the archival store.")] = []


class MemoryDiff(msgspec.Struct, frozen=True, kw_only=True):
    """The difference of two memories' texts."""

    from_id: Annotated[str, Meta(description="Id of the first memory.")]
    to_id: Annotated[str, Meta(description="Id of the second.")]
    diff: Annotated[str, Meta(description="A unified diff; empty if the texts are the same.")]
