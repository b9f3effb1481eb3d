"""The process that projects: turns are searchable at once, however long what is decided from them
takes, and however much is to be sequenced.
"""

from __future__ import annotations

from multiprocessing.connection import Connection

from streams.engine.node import Node
from streams.ledger.kafka.kafka_ledger import KafkaLedger
from streams.workers.processes import Opens, SideProcess, told
from streams.workers.upkeep import Report, WorkQueue


def projecting_process(opens: Opens, report: Report, projected: Connection) -> SideProcess:
    """Return a process that makes what the home's copy holds of zones searchable.

    It is told the zones (a collection of names), and sends each on through `projected`.
    """
    return SideProcess("that projects", opens, report, _Project(projected))


class _Project:
    """What the process does; it is made in the other one."""

    def __init__(self, projected: Connection) -> None:
        self._projected = projected

    def __call__(self, node: Node, ledger: KafkaLedger, report: Report, pipe: Connection) -> None:
        def project(zone: str) -> int:
            node.project_turns(zone)
            self._projected.send([zone])
            return 0

        queue = WorkQueue("project", 1, project, report)
        queue.start()
        while (zones := told(pipe)) is not None:
            queue.add(zones)
        queue.stop()
