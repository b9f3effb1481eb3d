"""The projecting process of a worker.

It is a separate process, so that turns are searchable at once, however long sequencing and deciding
take.
"""

from __future__ import annotations

from multiprocessing.connection import Connection

from recollect.streams.engine.node import Node
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.projecting.projector import OnZoneProgress
from recollect.streams.workers.processes import OpenNode, WorkerProcess, receive
from recollect.streams.workers.zone_maintenance import WorkQueue


def projecting_process(
    open_node: OpenNode, report: OnZoneProgress, projected: Connection
) -> WorkerProcess:
    """Return the process that projects the copied events of zones.

    It accepts messages that are collections of zone names. It sends the name of each projected zone
    to `projected`.
    """
    return WorkerProcess("projecting", open_node, report, _Project(projected))


class _Project:
    """The work of the process; created in the parent and pickled."""

    def __init__(self, projected: Connection) -> None:
        self._projected = projected

    def __call__(
        self, node: Node, ledger: KafkaLedger, report: OnZoneProgress, pipe: Connection
    ) -> None:
        def project(zone: str) -> int:
            node.project_turns(zone)
            self._projected.send([zone])
            return 0

        queue = WorkQueue("project", 1, project, report)
        queue.start()
        while (zones := receive(pipe)) is not None:
            queue.add(zones)
        queue.stop()
