"""The process that concludes: nothing that thinks holds up what is published meanwhile."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NamedTuple

from streams.engine.node import Node
from streams.ledger.kafka import KafkaLedger
from streams.workers.keeper import Keeper, Report
from streams.workers.processes import Beside, Opens, told

# What is published is to be found at once, also while the encoder has every core to do.
_NICENESS = 10


class Own(NamedTuple):
    """Conclude the zones of these partitions from now on, and of no others.

    Their events are in the home's copy up to what the brokers had a moment ago, and whoever says
    so brings what comes.
    """

    partitions: frozenset[int]


def concluder(opens: Opens, report: Report, folded: Connection) -> Beside:
    """Return a keeper in a process of its own; `folded` brings zones that have new events.

    It is told which partitions it owns: `Own`.
    """
    return Beside("that concludes", opens, report, _Conclude(folded))


class _Conclude:
    """What the process does; it is made in the other one."""

    def __init__(self, folded: Connection) -> None:
        self._folded = folded

    def __call__(self, node: Node, ledger: KafkaLedger, report: Report, pipe: Connection) -> None:
        os.nice(_NICENESS)
        keeper = Keeper(node, ledger, report, everything=False)
        # From the start: whoever folds does not wait until all is ready here.
        threading.Thread(target=self._hear, args=(keeper,), name="folded", daemon=True).start()
        with keeper:
            while (message := told(pipe)) is not None:
                keeper.own(message.partitions)

    def _hear(self, keeper: Keeper) -> None:
        # Its end is that of all of them.
        with suppress(EOFError, OSError):
            while True:
                keeper.add(self._folded.recv())
