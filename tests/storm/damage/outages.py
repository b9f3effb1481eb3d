"""The damage to brokers: what happens to them, by turns, drawn from a seed.

One is killed; one stands still for longer than its session lasts, and wakes up as a leader that
leads no more; one loses its disk and comes back empty; two stand still, so that the third is the
only one in sync and may acknowledge nothing. Each begins only when all three hold everything,
since that is when three copies promise that nothing is lost.
"""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable

from tests.broker.cluster import Cluster, Member

_PAUSES = (3.0, 7.0)
_DOWN = (0.2, 3.0)
# Longer than the session that the controller grants (`broker.session.timeout.ms`).
_STANDS = (4.5, 8.0)
# An outage waits so long for the one before to be made good.
_WHOLE_SECONDS = 120.0


class Outages:
    """Does damage to the brokers in a thread of its own; `acts` counts it."""

    def __init__(
        self,
        cluster: Cluster,
        draw: random.Random,
        say: Callable[[str], None],
        away: Callable[[bool], None],
    ) -> None:
        """`away` is told when a broker goes away, and when all of them hold everything again."""
        self._cluster = cluster
        self._draw = draw
        self._say = say
        self._away = away
        self._ended = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="outages", daemon=True)
        self.acts: Counter[str] = Counter()

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Begin no further outage, and return when the last one is made good."""
        self._ended.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        deck = itertools.cycle((self._kill, self._lose_disk, self._stop, self._shrink))
        try:
            while not self._ended.wait(self._draw.uniform(*_PAUSES)):
                self._away(True)
                next(deck)()
                began = time.monotonic()
                self._cluster.wait_until_whole(_WHOLE_SECONDS)
                self._away(False)
                self._say(f"all copies are whole after {time.monotonic() - began:.1f} s more")
        except BaseException as error:
            self._failure = error

    def _leader(self) -> Member:
        """Return a broker that leads something."""
        brokers = self._cluster.brokers
        leaders = {led.leader for broker in self._cluster.up for led in broker.look().values()}
        return self._draw.choice([each for each in brokers if each.number in leaders] or brokers)

    def _kill(self) -> None:
        broker = self._leader()
        self._say(f"broker {broker.number} is killed")
        broker.kill()
        self.acts["SIGKILL"] += 1
        time.sleep(self._draw.uniform(*_DOWN))
        broker.start()
        self._say(f"broker {broker.number} is back")

    def _lose_disk(self) -> None:
        broker = self._leader()
        self._say(f"broker {broker.number} is killed, and its disk is lost")
        broker.kill()
        broker.lose_disk()
        self.acts["disk lost"] += 1
        broker.start()
        self._say(f"broker {broker.number} is back, empty")

    def _stop(self) -> None:
        broker = self._leader()
        self._say(f"broker {broker.number} stands still")
        broker.pause()
        self.acts["SIGSTOP"] += 1
        time.sleep(self._draw.uniform(*_STANDS))
        broker.resume()
        self._say(f"broker {broker.number} wakes up")

    def _shrink(self) -> None:
        two = self._draw.sample(self._cluster.brokers, 2)
        numbers = " and ".join(str(broker.number) for broker in two)
        self._say(f"the brokers {numbers} stand still")
        for broker in two:
            broker.pause()
        self.acts["one left in sync"] += 1
        time.sleep(self._draw.uniform(*_STANDS))
        for broker in two:
            broker.resume()
        self._say(f"the brokers {numbers} wake up")
