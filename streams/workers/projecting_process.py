"""The process that projects, so that turns are searchable at once, however long sequencing and
deciding take.
"""

from __future__ import annotations

from multiprocessing.connection import Connection

from recollect.streams.engine.node import Node
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.workers.processes import Opens, WorkerProcess, receive
from recollect.streams.workers.upkeep import Report, WorkQueue


def projecting_process(opens: Opens, report: Report, projected: Connection) -> WorkerProcess:
    """Return a process that makes the copied events of zones searchable.

    Its messages are collections of zones' names; it sends each name on through `projected`.
    """
    return WorkerProcess("that projects", opens, report, _Project(projected))


class _Project:
    """The work of the process; the object is created in the parent and pickled."""

    def __init__(self, projected: Connection) -> None:
        self._projected = projected

    def __call__(self, node: Node, ledger: KafkaLedger, report: Report, pipe: Connection) -> None:
        def project(zone: str) -> int:
            node.project_turns(zone)
            self._projected.send([zone])
            return 0

        queue = WorkQueue("project", 1, project, report)
        queue.start()
        while (zones := receive(pipe)) is not None:
            queue.add(zones)
        queue.stop()
