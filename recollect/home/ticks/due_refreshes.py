"""Refreshes of mental models: when an import or a worker asks for them."""

from __future__ import annotations

from recollect.projections.events.event_queries import latest_ingestion
from recollect.schemas.events import RefreshModels
from recollect.streams.agents.mental_models.due_models import due_models
from recollect.streams.agents.mental_models.mental_model_handler import MentalModelHandler
from recollect.streams.engine.node import Node
from recollect.streams.publishing.commands import command, publish_commands


def refresh_due_models(node: Node, zone: str, min_facts: int, at: int | None = None) -> bool:
    """Append a command that refreshes the mental models due at a time (unix ms).

    Return whether any is due. `min_facts`: the number of facts from which an entity gets a profile;
    0: no profiles. `at` None: the time of the latest event, so that the same events give the same
    command whenever and wherever they are imported.
    """
    if not any(isinstance(agent, MentalModelHandler) for agent in node.agents):
        return False
    with node.open(zone, node.current(zone)) as files:
        number = files.memory.watermark().number
        now = latest_ingestion(files.events.connection) if at is None else at
        if next(due_models(files.memory.connection, min_facts, now), None) is None:
            return False
    asks = RefreshModels(source_id=f"refresh-models:{now}:{number}", min_facts=min_facts)
    publish_commands(node.ledger, zone, [command(asks, now, ingested_at=now)])
    return True
