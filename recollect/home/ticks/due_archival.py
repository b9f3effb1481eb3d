"""The archival of stored memories that expired, or were long unused."""

from __future__ import annotations

from recollect.home.ticks.memory_clusters import archival_drafts
from recollect.projections.events.event_queries import latest_ingestion
from recollect.projections.memory.listing.tier_list import due_memories
from recollect.schemas.events import ArchiveMemories
from recollect.schemas.memory_terms import TierLimits
from recollect.streams.agents.memories.memory_keeper import MemoryKeeper
from recollect.streams.engine.node import Node
from recollect.streams.publishing.commands import command, publish_commands

#: The maximum number of memories in a command.
ARCHIVE_BATCH_LIMIT = 50


def archive_if_due(node: Node, zone: str, limits: TierLimits, at: int | None = None) -> bool:
    """Append commands that archive the memories due at a time (unix ms); return whether any is due.

    Archived memories are consolidated by affinity.

    `at` None: the time of the latest event, so that the same events give the same commands whenever
    and wherever they are imported.
    """
    if not any(isinstance(agent, MemoryKeeper) for agent in node.agents):
        return False
    with node.open(zone, node.current(zone)) as files:
        number = files.memory.watermark().number
        now = latest_ingestion(files.events.connection) if at is None else at
        due = due_memories(files.memory.connection, now, limits)
        archived = [id_ for ids in due.values() for id_ in ids]
        consolidations = archival_drafts(files, archived, now) if archived else []
    drafts = [
        command(
            ArchiveMemories(
                source_id=f"archive:{cause}:{now}:{number}:{first}",
                memory_ids=tuple(ids[first : first + ARCHIVE_BATCH_LIMIT]),
                cause=cause,
            ),
            now,
            ingested_at=now,
        )
        for cause, ids in due.items()
        for first in range(0, len(ids), ARCHIVE_BATCH_LIMIT)
    ]
    publish_commands(node.ledger, zone, [*drafts, *consolidations])
    return bool(drafts)
