"""The process that decides: nothing that thinks holds up what is published meanwhile."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NamedTuple

from streams.engine.node import Node
from streams.ledger.kafka.kafka_ledger import KafkaLedger
from streams.workers.processes import Opens, SideProcess, told
from streams.workers.upkeep import Report, Upkeep

# What is published is to be found at once, also while the encoder has every core to do.
_NICENESS = 10


class Own(NamedTuple):
    """Decide the zones of these partitions from now on, and of no others.

    Their events are in the home's copy up to what the brokers had a moment ago, and whoever says
    so brings what comes.
    """

    partitions: frozenset[int]


def deciding_process(opens: Opens, report: Report, projected: Connection) -> SideProcess:
    """Return the upkeep in a process of its own; `projected` brings zones that have new events.

    It is told which partitions it owns: `Own`.
    """
    return SideProcess("that decides", opens, report, _Decide(projected))


class _Decide:
    """What the process does; it is made in the other one."""

    def __init__(self, projected: Connection) -> None:
        self._projected = projected

    def __call__(self, node: Node, ledger: KafkaLedger, report: Report, pipe: Connection) -> None:
        os.nice(_NICENESS)
        upkeep = Upkeep(node, ledger, report, everything=False)
        # From the start: whoever projects does not wait until all is ready here.
        threading.Thread(target=self._hear, args=(upkeep,), name="projected", daemon=True).start()
        with upkeep:
            while (message := told(pipe)) is not None:
                upkeep.own(message.partitions)

    def _hear(self, upkeep: Upkeep) -> None:
        # Its end is that of all of them.
        with suppress(EOFError, OSError):
            while True:
                upkeep.add(self._projected.recv())
