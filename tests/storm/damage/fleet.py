"""The workers of the storm: processes that are restarted when they die, some of them armed.

Whoever restarts workers in production does so too: a worker may end at any time, and nothing
may be lost by it. A worker that ends by itself, for no reason that the storm gave it, is noted.
"""

from __future__ import annotations

import math
import random
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from recollect.streams.system.failpoints import FAILPOINTS
from tests.storm.damage.clocks import Clock
from tests.storm.process import Recollect

#: The places that a worker passes, and those that it passes only when something is erased, or
#: when a turn is closed.
PLACES = tuple(name for name in FAILPOINTS if not name.startswith(("ledger.", "rebuild.")))
RARE = ("commit.keys_destroyed", "commit.purged", "purge.done", "outbox.appended")

_POLL_SECONDS = 0.2
# So many errors a worker is armed with, beside one death.
_ERRORS = 2
# An armed worker that has been at work for so long without coming to its places is restarted.
_ARMED_SECONDS = 15.0
# Longer than a worker gives itself and its processes to end.
_STOP_SECONDS = 45.0
# A worker that has decided nothing by then may have nothing to do.
_LATE_SECONDS = 40.0
NO_BROKER = "found no broker"
# How a worker ends that finds no broker when it starts, and one that an injected error ends.
_NO_BROKER = ("cannot be used", "cannot be reached", "Unable to bootstrap")
_GIVES_UP = "could not be handled (InjectedFailure"
# What no log may say: a thread died, our own code failed unforeseen, or a ledger that nobody
# touched is said to be damaged.
_BAD = re.compile(
    r"Exception in thread|restore the |"
    r"File \"(?![^\"]*/site-packages/)[^\"]*/(recollect|streams|projections|schemas)/|"
    r"was changed after|different positions in the ledger|was never awaited|"
    r"another recollect process holds"
)


class Arm(NamedTuple):
    """A failpoint that a worker is started with; `raises`, or dies."""

    place: str
    raises: bool

    @property
    def what(self) -> str:
        return f"{'raise' if self.raises else 'die'} at {self.place}"


@dataclass
class Worker:
    """One worker: a home, and the process that works on it now."""

    name: str
    recollect: Recollect
    logs: Path
    clock: Clock
    process: subprocess.Popen[bytes] | None = None
    #: What it was armed with: what it has not met yet, and errors that it has met.
    arms: list[Arm] = field(default_factory=list)
    met: list[Arm] = field(default_factory=list)
    log: Path | None = None
    #: Since when it was seen at work; 0: not yet.
    working: float = 0.0
    started: float = 0.0
    starts: int = 0
    #: Why the storm ended it; None where it was not the storm.
    reason: str | None = None
    stopped: bool = False
    restart_at: float = 0.0
    removed: bool = False

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def at_work(self) -> bool:
        """Whether it has decided something since it was started."""
        return ": decided" in self.said()

    def said(self) -> str:
        """Return its log."""
        return self.log.read_text(errors="replace") if self.log else ""


@dataclass
class Fates:
    """What became of the workers."""

    ends: Counter[str] = field(default_factory=Counter)
    hits: Counter[Arm] = field(default_factory=Counter)
    #: Workers that ended for no reason of the storm's: what they said.
    unasked: list[str] = field(default_factory=list)
    #: Lines of logs that must not be there.
    bad: list[str] = field(default_factory=list)


class Fleet:
    """Workers, and the thread that restarts them. The storm's own calls come from one thread."""

    def __init__(
        self, directory: Path, url: str, draw: random.Random, say: Callable[[str], None]
    ) -> None:
        self._directory = directory
        self._url = url
        self._draw = draw
        self._say = say
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self.workers: list[Worker] = []
        self.fates = Fates()
        #: The failpoints with which workers are armed when they are started.
        self.places: tuple[str, ...] = ()
        #: How likely a worker is armed when it is started.
        self.armed_share = 0.0
        #: How long workers take from their start until they have decided something, in s.
        self.pace = 0.0
        #: Until when a worker that starts may ask the very broker that is away.
        self.no_broker_until = 0.0
        self._thread = threading.Thread(target=self._watch, name="fleet", daemon=True)

    def __enter__(self) -> Fleet:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._thread.join()
        for worker in self.workers:
            if worker.process is not None and worker.process.poll() is None:
                worker.process.kill()
                worker.process.wait()

    def add(self) -> Worker:
        """Start one more worker, in a home of its own."""
        name = f"worker-{len(self.workers) + 1}"
        clock = Clock(self._directory / f"{name}.clock")
        recollect = Recollect(self._directory / name, self._url, clock)
        recollect.ask("init", "--encoder", "none")
        worker = Worker(name, recollect, self._directory / "logs", clock)
        with self._lock:
            self.workers.append(worker)
            self._start(worker)
        return worker

    def alive(self) -> list[Worker]:
        """Return the workers that run, and are not stopped."""
        with self._lock:
            return [worker for worker in self.workers if worker.running and not worker.stopped]

    def settled(self) -> list[Worker]:
        """Return those of them that have come to work, or should have long ago."""
        late = time.monotonic() - _LATE_SECONDS
        return [each for each in self.alive() if each.working or each.started < late]

    def end(self, worker: Worker, number: signal.Signals) -> None:
        """Send a worker what ends it; it is restarted."""
        with self._lock:
            if worker.running:
                assert worker.process is not None
                worker.reason = number.name
                worker.process.send_signal(number)

    def stop(self, worker: Worker) -> None:
        """Let a worker stand still, as one whose machine sleeps."""
        with self._lock:
            if worker.running:
                assert worker.process is not None
                worker.stopped = True
                worker.process.send_signal(signal.SIGSTOP)
                self.fates.ends["SIGSTOP"] += 1

    def resume(self, worker: Worker) -> None:
        """Let it go on."""
        with self._lock:
            worker.stopped = False
            if worker.running:
                assert worker.process is not None
                worker.process.send_signal(signal.SIGCONT)

    def remove(self, worker: Worker) -> None:
        """End a worker in order, for good."""
        worker.removed = True
        self.end(worker, signal.SIGTERM)

    def brokers_away(self, away: bool) -> None:
        """Note that a broker is away, or that all are there again."""
        self.no_broker_until = math.inf if away else time.monotonic()

    def retire(self) -> None:
        """End all workers in order, and wait for it."""
        for worker in self.workers:
            self.remove(worker)
        deadline = time.monotonic() + _STOP_SECONDS
        while any(worker.process is not None for worker in self.workers):
            if time.monotonic() > deadline:
                for worker in self.workers:
                    if worker.running:
                        self.fates.bad.append(f"{worker.name} does not end when it is told to")
                        self.end(worker, signal.SIGKILL)
                deadline += _STOP_SECONDS
            time.sleep(_POLL_SECONDS)

    def _start(self, worker: Worker) -> None:
        worker.arms, worker.met = [], []
        if self._draw.random() < self.armed_share:
            worker.arms = self._arms(1, raises=False) + self._arms(_ERRORS, raises=True)
        worker.starts += 1
        worker.reason = None
        worker.log = worker.logs / f"{worker.name}.{worker.starts:03}.log"
        failpoint = ",".join(
            f"{arm.place}:{1 if arm.place in RARE else self._draw.randrange(1, 6)}"
            f"{':raise' if arm.raises else ''}"
            for arm in worker.arms
        )
        with worker.log.open("wb") as log:
            log.write(f"# {failpoint or 'unarmed'}\n".encode())
            log.flush()
            worker.process = worker.recollect.start(
                ["worker"], failpoint=failpoint, stdout=log, stderr=log
            )
        worker.started, worker.working = time.monotonic(), 0.0

    def _arms(self, count: int, *, raises: bool) -> list[Arm]:
        """Choose failpoints, of those that nobody has met while there are such, the rare first."""
        arms = [Arm(place, raises) for place in self.places]
        self._draw.shuffle(arms)
        hits = self.fates.hits
        arms.sort(key=lambda arm: (hits[arm] > 0, hits[arm] == 0 and arm.place not in RARE))
        return arms[:count]

    def _watch(self) -> None:
        while not self._ended.wait(_POLL_SECONDS):
            now = time.monotonic()
            with self._lock:
                for worker in self.workers:
                    if worker.process is not None:
                        self._look(worker, now)
                    elif not worker.removed and now >= worker.restart_at:
                        self._start(worker)

    def _look(self, worker: Worker, now: float) -> None:
        assert worker.process is not None
        status = worker.process.poll()
        if status is not None:
            self._bury(worker, status)
            return
        if not worker.working and worker.at_work:
            worker.working = now
            self.pace += (now - worker.started - self.pace) / (3 if self.pace else 1)
        self._note_errors(worker)
        patience = max(_ARMED_SECONDS, 2 * self.pace)
        if worker.arms and worker.working and now - worker.working > patience:
            self.end(worker, signal.SIGKILL)

    def _note_errors(self, worker: Worker) -> None:
        """Note errors that a worker has met; it goes on, unless it could not sequence."""
        said = worker.said()
        for arm in [arm for arm in worker.arms if arm.raises]:
            if f"stopped at failpoint {arm.place}" in said:
                self.fates.hits[arm] += 1
                worker.arms.remove(arm)
                worker.met.append(arm)

    def _bury(self, worker: Worker, status: int) -> None:
        """Note how a worker ended, and when it is to be started again."""
        said = worker.said()
        self._note_errors(worker)
        if worker.reason is None:
            worker.reason = self._reason(worker, status, said)
        worker.arms = []
        self.fates.ends[worker.reason] += 1
        self._say(f"{worker.name} ended: {worker.reason}")
        worker.process, worker.stopped = None, False
        worker.restart_at = time.monotonic() + self._draw.uniform(0.1, 1.5)
        if "it did not stop within" in said:
            self.fates.ends["forced to end"] += 1
        if worker.reason == NO_BROKER:
            return
        self.fates.bad += [
            f"{worker.log and worker.log.name}: {line.strip()[:300]}"
            for line in said.splitlines()
            if _BAD.search(line)
        ]

    def _reason(self, worker: Worker, status: int, said: str) -> str:
        """Return why a worker ended that the storm did not end itself."""
        death = next((arm for arm in worker.arms if not arm.raises), None)
        if death is not None and status == -signal.SIGKILL:
            self.fates.hits[death] += 1
            worker.arms.remove(death)
            return "failpoint"
        if worker.met and _GIVES_UP in said:
            return "injected error"
        if worker.started < self.no_broker_until and any(each in said for each in _NO_BROKER):
            return NO_BROKER
        last = said.strip().splitlines()[-1][:300]
        self.fates.unasked.append(f"{worker.log and worker.log.name} ({status}): {last}")
        return "by itself"
