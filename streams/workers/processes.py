"""The processes of a worker besides the main one, each with its own interpreter.

They are one worker: if one dies, the others end with the same status.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import apsw

from recollect.schemas.errors import RecollectError
from recollect.streams.engine.node import Node
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.workers.upkeep import Report

#: Opens the home's node again in the other process; it must pickle.
Opens = Callable[[], tuple[Node, KafkaLedger]]
#: The work of the other process. It gets the node, the ledger, the function to report to, and the
#: pipe of its messages, and ends when `receive` returns None.
Work = Callable[[Node, KafkaLedger, Report, Connection], None]

# How long stopping may take; work that is under way is finished in this time.
_STOP_SECONDS = 30.0


class WorkerProcess:
    """A process that does `work`, and gets its messages through a pipe. Use it as a context
    manager.
    """

    def __init__(self, name: str, opens: Opens, report: Report, work: Work) -> None:
        self._report = report
        self._ending = False
        self._sending = threading.Lock()
        # A fork would take the threads' locks along as they are.
        context = multiprocessing.get_context("spawn")
        self._pipe, self._on_broker = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(self._on_broker, opens, work), name=name, daemon=True
        )
        self._listening = threading.Thread(target=self._listen, name=f"of-{name}", daemon=True)

    def __enter__(self) -> WorkerProcess:
        self._process.start()
        # Else the pipe would not close with the process.
        self._on_broker.close()
        self._listening.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ending = True
        self.send(None)
        self._process.join(_STOP_SECONDS)
        # Whatever it waits for, nothing is lost by killing it.
        self._process.kill()
        self._process.join()
        self._listening.join()

    def send(self, message: object) -> None:
        """Send a message; None asks the process to end."""
        # If the other process is gone, the listener ends this one.
        with self._sending, suppress(OSError):
            self._pipe.send(message)

    def _listen(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                self._report(*self._pipe.recv())
        if not self._ending:
            self._end_as_it_ended()

    def _end_as_it_ended(self) -> None:
        self._process.join()
        status = self._process.exitcode or 1
        sys.stderr.write(
            f"recollect: the process {self._process.name} ended ({status}), and this worker with "
            "it, which loses nothing; start it again\n"
        )
        sys.stderr.flush()
        if status < 0:
            os.kill(os.getpid(), -status)
            # The first process of a container cannot be killed from inside.
            status = 128 - status
        os._exit(status)


def receive(pipe: Connection) -> Any:
    """Return the next message of the main process; None: it is time to end."""
    try:
        return pipe.recv()
    except (EOFError, OSError):
        # The main process was killed; end at once, so that its successor need not wait for a batch.
        os._exit(1)


def _serve(pipe: Connection, opens: Opens, work: Work) -> None:
    # Ctrl-C reaches every process; the main one asks the others to end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    sending = threading.Lock()

    def report(zone: str, moved: int | Exception) -> None:
        if isinstance(moved, Exception) and not isinstance(
            moved, RecollectError | OSError | apsw.Error
        ):
            # Not every error can be sent.
            moved = RecollectError(f"{type(moved).__name__}: {moved}")
        with sending, suppress(OSError):
            pipe.send((zone, moved))

    try:
        node, ledger = opens()
        try:
            work(node, ledger, report, pipe)
        finally:
            node.close()
    except RecollectError as error:
        report("", error)
        sys.exit(1)
