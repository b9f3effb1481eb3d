"""The deciding process, so that deciding does not delay publishing."""

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

# New events must be searchable at once, even while the encoder keeps every core busy.
_NICENESS = 10


class OwnPartitions(NamedTuple):
    """A message: decide the zones of these partitions from now on, and of no others.

    Their events are in the home's copy up to the brokers' recent end, and the sender delivers the
    following ones.
    """

    partitions: frozenset[int]


def deciding_process(
    open_node: OpenNode, report: OnZoneProgress, projected: Connection
) -> WorkerProcess:
    """Return the process that maintains the zones; `projected` delivers zones with new events.

    Its messages are `OwnPartitions`.
    """
    return WorkerProcess("that decides", open_node, report, _Decide(projected))


class _Decide:
    """The work of the process; the object is created in the parent and pickled."""

    def __init__(self, projected: Connection) -> None:
        self._projected = projected

    def __call__(
        self, node: Node, ledger: KafkaLedger, report: OnZoneProgress, pipe: Connection
    ) -> None:
        os.nice(_NICENESS)
        maintenance = ZoneMaintenance(node, ledger, report, follow_all=False)
        # Receive from the start: the projecting process must not wait until this one is ready.
        threading.Thread(
            target=self._receive, args=(maintenance,), name="projected", daemon=True
        ).start()
        with maintenance:
            while (message := receive(pipe)) is not None:
                maintenance.set_partitions(message.partitions)

    def _receive(self, maintenance: ZoneMaintenance) -> None:
        # The pipe closes when the whole worker ends.
        with suppress(EOFError, OSError):
            while True:
                maintenance.add(self._projected.recv())
