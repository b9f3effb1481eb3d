"""The tick of consolidation after an import."""

from __future__ import annotations

from recollect.home.open_zone import OpenZone
from recollect.projections.events.event_queries import latest_ingestion
from recollect.schemas.events import Tick
from recollect.streams.agents.consolidation.consolidator import (
    CONSOLIDATE,
    Consolidator,
    clusters_to_consolidate,
)
from recollect.streams.engine.node import Node
from recollect.streams.publishing.commands import command, publish_commands


def consolidates(node: Node, zone: str) -> bool:
    """Return whether a zone's agents consolidate facts into observations."""
    agents = node.agents_of(node.current(zone))
    return any(isinstance(agent, Consolidator) for agent in agents)


def tick_if_changed(zone: OpenZone) -> bool:
    """Append a tick if an observation is due; return whether one is.

    The tick has the time of the latest event, so that the same events give the same tick whenever
    and wherever they are imported.
    """
    if not consolidates(zone.node, zone.name):
        return False
    with zone.files() as files:
        if not clusters_to_consolidate(files.memory.connection):
            return False
        number = files.memory.watermark().number
        at = latest_ingestion(files.events.connection)
    tick = Tick(source_id=f"tick:{CONSOLIDATE}:{at}:{number}", name=CONSOLIDATE)
    publish_commands(zone.node.ledger, zone.name, [command(tick, at, ingested_at=at)])
    return True
