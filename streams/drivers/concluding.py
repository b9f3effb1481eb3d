"""The process that concludes, beside the one that takes in: what is published is sequenced and
searchable at once, because nothing that thinks holds up its interpreter.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NamedTuple

from schemas.errors import RecollectError
from streams.keeping import Keeper, Report
from streams.ledger.kafka import KafkaLedger
from streams.node import Node

#: Opens the node of the home again, in the other process; it must pickle.
Opens = Callable[[], tuple[Node, KafkaLedger]]

# What is published is to be found at once, also while the encoder has every core to do.
_NICENESS = 10
# The longest that its end may take; a batch under way is finished in it.
_STOP_SECONDS = 30.0


class _Own(NamedTuple):
    partitions: frozenset[int]


class _Grown(NamedTuple):
    zones: frozenset[str]


class Concluder:
    """A keeper in a process of its own. Use it as a context manager.

    The two are one worker: where that process dies, this one dies of the same.
    """

    def __init__(self, opens: Opens, report: Report) -> None:
        self._report = report
        self._ending = False
        self._sending = threading.Lock()
        # A fork would take the threads' locks along as they are.
        context = multiprocessing.get_context("spawn")
        self._pipe, self._there = context.Pipe()
        self._process = context.Process(
            target=_conclude, args=(self._there, opens), name="conclude", daemon=True
        )
        self._listening = threading.Thread(target=self._listen, name="reports", daemon=True)

    def __enter__(self) -> Concluder:
        self._process.start()
        # Else the pipe would not end with the process.
        self._there.close()
        self._listening.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ending = True
        self._send(None)
        self._process.join(_STOP_SECONDS)
        # Whatever it hangs on: nothing is lost by it.
        self._process.kill()
        self._process.join()
        self._listening.join()

    def own(self, partitions: Collection[int]) -> None:
        """Conclude the zones of these partitions from now on, and of no others.

        Their events are in the home's copy up to what the brokers had a moment ago, and whoever
        calls this brings what comes.
        """
        self._send(_Own(frozenset(partitions)))

    def grown(self, zones: Iterable[str]) -> None:
        """Note that zones have events that are to be concluded."""
        self._send(_Grown(frozenset(zones)))

    def _send(self, message: _Own | _Grown | None) -> None:
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
            f"recollect: the process that concludes ended ({status}), and this worker with it, "
            "which loses nothing; start it again\n"
        )
        sys.stderr.flush()
        if status < 0:
            os.kill(os.getpid(), -status)
            # The first process of a container cannot be killed from inside.
            status = 128 - status
        os._exit(status)


def _conclude(pipe: Connection, opens: Opens) -> None:
    """Be that process until the other says so, or is gone."""
    # Ctrl-C goes to both, and the other one tells.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.nice(_NICENESS)
    sending = threading.Lock()

    def report(zone: str, moved: int | Exception) -> None:
        with sending, suppress(OSError):
            pipe.send((zone, moved))

    try:
        node, ledger = opens()
        try:
            with Keeper(node, ledger, report, everything=False) as keeper:
                while (message := _next(pipe)) is not None:
                    if isinstance(message, _Own):
                        keeper.own(message.partitions)
                    else:
                        keeper.add(message.zones)
        finally:
            node.close()
    except RecollectError as error:
        report("", error)
        sys.exit(1)


def _next(pipe: Connection) -> _Own | _Grown | None:
    try:
        message: _Own | _Grown | None = pipe.recv()
    except EOFError:
        # Killed, and so is this: whoever takes its place does not wait for a batch to end.
        os._exit(1)
    return message
