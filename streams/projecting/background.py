"""Projecting the events of a zone that is far behind in another process.

Events fill a file of their own, and changes fill the others: each takes an interpreter and a core.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from recollect.projections.files import ZoneFiles
from recollect.projections.generations import Generation
from recollect.streams.ledger import Ledger
from recollect.streams.projecting.projector import project_events
from recollect.streams.system.cores import usable_cores

#: From so many events on, starting an interpreter pays.
FAR = 5_000
# Events in one transaction: small enough that the caller can soon project their changes.
_STEP = 1_000
# Between two looks at its progress, in seconds.
_LOOK_SECONDS = 0.02
# Without progress for so long the process is given up, in seconds.
_PATIENCE_SECONDS = 60.0


class _Order(NamedTuple):
    ledger: Ledger
    zone: str
    directory: Path
    generation: Generation
    upto: int


class BackgroundProjection:
    """Projects a zone's events in another process, where many wait. Use it as a context manager.

    Enter it before reading, so that the process starts while events are fetched. Nothing depends on
    it: a caller that projects afterwards finds the work done or does it, and meets what went wrong.
    `ledger` must pickle.
    """

    def __init__(self, ledger: Ledger, zone: str) -> None:
        self._ledger = ledger
        self._zone = zone
        self._helps = usable_cores() >= 2
        self._held = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> BackgroundProjection:
        if self._helps and self._ledger.unfetched_count(self._zone) >= FAR:
            self._process = self._held.enter_context(_started())
        return self

    def __exit__(self, *exception: object) -> None:
        self._held.close()

    def projected(self, files: ZoneFiles, generation: Generation) -> Iterator[int]:
        """Project events in the other process, if many wait; yield the last number as it grows.

        The caller projects changes up to that number and no further: no file may be ahead of
        events.db.
        """
        if not self._helps:
            return
        projected = files.events.watermark().number
        upto = self._ledger.head(self._zone).number
        if upto - projected < FAR:
            return
        process = self._process or self._held.enter_context(_started())
        if process is None:
            return
        assert process.stdin is not None
        order = _Order(self._ledger, self._zone, files.directory, generation, upto)
        with suppress(BrokenPipeError):
            pickle.dump(order, process.stdin)
            process.stdin.flush()
        moved = time.monotonic()
        while process.poll() is None and time.monotonic() - moved < _PATIENCE_SECONDS:
            before, projected = projected, files.events.watermark().number
            if projected > before:
                yield projected
                moved = time.monotonic()
            else:
                time.sleep(_LOOK_SECONDS)


@contextmanager
def _started() -> Iterator[subprocess.Popen[bytes] | None]:
    """Start a process that waits for its order and ends with the block; None: there can be none."""
    if not sys.executable or getattr(sys, "frozen", False):
        # There is no Python interpreter to start.
        yield None
        return
    # A fork would copy locks that threads hold, and multiprocessing's spawn would run this
    # process's main script again.
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


def _project(order: _Order) -> None:
    generation = order.generation
    if not order.directory.is_dir():
        # Removed meanwhile; it must not be made again.
        return
    files = ZoneFiles(order.directory, generation.encoder, generation.dimension)
    with closing(order.ledger), files:
        while (number := files.events.watermark().number) < order.upto:
            project_events(order.ledger, order.zone, files, upto=min(number + _STEP, order.upto))
            if files.events.watermark().number == number:
                # The ledger's history is not that of the files; the next one to project reports it.
                return


def _end_with(parent: int) -> None:
    """End this process when its parent ends: only the parent holds the other end of the pipe."""
    os.read(parent, 1)
    os._exit(1)


if __name__ == "__main__":
    order = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_end_with, args=(sys.stdin.fileno(),), daemon=True).start()
    _project(order)
