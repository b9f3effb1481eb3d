"""The tick that closes abandoned turns after an import."""

from __future__ import annotations

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.projections.events.event_queries import latest_time_before
from recollect.schemas.events import Tick
from recollect.streams.agents.turn_closer import ABANDONED_AFTER_MS, CLOSE_TURNS, turns_to_close
from recollect.streams.publishing.commands import command, publish_commands


def tick_if_abandoned(zone: OpenZone) -> bool:
    """Append a tick if any decided turn counts as abandoned; return whether one does.

    The clock only decides whether a tick is due. The time of the tick is computed from the latest
    event that is older than the timeout of turns. So the same events give the same tick, whenever
    and wherever they are imported.
    """
    until = unix_ms() - ABANDONED_AFTER_MS
    with zone.files() as files:
        number = files.memory.watermark().number
        events, memory = files.events.connection, files.memory.connection
        latest = latest_time_before(events, until)
        if latest is None:
            return False
        at = latest + ABANDONED_AFTER_MS + 1
        open_turns = turns_to_close(events, memory, number + 1, at)
    if not open_turns:
        return False
    # Two imports with unfinished turns may yield the same time; the number distinguishes their ids.
    tick = Tick(source_id=f"tick:{CLOSE_TURNS}:{at}:{number}", name=CLOSE_TURNS)
    ingested_at = max(at, *(last.ingested_at for _, last in open_turns))
    publish_commands(zone.node.ledger, zone.name, [command(tick, at, ingested_at=ingested_at)])
    return True
