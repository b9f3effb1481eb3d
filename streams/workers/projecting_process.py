"""The process that folds: turns are searchable at once, however long what is concluded from them
takes, and however much is to be sequenced.
"""

from __future__ import annotations

from multiprocessing.connection import Connection

from streams.engine.node import Node
from streams.ledger.kafka import KafkaLedger
from streams.workers.keeper import Lane, Report
from streams.workers.processes import Beside, Opens, told


def folder(opens: Opens, report: Report, folded: Connection) -> Beside:
    """Return a process that makes what the home's copy holds of zones searchable.

    It is told the zones (a collection of names), and sends each on through `folded`.
    """
    return Beside("that folds", opens, report, _Fold(folded))


class _Fold:
    """What the process does; it is made in the other one."""

    def __init__(self, folded: Connection) -> None:
        self._folded = folded

    def __call__(self, node: Node, ledger: KafkaLedger, report: Report, pipe: Connection) -> None:
        def fold(zone: str) -> int:
            node.fold(zone)
            self._folded.send([zone])
            return 0

        lane = Lane("fold", 1, fold, report)
        lane.start()
        while (zones := told(pipe)) is not None:
            lane.add(zones)
        lane.stop()
