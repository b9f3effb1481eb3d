"""The damage to workers: what happens to them, and when, drawn from a seed.

Workers die by SIGKILL, are stopped for longer than their session lasts, are told to end, join
and leave; those that start anew are armed, each with the next failpoint of a deck. Their clocks
jump.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable

from tests.storm.damage import clocks
from tests.storm.damage.fleet import PLACES, RARE, Arm, Fleet, Worker
from tests.storm.process import SESSION_SECONDS

# Seconds between two acts, where workers come to work within so many.
_PAUSES = (1.5, 4.0)
_USUAL_PACE = 6.0
_ACTS = ("kill", "kill", "kill", "stop", "end", "end", "join", "clock")
# The share of acts that do not wait until a worker is at work.
_RASH = 0.15
# The share of starts that are armed.
_ARMED_SHARE = 0.85
# Seconds of peace before the first act.
_PEACE_SECONDS = 8.0
# Erasures and ticks begin after this share of the time, and the places they pass are armed.
_LATE = 0.3
# A run goes on until every place was hit, but no longer than so many times its length.
_MAX_STRETCH = 1.5


class Chaos:
    """Does damage until the time is up; `acts` counts what the workers did not suffer."""

    def __init__(
        self,
        fleet: Fleet,
        draw: random.Random,
        say: Callable[[str], None],
    ) -> None:
        self._fleet = fleet
        self._draw = draw
        self._say = say
        self._resume_at: dict[str, tuple[float, Worker]] = {}
        self._joined: tuple[float, Worker] | None = None
        self.acts: Counter[str] = Counter()
        #: The storm's own seconds.
        self.seconds = 0.0

    @property
    def missing(self) -> list[Arm]:
        """The failpoints that nobody has met yet."""
        every = [Arm(place, raises) for place in PLACES for raises in (False, True)]
        return [arm for arm in every if not self._fleet.fates.hits[arm]]

    def run(self, seconds: float, late: Callable[[], None]) -> None:
        """Do damage for so long; `late` is called once erasures may begin."""
        began = time.monotonic()
        self._wait(_PEACE_SECONDS)
        self._fleet.armed_share = _ARMED_SHARE
        self._fleet.places = tuple(place for place in PLACES if place not in RARE)
        is_late = False
        while (at := time.monotonic() - began) < seconds * _MAX_STRETCH:
            if at > seconds and not self.missing:
                break
            if not is_late and at > seconds * _LATE:
                is_late = True
                self._fleet.places = PLACES
                late()
            self._act()
            # Where workers take long to come to work, they are given longer.
            self._wait(self._draw.uniform(*_PAUSES) * max(1.0, self._fleet.pace / _USUAL_PACE))
        self.seconds = time.monotonic() - began

    def settle(self) -> None:
        """End the damage: nobody is stopped, armed or away any more."""
        self._fleet.armed_share = 0.0
        for _, worker in self._resume_at.values():
            self._fleet.resume(worker)
        self._resume_at.clear()
        for worker in self._fleet.workers:
            if worker.arms:
                self._fleet.end(worker, signal.SIGTERM)
            worker.removed = False

    def _act(self) -> None:
        kind = self._draw.choice(_ACTS)
        if kind == "join" and self._joined is None:
            self._join()
            return
        if kind == "clock":
            self._jump()
            return
        # Mostly one of several that are at work, and not one that is to die elsewhere; else
        # nothing would ever be done.
        rash = self._draw.random() < _RASH
        some = self._fleet.alive() if rash else self._fleet.settled()
        free = [worker for worker in some if rash or not worker.arms]
        if len(some) < 2 or not free:
            return
        worker = self._draw.choice(free)
        if kind == "kill":
            self._fleet.end(worker, signal.SIGKILL)
        elif kind == "stop" and not self._resume_at:
            self._say(f"{worker.name} is stopped")
            self._fleet.stop(worker)
            until = time.monotonic() + SESSION_SECONDS + self._draw.uniform(1.0, 4.0)
            self._resume_at[worker.name] = until, worker
        elif kind == "end":
            self._fleet.end(worker, signal.SIGTERM)

    def _join(self) -> None:
        """Let one more worker join for a while."""
        spare = [worker for worker in self._fleet.workers if worker.removed]
        worker = spare[0] if spare else self._fleet.add()
        worker.removed = False
        self._say(f"{worker.name} joins")
        self.acts["one more worker"] += 1
        self._joined = time.monotonic() + self._draw.uniform(10.0, 20.0), worker

    def _jump(self) -> None:
        """Put the clock of a worker wrong, or another way wrong, or right again."""
        worker = self._draw.choice(self._fleet.workers)
        worker.clock.jump(clocks.another(self._draw, worker.clock.off))
        self._say(f"the clock of {worker.name} is {clocks.told(worker.clock.off)}")
        self.acts["clock"] += 1

    def _wait(self, seconds: float) -> None:
        """Wait, and let those go on or leave whose time has come."""
        until = time.monotonic() + seconds
        while (now := time.monotonic()) < until:
            for name, (at, worker) in list(self._resume_at.items()):
                if now >= at:
                    del self._resume_at[name]
                    self._fleet.resume(worker)
            if self._joined is not None and now >= self._joined[0]:
                self._say(f"{self._joined[1].name} leaves")
                self._fleet.remove(self._joined[1])
                self._joined = None
            time.sleep(0.1)
