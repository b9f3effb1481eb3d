"""The embedded worker: concludes what other processes publish, in every zone."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import apsw

from recollect.home import Home
from recollect.ledgers import open_node
from schemas.errors import RecollectError
from schemas.events import Draft, Tick
from streams.agents.ticks import CLOSE_TURNS, turns_to_close
from streams.ledger import EVENTS, PARTITIONS
from streams.node import Node

_TICK_SECONDS = 300


def work(home: Home, *, once: bool = False) -> Iterator[tuple[str, int | Exception]]:
    """Drive every zone as its ledger grows; yield (zone, records concluded) whenever some were.

    A zone that cannot be driven is yielded with the error, and the others go on.

    RECOLLECT_TICKS=off keeps it from appending ticks.
    """
    node = open_node(home)
    ticking = os.environ.get("RECOLLECT_TICKS", "on") != "off"
    ticked: dict[str, int] = {}
    try:
        while True:
            ends = {(EVENTS, part): node.ledger.end(EVENTS, part) for part in range(PARTITIONS)}
            for zone in node.ledger.zones():
                if ticking and not once:
                    _tick(node, zone, ticked)
                try:
                    decided: int | Exception = node.drive(zone)
                except (RecollectError, apsw.Error) as error:
                    decided = error
                if decided:
                    yield zone, decided
            if once:
                return
            node.ledger.wait(ends, _TICK_SECONDS)
    finally:
        node.close()


def _tick(node: Node, zone: str, ticked: dict[str, int]) -> None:
    """Append the period's tick to a zone that has changed, or has a turn that nobody ended."""
    period = int(time.time()) // _TICK_SECONDS
    at = period * _TICK_SECONDS * 1_000
    with node.open(zone, node.current(zone)) as files:
        number = files.memory.watermark().number
        waiting = turns_to_close(files.events.connection, files.memory.connection, number + 1, at)
    if ticked.get(zone) == number and not waiting:
        return
    receipts = node.ledger.publish(
        zone,
        [
            Draft(
                platform="recollect",
                occurred_at=at,
                ingested_at=at,
                payload=Tick(source_id=f"tick:{CLOSE_TURNS}:{period}", name=CLOSE_TURNS),
            )
        ],
    )
    ticked[zone] = receipts[0].number
