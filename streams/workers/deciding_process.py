"""The deciding process of a worker; as a separate process, it does not delay publishing."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NamedTuple

from recollect.streams.engine.node import Node
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.projecting.projector import OnZoneProgress
from recollect.streams.workers.processes import OpenNode, WorkerProcess, receive
from recollect.streams.workers.zone_maintenance import ZoneMaintenance

# The process runs at low priority, so that new events are searchable at once while the encoder is
# busy.
_NICENESS = 10


class OwnPartitions(NamedTuple):
    """A message: from now on, decide the zones of these partitions and no others.

    The local copy already has their events up to a recent offset. The sender announces zones with
    later events.
    """

    partitions: frozenset[int]


def deciding_process(
    open_node: OpenNode, report: OnZoneProgress, zone_announcements: Connection
) -> WorkerProcess:
    """Return the process that maintains the zones; it accepts messages of type `OwnPartitions`.

    `zone_announcements` delivers the names of zones with new events.
    """
    return WorkerProcess("deciding", open_node, report, _Decide(zone_announcements))


class _Decide:
    """The work of the process; created in the parent and pickled."""

    def __init__(self, zone_announcements: Connection) -> None:
        self._zone_announcements = zone_announcements

    def __call__(
        self, node: Node, ledger: KafkaLedger, report: OnZoneProgress, pipe: Connection
    ) -> None:
        os.nice(_NICENESS)
        maintenance = ZoneMaintenance(node, ledger, report, follow_all=False)
        # Receive from the start, so that the projecting process never waits for this process.
        threading.Thread(
            target=self._receive, args=(maintenance,), name="zone-announcements", daemon=True
        ).start()
        with maintenance:
            while (message := receive(pipe)) is not None:
                maintenance.set_partitions(message.partitions)

    def _receive(self, maintenance: ZoneMaintenance) -> None:
        # The pipe closes when the worker exits.
        with suppress(EOFError, OSError):
            while True:
                maintenance.add(self._zone_announcements.recv())
