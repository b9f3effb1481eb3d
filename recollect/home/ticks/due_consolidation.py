"""Consolidation without a worker: an import appends a tick at its end."""

from __future__ import annotations

from recollect.home.open_zone import OpenZone
from recollect.projections.events.event_queries import latest_ingestion
from recollect.projections.memory.cluster_queries import has_changed_clusters
from recollect.schemas.events import Tick
from recollect.streams.agents.consolidator import CONSOLIDATE, Consolidator
from recollect.streams.publishing.commands import command, publish_commands


def consolidate_imported(zone: OpenZone) -> None:
    """Append a tick if facts were added to a cluster, and decide it with the commands it causes."""
    node = zone.node
    if (
        not zone.open_home.home.configuration.ticks
        or zone.open_home.has_follower
        or node.ledger.workers()
        or not zone.exists()
        or not any(isinstance(agent, Consolidator) for agent in node.agents)
    ):
        return
    if tick_if_changed(zone):
        zone.decide()


def tick_if_changed(zone: OpenZone) -> bool:
    """Append a tick if facts were added to a cluster, or changed; return whether.

    The tick has the time of the latest event, so that the same events give the same tick whenever
    and wherever they are imported.
    """
    with zone.files() as files:
        if not has_changed_clusters(files.memory.connection):
            return False
        number = files.memory.watermark().number
        at = latest_ingestion(files.events.connection)
    tick = Tick(source_id=f"tick:{CONSOLIDATE}:{at}:{number}", name=CONSOLIDATE)
    publish_commands(zone.node.ledger, zone.name, [command(tick, at, ingested_at=at)])
    return True
