"""Project the events of a zone with a large backlog in another process.

Events are projected into events.db and changes into the other files, so both projections can run in
parallel, each with an interpreter and a core of its own.
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

#: The smallest number of pending events for which starting an interpreter pays off.
MIN_BACKLOG = 5_000
# Events in one transaction: small enough that the caller can soon project their changes.
_BATCH_SIZE = 1_000
# The interval at which the progress of the process is polled.
_POLL_INTERVAL_SECONDS = 0.02
# After this long without progress, the caller stops waiting for the process.
_STALL_TIMEOUT_SECONDS = 60.0


class _Job(NamedTuple):
    ledger: Ledger
    zone: str
    directory: Path
    generation: Generation
    upto: int


class BackgroundProjection:
    """A context manager that projects a zone's events in another process, if many are pending.

    Enter it before reading, so that the process starts while events are fetched. It is only an
    optimisation: the caller must project afterwards in any case, to project what is left and to
    raise any error. It must be possible to pickle `ledger`.
    """

    def __init__(self, ledger: Ledger, zone: str) -> None:
        self._ledger = ledger
        self._zone = zone
        self._enabled = usable_cores() >= 2
        self._resources = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> BackgroundProjection:
        if self._enabled and self._ledger.unfetched_count(self._zone) >= MIN_BACKLOG:
            self._process = self._resources.enter_context(_waiting_process())
        return self

    def __exit__(self, *exception: object) -> None:
        self._resources.close()

    def run(self, files: ZoneFiles, generation: Generation) -> Iterator[int]:
        """Project events in the other process, if many are pending.

        Yield the number of the last projected event whenever it has grown. The caller projects
        changes up to that number and no further, since no file may be ahead of events.db.
        """
        if not self._enabled:
            return
        projected = files.events.watermark().number
        upto = self._ledger.head(self._zone).number
        if upto - projected < MIN_BACKLOG:
            return
        process = self._process or self._resources.enter_context(_waiting_process())
        if process is None:
            return
        assert process.stdin is not None
        job = _Job(self._ledger, self._zone, files.directory, generation, upto)
        with suppress(BrokenPipeError):
            pickle.dump(job, process.stdin)
            process.stdin.flush()
        progressed_at = time.monotonic()
        while process.poll() is None and time.monotonic() - progressed_at < _STALL_TIMEOUT_SECONDS:
            before, projected = projected, files.events.watermark().number
            if projected > before:
                yield projected
                progressed_at = time.monotonic()
            else:
                time.sleep(_POLL_INTERVAL_SECONDS)


@contextmanager
def _waiting_process() -> Iterator[subprocess.Popen[bytes] | None]:
    """Start a process that waits for a job, and kill it at the end of the block.

    Yield None if it cannot be started.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        # There is no Python interpreter to start.
        yield None
        return
    # A fork would copy locks that threads hold, and multiprocessing's spawn would run this
    # process's main script again.
    command = [sys.executable, "-P", "-m", __name__]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))}
    null = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=null, stderr=null
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


def _project(job: _Job) -> None:
    generation = job.generation
    if not job.directory.is_dir():
        # The generation was removed meanwhile, and must not be created again.
        return
    files = ZoneFiles(job.directory, generation.encoder, generation.dimension)
    with closing(job.ledger), files:
        while (number := files.events.watermark().number) < job.upto:
            project_events(job.ledger, job.zone, files, upto=min(number + _BATCH_SIZE, job.upto))
            if files.events.watermark().number == number:
                # The files do not match the ledger's history; the next projection reports that.
                return


def _exit_with_parent(parent: int) -> None:
    """Exit when the other end of the pipe is closed: only the parent process has it."""
    os.read(parent, 1)
    os._exit(1)


if __name__ == "__main__":
    job = pickle.load(sys.stdin.buffer)
    threading.Thread(target=_exit_with_parent, args=(sys.stdin.fileno(),), daemon=True).start()
    _project(job)
