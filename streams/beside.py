"""Folding the events of a zone that lies far behind in a process beside this one.

Events fill a file of their own, and changes fill the others: each takes an interpreter and a core.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from projections.files import ZoneFiles
from projections.generations import Generation
from streams.cores import usable_cores
from streams.ledger import Ledger
from streams.projecting import fold_events

#: So many events are worth the start of an interpreter.
FAR = 5_000
# Events in one transaction: whoever projects what is folded does not wait long for the first.
_STEP = 1_000
# Between two looks how far it is, in seconds.
_LOOK_SECONDS = 0.02


class _Order(NamedTuple):
    ledger: Ledger
    zone: str
    directory: Path
    generation: Generation
    upto: int


def folded_beside(
    ledger: Ledger, zone: str, files: ZoneFiles, generation: Generation
) -> Generator[int, None, None]:
    """Have the zone's events folded beside, if many wait; yield up to which number they are.

    The caller projects the changes of those meanwhile, and of no others: no file may be ahead of
    events.db. `ledger` must pickle. Nothing depends on the process: whoever folds afterwards
    finds the work done, or does it, and meets what went wrong here.
    """
    if usable_cores() < 2:
        return
    with ExitStack() as held:
        process = None
        if ledger.unread(zone) >= FAR:
            # It starts while those are fetched.
            process = held.enter_context(_started())
        folded = files.events.watermark().number
        upto = ledger.head(zone).number
        if upto - folded < FAR:
            return
        process = process or held.enter_context(_started())
        if process is None:
            return
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            pickle.dump(_Order(ledger, zone, files.directory, generation, upto), process.stdin)
            process.stdin.flush()
        while process.poll() is None:
            before, folded = folded, files.events.watermark().number
            if folded > before:
                yield folded
            else:
                time.sleep(_LOOK_SECONDS)


@contextmanager
def _started() -> Iterator[subprocess.Popen[bytes] | None]:
    """Start a process that waits for its order and ends with the block; None: there can be none."""
    if not sys.executable or getattr(sys, "frozen", False):
        # What lies there is no Python.
        yield None
        return
    # Not a fork, which would take the threads' locks along, and not multiprocessing's spawn, which
    # runs the script again that this process was started with.
    command = [sys.executable, "-P", "-m", __name__]
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    silent = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            command, env=found, stdin=subprocess.PIPE, stdout=silent, stderr=silent
        )
    except OSError:
        yield None
        return
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        with suppress(BrokenPipeError):
            process.stdin.close()


def _fold(order: _Order) -> None:
    generation = order.generation
    if not order.directory.is_dir():
        # Removed meanwhile; it must not come back.
        return
    files = ZoneFiles(order.directory, generation.encoder, generation.dimension)
    with closing(order.ledger), files:
        while (number := files.events.watermark().number) < order.upto:
            fold_events(order.ledger, order.zone, files, upto=min(number + _STEP, order.upto))
            if files.events.watermark().number == number:
                # The ledger has another history than the files, as whoever folds next will say.
                return


def _end_with(parent: int) -> None:
    """End this process with the other one, whose end of the pipe `parent` nobody else holds."""
    os.read(parent, 1)
    os._exit(1)


if __name__ == "__main__":
    order = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with, args=(sys.stdin.fileno(),), daemon=True).start()
    _fold(order)
