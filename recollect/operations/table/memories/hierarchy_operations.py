"""Operations on the hierarchy of stored memories: consolidate, expand, collapse, search."""

from __future__ import annotations

from typing import Annotated

from recollect.home.open_zone import OpenZone
from recollect.operations.memories.stored import memory_hierarchy as hierarchy
from recollect.operations.table.answer_operations import DATA_WARNING
from recollect.operations.table.memories.stored_memory_operations import STORED_MEMORY, StoredId
from recollect.operations.table.operation import Tool, operation
from recollect.operations.table.parameters import MaxResults, described
from recollect.schemas.events import ConsolidationMethod, MemoryScope
from recollect.schemas.memory_terms import (
    CONSOLIDATION_LEVELS,
    MAX_CONSOLIDATION_LEVELS,
    Linkage,
    StoredMemoryType,
)
from recollect.schemas.wire import MemoryConsolidationReport, MemoryHits, MemoryLevel

_ID, _TEXT_ID = "01KR3XZBC0MTPV7D6B8F2Q9JXE", "01KR3XZBC0BAQNHSCT9EJ4NDPT"
_CONSOLIDATED = {
    **STORED_MEMORY,
    "memory_id": _ID,
    "first_id": _ID,
    "content": "tea (2 memories, 8 May 2026):\n[1, 2] 8 May 2026: Ada prefers tea.",
    "memory_type": "cluster",
    "abstraction_level": 1,
    "child_memory_ids": [_TEXT_ID],
    "consolidated_from": [_TEXT_ID],
}
_TAG = "memories"


@operation(
    "POST /stored-memories/consolidate",
    right="write",
    title="Consolidate memories",
    tag=_TAG,
    tool=Tool(
        title="Consolidate stored memories",
        description="Consolidate stored memories that are alike and close in time, or that meet "
        "criteria, into memories of a higher level. What is consolidated is archived: it stays "
        "readable, with an importance of 0.1.",
        idempotent=True,
        hidden=frozenset({"beta", "lambda_decay", "time_unit_hours", "linkage", "model"}),
    ),
    example=(
        {"method": "affinity"},
        {
            "levels": [
                {"level": 1, "memory_ids": [_ID], "archived": 2, "with_model": 0},
            ]
        },
    ),
)
def consolidate_memories(
    zone: OpenZone,
    *,
    method: Annotated[
        ConsolidationMethod,
        described(
            description="affinity: group memories that are alike and close in time; criteria: "
            "group all that the other arguments select."
        ),
    ] = "affinity",
    memory_type: Annotated[
        StoredMemoryType | None, described(description="Only texts of this type.")
    ] = None,
    scope: Annotated[
        MemoryScope | None, described(description="Only memories of this scope.")
    ] = None,
    namespace: Annotated[
        str | None, described(description="Only memories in exactly this namespace.")
    ] = None,
    namespace_prefix: Annotated[
        str | None, described(description="Only memories whose namespace begins with this text.")
    ] = None,
    importance_max: Annotated[
        float | None,
        described(
            minimum=0,
            maximum=1,
            description="Only texts whose effective importance is at most this.",
        ),
    ] = None,
    max_levels: Annotated[
        int,
        described(
            minimum=1,
            maximum=MAX_CONSOLIDATION_LEVELS,
            description="Maximum number of levels: consolidated memories are consolidated again.",
        ),
    ] = CONSOLIDATION_LEVELS,
    affinity_threshold: Annotated[
        float,
        described(minimum=0, maximum=1, description="The minimum affinity within a group."),
    ] = 0.85,
    beta: Annotated[
        float,
        described(
            minimum=0,
            maximum=1,
            description="Weight of similar meaning; that of closeness in time is 1 - beta.",
        ),
    ] = 0.7,
    lambda_decay: Annotated[
        float,
        described(minimum=0, description="Decay rate of the closeness in time, per time unit."),
    ] = 0.1,
    time_unit_hours: Annotated[
        float, described(minimum=0.001, description="Length of that time unit, in hours.")
    ] = 24.0,
    linkage: Annotated[
        Linkage,
        described(
            description="How the affinity of two clusters is computed from that of their memories."
        ),
    ] = "average",
    min_cluster_size: Annotated[
        int, described(minimum=2, maximum=50, description="The minimum size of a group.")
    ] = 2,
    model: Annotated[
        bool | None,
        described(
            description="Whether a language model also states what the memories say; by "
            "default, as the home is configured."
        ),
    ] = None,
) -> MemoryConsolidationReport:
    """Consolidate stored memories into memories of a higher level, level by level.

    Only memories with the same owner, visibility and namespace are combined. Their texts stay
    as they are; a consolidated memory quotes them, dated and numbered, as long as they exist.
    To undo a consolidation, delete the consolidated memory.

    Raises:
        UnknownZone: the zone has no events.
        InvalidInput: a value is invalid; the message names it.

    >>> from recollect.schemas.wire import MemoryInput
    >>> _ = zone.store_memories([MemoryInput(content=text, namespace="/tea") for text in (
    ...     "Ada drinks green tea.", "Ada drinks green tea at work.")])
    >>> made, = zone.consolidate_memories(method="criteria", namespace="/tea")
    >>> made.archived
    2
    """
    by = hierarchy.checked_affinity(
        max_levels,
        beta=beta,
        decay=lambda_decay,
        unit_hours=time_unit_hours,
        threshold=affinity_threshold,
        linkage=linkage,
        min_size=min_cluster_size,
    )
    criteria = hierarchy.criteria_of(
        memory_type=memory_type,
        scope=scope,
        namespace=namespace,
        namespace_prefix=namespace_prefix,
        importance_max=importance_max,
    )
    return hierarchy.consolidate_memories(
        zone, criteria, method=method, by=by, max_levels=max_levels, model=model
    )


@operation(
    "GET /stored-memories/{id}/children",
    right="read",
    title="Expand a memory",
    tag=_TAG,
    tool=Tool(
        verb="list",
        title="Expand a consolidated memory",
        description="List the memories that a consolidated one is made of, a level "
        f"below. {DATA_WARNING}",
        quotes_memories=True,
    ),
    example=(None, {"memories": [STORED_MEMORY]}),
)
def memory_children(zone: OpenZone, id: StoredId) -> MemoryLevel:
    """Return the memories that a memory consolidates, in order; an empty list if it is a text.

    Raises:
        UnknownId: no stored memory has this id.

    >>> made = zone.remember("The deploy key is in the blue safe.")
    >>> zone.memory_children(made.event_id).memories
    []
    """
    return hierarchy.children_of(zone, id)


@operation(
    "GET /stored-memories/{id}/ancestors",
    right="read",
    title="Collapse a memory",
    tag=_TAG,
    example=(None, {"memories": [_CONSOLIDATED]}),
)
def memory_ancestors(zone: OpenZone, id: StoredId) -> MemoryLevel:
    """Return the consolidated memories above a memory, the nearest first.

    Raises:
        UnknownId: no stored memory has this id.

    >>> made = zone.remember("The deploy key is in the blue safe.")
    >>> zone.memory_ancestors(made.event_id).memories
    []
    """
    return hierarchy.ancestors_of(zone, id)


@operation(
    "POST /stored-memories/search",
    right="read",
    title="Search stored memories",
    tag=_TAG,
    tool=Tool(
        title="Search stored memories by meaning",
        description="Search stored memories by meaning. Instead of a text that was consolidated, "
        f"the memory that consolidates it is returned. {DATA_WARNING}",
        quotes_memories=True,
        defaults={"max_results": 5},
        hidden=frozenset({"max_level"}),
    ),
    example=(
        {"query": "What does Ada drink?"},
        {"hits": [{"memory": _CONSOLIDATED, "score": 0.83, "matches": [_TEXT_ID]}]},
    ),
)
def search_memories(
    zone: OpenZone,
    query: Annotated[str, described(description="The question, in plain words, or keywords.")],
    *,
    prefer_abstracts: Annotated[
        bool,
        described(
            description="Instead of each text found, return the topmost memory that "
            "consolidates it."
        ),
    ] = True,
    max_level: Annotated[
        int | None, described(minimum=0, description="Return no memory above this level.")
    ] = None,
    max_results: MaxResults = 10,
) -> MemoryHits:
    """Return the stored memories that answer a question, best first.

    A consolidated text is replaced by the topmost memory that consolidates it; several texts under
    one memory are one hit.

    Raises:
        InvalidInput: the question or `max_results` is invalid.

    >>> _ = zone.remember("The deploy key is in the blue safe.")
    >>> [hit.memory.content for hit in zone.search_memories("Where is the deploy key?")]
    ['The deploy key is in the blue safe.']
    """
    return hierarchy.search(
        zone, query, prefer_abstracts=prefer_abstracts, max_level=max_level, max_results=max_results
    )


class HierarchyOperations:
    """The hierarchy of a zone's stored memories."""

    consolidate_memories = consolidate_memories
    memory_children = memory_children
    memory_ancestors = memory_ancestors
    search_memories = search_memories
