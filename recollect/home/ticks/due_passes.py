"""The daily passes of a zone: due once a day of the zone's own time."""

from __future__ import annotations

from recollect.home.ticks.due_consolidation import consolidates
from recollect.projections.events.event_queries import time_of_zone
from recollect.projections.memory.pass_queries import last_pass
from recollect.schemas.events import Tick
from recollect.streams.agents.consolidation.daily_passes import TEMPORAL, has_work
from recollect.streams.engine.node import Node
from recollect.streams.publishing.commands import command, publish_commands

_DAY_MS, _HOUR_MS = 86_400_000, 3_600_000
#: The hour of a home whose daily passes are off.
OFF = -1


def pass_if_due(node: Node, zone: str, hour: int, *, asked: bool = False) -> bool:
    """Append the tick of the first daily pass if it is due; return whether it is.

    It is due once a day if the passes have something to consider. The zone's time is the time of
    its latest message. A day begins at `hour` (UTC). `asked`: somebody asks for the passes, so they
    are due.
    """
    if not consolidates(node, zone):
        return False
    if hour == OFF and not asked:
        return False
    with node.open(zone, node.current(zone)) as files:
        number = files.memory.watermark().number
        now = time_of_zone(files.events.connection)
        if not number:
            return False
        if not asked:
            last = last_pass(files.memory.connection, TEMPORAL)
            if last is not None and _day(now, hour) <= _day(last, hour):
                return False
            if not has_work(files.events.connection, files.memory.connection, now, number + 1):
                return False
    tick = Tick(source_id=f"tick:{TEMPORAL}:{now}:{number}", name=TEMPORAL)
    publish_commands(node.ledger, zone, [command(tick, now, ingested_at=now)])
    return True


def _day(at: int, hour: int) -> int:
    return (at - hour * _HOUR_MS) // _DAY_MS
