"""The processes of a worker besides the one that takes in, each with an interpreter to itself.

All of them are one worker: where one dies, the others die of the same.
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

from schemas.errors import RecollectError
from streams.engine.node import Node
from streams.ledger.kafka.kafka_ledger import KafkaLedger
from streams.workers.upkeep import Report

#: Opens the node of the home again, in the other process; it must pickle.
Opens = Callable[[], tuple[Node, KafkaLedger]]
#: What the other process does: is given the node, the ledger, whom to report to, and the pipe
#: from which it is told what to do, until `told` returns None.
Work = Callable[[Node, KafkaLedger, Report, Connection], None]

# The longest that its end may take; what is under way is finished in it.
_STOP_SECONDS = 30.0


class SideProcess:
    """A process that does `work`, told so through a pipe. Use it as a context manager."""

    def __init__(self, name: str, opens: Opens, report: Report, work: Work) -> None:
        self._report = report
        self._ending = False
        self._sending = threading.Lock()
        # A fork would take the threads' locks along as they are.
        context = multiprocessing.get_context("spawn")
        self._pipe, self._there = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(self._there, opens, work), name=name, daemon=True
        )
        self._listening = threading.Thread(target=self._listen, name=f"of-{name}", daemon=True)

    def __enter__(self) -> SideProcess:
        self._process.start()
        # Else the pipe would not end with the process.
        self._there.close()
        self._listening.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ending = True
        self.tell(None)
        self._process.join(_STOP_SECONDS)
        # Whatever it hangs on: nothing is lost by it.
        self._process.kill()
        self._process.join()
        self._listening.join()

    def tell(self, message: object) -> None:
        """Send a message; None: end."""
        # Where nobody is there any more, the listener ends this process.
        with self._sending, suppress(OSError):
            self._pipe.send(message)

    def _listen(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                self._report(*self._pipe.recv())
        if not self._ending:
            self._end_like_it()

    def _end_like_it(self) -> None:
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


def told(pipe: Connection) -> Any:
    """Return the next message of the process that takes in; None: it is time to end."""
    try:
        return pipe.recv()
    except (EOFError, OSError):
        # Killed, and so is this: whoever takes its place does not wait for a batch to end.
        os._exit(1)


def _serve(pipe: Connection, opens: Opens, work: Work) -> None:
    # Ctrl-C goes to all of them, and the one that takes in tells the others.
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
