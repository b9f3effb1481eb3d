"""Operations on the tiers of stored memories: main context, recall store and archival store."""

from __future__ import annotations

from typing import Annotated

from recollect.home.open_zone import OpenZone
from recollect.operations.memories.stored import memory_tiers as tiers
from recollect.operations.table.answer_operations import DATA_WARNING
from recollect.operations.table.memories.stored_memory_operations import STORED_MEMORY, StoredIds
from recollect.operations.table.operation import LONG_TEXT, Tool, operation
from recollect.operations.table.parameters import MaxResults, described
from recollect.projections.recall.question.query import MAX_QUERY_LENGTH
from recollect.schemas.wire import ArchiveReport, RecentMemories, TierReport, TierSearch

_AT = "2026-05-08T13:56:00.000Z"
_ID = "01KR3XZBC0BAQNHSCT9EJ4NDPT"
_ARCHIVED = {
    **STORED_MEMORY,
    "tier": "archival",
    "is_archived": True,
    "archived_at": _AT,
    "archive_cause": "age",
}
_TIERS = {
    "tiers": [
        {"tier": "main", "memories": 100, "capacity": 100, "utilization": 1.0},
        {"tier": "recall", "memories": 12},
        {"tier": "archival", "memories": 340, "oldest": _AT, "newest": _AT},
    ],
    "memories": 452,
    "recall_max_age_hours": 24.0,
}


@operation(
    "GET /stored-memories/tiers",
    right="read",
    title="Tiers of stored memories",
    tag="memories",
    tool=Tool(
        verb="get",
        title="Sizes of the tiers of stored memories",
        description="Get how many stored memories are in the main context, in the recall store "
        f"and in the archival store. {DATA_WARNING}",
    ),
    example=(None, _TIERS),
)
def memory_tiers(zone: OpenZone) -> TierReport:
    """Return how many memories are in each tier, and how full the main context is.

    >>> _ = zone.remember("Ada prefers tea.")
    >>> [(tier.tier, tier.memories) for tier in zone.memory_tiers().tiers]
    [('main', 1), ('recall', 0), ('archival', 0)]
    """
    return tiers.sizes(zone)


@operation(
    "GET /stored-memories/recent",
    right="read",
    title="Recent stored memories",
    tag="memories",
    tool=Tool(
        verb="list",
        title="Recently used stored memories",
        description="List the stored memories in the main context, the most recently used first, "
        f"and then the newest of the recall store. {DATA_WARNING}",
        quotes_memories=True,
        defaults={"max_results": 20},
    ),
    example=(None, {"memories": [STORED_MEMORY | {"tier": "main"}]}),
)
def recent_memories(zone: OpenZone, *, max_results: MaxResults = 50) -> RecentMemories:
    """Return the main context, most recently used first, then the newest of the recall store.

    Raises:
        InvalidInput: `max_results` is out of range.

    >>> _ = zone.remember("Ada prefers tea.")
    >>> [memory.content for memory in zone.recent_memories()]
    ['Ada prefers tea.']
    """
    return tiers.recent(zone, max_results)


@operation(
    "POST /stored-memories/tiers/search",
    right="read",
    title="Search the tiers",
    tag="memories",
    tool=Tool(
        title="Search stored memories by tier",
        description="Search stored memories by meaning in each tier: main context, recall store, "
        f"archival store. {DATA_WARNING}",
        quotes_memories=True,
        max_text_length=LONG_TEXT,
    ),
    example=(
        {"query": "What does Ada drink?"},
        {"main": [], "recall": [], "archival": [{"score": 0.8, "memory": _ARCHIVED}]},
    ),
)
def search_tiers(
    zone: OpenZone,
    query: Annotated[
        str,
        described(
            maxLength=MAX_QUERY_LENGTH, description="A question in plain words, or keywords."
        ),
    ],
    *,
    max_results: Annotated[
        int,
        described(
            minimum=1, maximum=1_000, description="Maximum number of results from each tier."
        ),
    ] = 10,
    min_score: Annotated[
        float, described(minimum=0, maximum=1, description="Only results with at least this score.")
    ] = 0.0,
    cascade: Annotated[
        bool,
        described(
            description="Search the tiers in order, and stop at `max_results` memories in all."
        ),
    ] = False,
) -> TierSearch:
    """Search the stored memories of each tier, best first.

    Raises:
        InvalidInput: the query or a value is invalid.

    >>> _ = zone.remember("Ada prefers tea.")
    >>> [hit.memory.content for hit in zone.search_tiers("What does Ada prefer?").main]
    ['Ada prefers tea.']
    """
    return tiers.search(zone, query, max_results=max_results, min_score=min_score, cascade=cascade)


@operation(
    "POST /stored-memories/archive",
    right="write",
    title="Archive or restore",
    tag="memories",
    tool=Tool(
        title="Archive or restore stored memories",
        description="Move stored memories to the archival store, or back into the main context. "
        "What is archived is still found.",
        idempotent=True,
    ),
    example=({"ids": [_ID]}, {"changed": [_ID], "unchanged": [], "unknown": []}),
)
def archive_memories(
    zone: OpenZone,
    ids: StoredIds,
    *,
    restore: Annotated[
        bool, described(description="Move them back from the archival store.")
    ] = False,
) -> ArchiveReport:
    """Move memories to the archival store, or back into the main context, in one command.

    What is archived is still found by recall. A new version of an archived memory is not archived.

    Raises:
        InvalidInput: there are no ids, or too many.

    >>> made = zone.remember("Ada prefers tea.")
    >>> zone.archive_memories([made.event_id]).changed == [made.event_id]
    True
    >>> zone.stored_memory(made.event_id).tier
    'archival'
    """
    return tiers.archive(zone, ids, restore=restore)


class TierOperations:
    """The tiers of the stored memories of a zone."""

    memory_tiers = memory_tiers
    recent_memories = recent_memories
    search_tiers = search_tiers
    archive_memories = archive_memories
