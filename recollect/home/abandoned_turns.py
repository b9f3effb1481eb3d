"""Ends turns that nobody ended, where no worker does: at the end of an import, with a tick."""

from __future__ import annotations

from recollect.home.open_zone import OpenZone, unix_ms
from recollect.projections.events.event_queries import latest_before
from recollect.schemas.events import Tick
from recollect.streams.agents.turn_closer import ABANDONED_AFTER_MS, CLOSE_TURNS, turns_to_close
from recollect.streams.publishing.commands import command, publish_commands


def end_abandoned_turns(zone: OpenZone) -> None:
    """Put a tick into the ledger where decided turns were abandoned by now, and decide them.

    The clock only says whether one is due. The tick itself has the time of the last event that is
    old enough: the same events give the same tick, whenever and wherever they are imported.
    """
    node = zone.node
    if (
        not zone.open_home.home.configuration.ticks
        or zone.open_home.followed
        or node.ledger.workers()
        or not zone.exists()
    ):
        return
    until = unix_ms() - ABANDONED_AFTER_MS
    with zone.files() as files:
        number = files.memory.watermark().number
        events, memory = files.events.connection, files.memory.connection
        latest = latest_before(events, until)
        if latest is None:
            return
        at = latest + ABANDONED_AFTER_MS + 1
        waiting = turns_to_close(events, memory, number + 1, at)
    if not waiting:
        return
    # The second import with unfinished turns may end at the same time as the first.
    tick = Tick(source_id=f"tick:{CLOSE_TURNS}:{at}:{number}", name=CLOSE_TURNS)
    known = max(at, *(last.ingested_at for _, last in waiting))
    publish_commands(node.ledger, zone.name, [command(tick, at, ingested_at=known)])
    zone.decide()
