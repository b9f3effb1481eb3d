"""The process that decides, so that deciding does not delay publishing."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NamedTuple

from recollect.streams.engine.node import Node
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.workers.processes import Opens, WorkerProcess, receive
from recollect.streams.workers.upkeep import Report, Upkeep

# New events must be searchable at once, even while the encoder keeps every core busy.
_NICENESS = 10


class OwnPartitions(NamedTuple):
    """A message: decide the zones of these partitions from now on, and of no others.

    Their events are in the home's copy up to the brokers' end of a moment ago, and the sender
    delivers what follows.
    """

    partitions: frozenset[int]


def deciding_process(opens: Opens, report: Report, projected: Connection) -> WorkerProcess:
    """Return the process that does the upkeep; `projected` delivers zones that have new events.

    Its messages, `OwnPartitions`, say which partitions it owns.
    """
    return WorkerProcess("that decides", opens, report, _Decide(projected))


class _Decide:
    """The work of the process; the object is created in the parent and pickled."""

    def __init__(self, projected: Connection) -> None:
        self._projected = projected

    def __call__(self, node: Node, ledger: KafkaLedger, report: Report, pipe: Connection) -> None:
        os.nice(_NICENESS)
        upkeep = Upkeep(node, ledger, report, everything=False)
        # Receive from the start: the projecting process must not wait until this one is ready.
        threading.Thread(
            target=self._receive, args=(upkeep,), name="projected", daemon=True
        ).start()
        with upkeep:
            while (message := receive(pipe)) is not None:
                upkeep.own(message.partitions)

    def _receive(self, upkeep: Upkeep) -> None:
        # The pipe closes only when the whole worker ends.
        with suppress(EOFError, OSError):
            while True:
                upkeep.add(self._projected.recv())
