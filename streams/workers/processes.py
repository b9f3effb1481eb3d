"""The child processes of a worker, each with an interpreter of its own.

If one of them exits, the worker exits with its status.
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
from recollect.streams.projecting.projector import OnZoneProgress

#: Opens the home's node in the child process. It must be possible to pickle it.
OpenNode = Callable[[], tuple[Node, KafkaLedger]]
#: The main function of a child process: it gets the node, the ledger, a function to report to, and
#: the pipe with its messages, and returns when `receive` returns None.
Work = Callable[[Node, KafkaLedger, OnZoneProgress, Connection], None]

# How long a stopping process may take to finish its current work.
_STOP_SECONDS = 30.0


class WorkerProcess:
    """A context manager for a child process that runs `work` and gets messages through a pipe."""

    def __init__(self, name: str, open_node: OpenNode, report: OnZoneProgress, work: Work) -> None:
        self._report = report
        self._stopping = False
        self._send_lock = threading.Lock()
        # A fork would copy locks that threads hold.
        context = multiprocessing.get_context("spawn")
        self._pipe, self._child_end = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(self._child_end, open_node, work), name=name, daemon=True
        )
        self._listener = threading.Thread(target=self._listen, name=f"{name}-listener", daemon=True)

    def __enter__(self) -> WorkerProcess:
        self._process.start()
        # If this end stayed open here, the pipe would not close when the process exits.
        self._child_end.close()
        self._listener.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopping = True
        self.send(None)
        self._process.join(_STOP_SECONDS)
        # Killing it loses nothing, whatever it is doing.
        self._process.kill()
        self._process.join()
        self._listener.join()

    def send(self, message: object) -> None:
        """Send a message; None asks the process to end."""
        # If the child has exited, the listener makes this process exit.
        with self._send_lock, suppress(OSError):
            self._pipe.send(message)

    def _listen(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                self._report(*self._pipe.recv())
        if not self._stopping:
            self._exit_with_child_status()

    def _exit_with_child_status(self) -> None:
        self._process.join()
        status = self._process.exitcode or 1
        sys.stderr.write(
            f"recollect: the {self._process.name} process exited ({status}), so this worker exits "
            "too; nothing is lost, start it again\n"
        )
        sys.stderr.flush()
        if status < 0:
            os.kill(os.getpid(), -status)
            # PID 1 of a container ignores signals from inside it.
            status = 128 - status
        os._exit(status)


def receive(pipe: Connection) -> Any:
    """Return the next message of the main process, or None if the child should stop."""
    try:
        return pipe.recv()
    except (EOFError, OSError):
        # The main process was killed: exit at once, so that its successor need not wait until the
        # current batch is done.
        os._exit(1)


def _serve(pipe: Connection, open_node: OpenNode, work: Work) -> None:
    # Ctrl-C reaches every process; the main one stops the others.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    send_lock = threading.Lock()

    def report(zone: str, result: int | Exception) -> None:
        if isinstance(result, Exception) and not isinstance(
            result, RecollectError | OSError | apsw.Error
        ):
            # Not every exception can be pickled.
            result = RecollectError(f"{type(result).__name__}: {result}")
        with send_lock, suppress(OSError):
            pipe.send((zone, result))

    try:
        node, ledger = open_node()
        try:
            work(node, ledger, report, pipe)
        finally:
            node.close()
    except RecollectError as error:
        report("", error)
        sys.exit(1)
