"""Folding the events of a zone that lies far behind in a process beside this one.

Events fill a file of their own, and changes fill the others: each takes an interpreter and a core.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from projections.files import ZoneFiles
from projections.generations import Generation
from streams.cores import usable_cores
from streams.ledger import Ledger
from streams.projecting import fold_events

#: So many events are worth the start of an interpreter.
FAR = 5_000
# The longest that its end is waited for, in seconds.
_PATIENCE = 60.0


class _Order(NamedTuple):
    ledger: Ledger
    zone: str
    directory: Path
    generation: Generation
    upto: int


@contextmanager
def folding_beside(
    ledger: Ledger, zone: str, files: ZoneFiles, generation: Generation
) -> Iterator[bool]:
    """Fold the zone's events beside the block, if many wait; say whether they do.

    `ledger` must pickle. Nothing depends on it: whoever folds afterwards finds the work done, or
    does it, and meets what went wrong here.
    """
    upto = ledger.head(zone).number
    if upto - files.events.watermark().number < FAR or usable_cores() < 2:
        yield False
        return
    order = pickle.dumps(_Order(ledger, zone, files.directory, generation, upto))
    with _started(order) as process:
        yield process is not None
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_PATIENCE)


@contextmanager
def _started(order: bytes) -> Iterator[subprocess.Popen[bytes] | None]:
    """Give an order to a new process, which ends with the block; None where there can be none."""
    if getattr(sys, "frozen", False):
        # What lies there is no Python.
        yield None
        return
    # Not a fork, which would take the threads' locks along, and not multiprocessing's spawn, which
    # runs the script again that this process was started with.
    command = [sys.executable, "-P", "-m", __name__]
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    try:
        process = subprocess.Popen(
            command, env=found, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:
        yield None
        return
    try:
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(order)
        yield process
    finally:
        process.kill()
        process.wait()


def _fold(order: _Order) -> None:
    generation = order.generation
    files = ZoneFiles(order.directory, generation.encoder, generation.dimension)
    with closing(order.ledger), files:
        fold_events(order.ledger, order.zone, files, upto=order.upto)


if __name__ == "__main__":
    _fold(pickle.load(sys.stdin.buffer))
