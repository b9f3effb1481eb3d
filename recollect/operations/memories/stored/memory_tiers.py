"""The tiers of stored memories: their sizes, searches through them, archiving and restoring."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.home.open_zone import OpenZone
from recollect.operations.answers import recalling
from recollect.operations.ingestion.ingesting import command
from recollect.operations.memories.page_cursors import check_limit
from recollect.operations.memories.stored.memory_reading import listed
from recollect.operations.memories.stored.stored_memories import (
    distinct_ids,
    in_tier,
    with_ids,
    writable,
)
from recollect.projections.memory.listing import stored_memory_list as stored
from recollect.projections.memory.listing.stored_memory_list import MemoryFilter
from recollect.projections.memory.listing.tier_list import numbers_in, tier_counts
from recollect.schemas.events import ArchiveMemories
from recollect.schemas.memory_terms import TIERS, MemoryTier
from recollect.schemas.times import format_time
from recollect.schemas.wire import (
    ArchiveReport,
    RecentMemories,
    StoredMemory,
    TierEntry,
    TierHit,
    TierReport,
    TierSearch,
)
from recollect.streams.publishing.commands import random_id


def sizes(zone: OpenZone) -> TierReport:
    """Return how many memories each tier has."""
    limits = zone.open_home.home.configuration.tier_limits
    entries = [_entry(tier, 0, None, None, limits.main_capacity) for tier in TIERS]
    if zone.exists():
        with zone.files() as files, files.read_transaction():
            counts = tier_counts(files.memory.connection, zone.main_context(files))
        entries = [_entry(tier, *counts[tier], limits.main_capacity) for tier in TIERS]
    return TierReport(
        tiers=entries,
        memories=sum(entry.memories for entry in entries),
        recall_max_age_hours=limits.max_age_hours,
    )


def _entry(
    tier: MemoryTier, memories: int, oldest: int | None, newest: int | None, capacity: int
) -> TierEntry:
    limited = tier == "main"
    return TierEntry(
        tier=tier,
        memories=memories,
        capacity=capacity if limited else None,
        utilization=memories / capacity if limited else None,
        oldest=None if oldest is None else format_time(oldest),
        newest=None if newest is None else format_time(newest),
    )


def search(
    zone: OpenZone, query: str, *, max_results: int, min_score: float, cascade: bool
) -> TierSearch:
    """Search each tier; with `cascade`, only until there are `max_results` memories in all.

    Raises:
        InvalidInput: the query or a value is invalid.
    """
    fields = {"scope": ["events"], "min_score": min_score}
    by_tier: dict[MemoryTier, list[TierHit]] = {tier: [] for tier in TIERS}
    left = max_results
    for tier in TIERS:
        parsed = recalling.query_of(
            query, {**fields, "max_results": left if cascade else max_results}
        )
        recalling.check_query(parsed)
        if not zone.exists():
            continue
        with zone.files() as files, files.read_transaction():
            numbers = numbers_in(files.memory.connection, tier, zone.main_context(files))
        answer = recalling.recall_among(zone, parsed, numbers) if numbers else None
        results = [] if answer is None else answer.results
        memories = {
            memory.memory_id: memory for memory in with_ids(zone, [result.id for result in results])
        }
        by_tier[tier] = [
            TierHit(score=result.score, memory=memories[result.id])
            for result in results
            if result.id in memories
        ]
        left -= len(by_tier[tier])
        if cascade and left <= 0:
            break
    ids = [hit.memory.memory_id for hits in by_tier.values() for hit in hits]
    zone.open_home.count_memories(zone.name, ids)
    return TierSearch(**by_tier)


def recent(zone: OpenZone, max_results: int) -> RecentMemories:
    """Return the main context, most recently used first, then the newest of the recall store."""
    check_limit(max_results, "max_results")
    if not zone.exists():
        return RecentMemories(memories=[])
    with zone.files() as files, files.read_transaction():
        connection = files.memory.connection
        main = zone.main_context(files)[:max_results]
        rank = {id_: place for place, id_ in enumerate(main)}
        in_main = stored.memories(connection, MemoryFilter(ids=main), None, max_results)
        in_main.sort(key=lambda each: rank[each.memory.id])
        chosen = in_tier(zone, files, "recall", MemoryFilter(state="active"))
        others = stored.memories(connection, chosen, None, max_results - len(main))
        return RecentMemories(memories=listed(zone, files, [*in_main, *others]))


def _changes(memory: StoredMemory, restore: bool) -> bool:
    """Return whether a command moves a memory; a child of a consolidated memory stays archived."""
    is_bound = restore and memory.parent_memory_id is not None
    return memory.tier is not None and memory.is_archived == restore and not is_bound


def archive(zone: OpenZone, ids: Sequence[str], *, restore: bool) -> ArchiveReport:
    """Move memories to the archival store, or back, by one command.

    Raises:
        InvalidInput: there are none or too many.
    """
    ids = distinct_ids(ids)
    writable_ids = {memory.memory_id for memory in writable(zone, ids)} if zone.exists() else set()
    known = [id_ for id_ in ids if id_ in writable_ids]
    current = dict(zip(known, with_ids(zone, known, current=True), strict=True)) if known else {}
    changed = [id_ for id_ in known if _changes(current[id_], restore)]
    if changed:
        command(
            zone,
            ArchiveMemories(
                source_id=random_id("archive_memories"), memory_ids=tuple(changed), restore=restore
            ),
        )
    return ArchiveReport(
        changed=changed,
        unchanged=[id_ for id_ in known if id_ not in changed],
        unknown=[id_ for id_ in ids if id_ not in writable_ids],
    )
