"""Keeping the zones of a shared ledger: those of one's own partitions are concluded here, those
of others are followed, so that a copy is warm when a partition comes over, and forgets in time.

A replica is a keeper that owns no partition and follows them all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Set

import apsw

from schemas.errors import RecollectError
from streams.ledger import CHANGES, EVENTS, PARTITIONS, partition_of
from streams.ledger.kafka import KafkaLedger
from streams.ledger.kafka.keys import PLACES
from streams.node import Node

#: Called with a zone and how many records it moved, or why it stands still.
Report = Callable[[str, int | Exception], None]

_PULL_SECONDS = 0.2
# A zone that stands still is tried again after this long.
_RETRY_SECONDS = 5.0
# Two, so that one zone is decided while another waits for the broker.
_THREADS = 2


class Keeper:
    """Threads that bring zones up to the ledger as it grows. Use it as a context manager."""

    def __init__(
        self, node: Node, ledger: KafkaLedger, report: Report, *, everything: bool
    ) -> None:
        self._node = node
        self._ledger = ledger
        self._report = report
        self._everything = everything
        self._owned: frozenset[int] = frozenset()
        self._waiting: dict[str, float] = {}
        self._at_work: set[str] = set()
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._pull, name="pull", daemon=True),
            *(
                threading.Thread(target=self._work, name=f"keep-{number}", daemon=True)
                for number in range(_THREADS)
            ),
        ]

    @property
    def owned(self) -> Set[int]:
        """The partitions whose zones are concluded here."""
        return self._owned

    def own(self, partitions: Collection[int], *, delivered: bool = True) -> None:
        """Conclude the zones of these partitions from now on, and of no others.

        `delivered`: somebody else brings their events to the copy, so they are not pulled.
        """
        self._owned = frozenset(partitions)
        copy = self._ledger.copy
        copy.deliver((EVENTS, partition) for partition in partitions if delivered)
        copy.follow((CHANGES, partition) for partition in partitions)
        self._follow_kept()
        self._stir_behind()

    def stir(self, zones: Iterable[str]) -> None:
        """Note that zones have something new."""
        now = time.monotonic()
        with self._changed:
            for zone in zones:
                self._waiting[zone] = min(now, self._waiting.get(zone, now))
            self._changed.notify_all()

    def idle(self) -> bool:
        """Return whether there is nothing to do now."""
        with self._changed:
            return not self._waiting and not self._at_work

    def __enter__(self) -> Keeper:
        self._ledger.connect()
        copy = self._ledger.copy
        copy.listener = self._taken
        copy.follow(PLACES)
        self._follow_kept()
        copy.refresh([*PLACES, *copy.followed])
        for thread in self._threads:
            thread.start()
        self._stir_behind()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _follow_kept(self) -> None:
        """Read the partitions whose zones this node has files of."""
        partitions = set(range(PARTITIONS))
        if not self._everything:
            partitions = {partition_of(zone) for zone in self._node.zones()}
        self._ledger.copy.follow(
            (topic, partition) for topic in (EVENTS, CHANGES) for partition in partitions
        )

    def _kept(self, zone: str) -> bool:
        return (
            self._everything or partition_of(zone) in self._owned or self._node.zone(zone).exists()
        )

    def _stir_behind(self) -> None:
        file = self._ledger.copy.file
        self.stir(
            zone
            for zone in file.zones()
            if self._kept(zone) and self._node.journal.moved(zone).number < file.head(zone).number
        )

    def _taken(self, topic: str, partition: int, zones: Set[str]) -> None:
        """Called by the copy when records came: an owner wrote its changes itself."""
        if topic == EVENTS or (topic == CHANGES and partition not in self._owned):
            self.stir(zone for zone in zones if self._kept(zone))

    def _pull(self) -> None:
        while not self._stopping.is_set():
            try:
                self._ledger.copy.pull(_PULL_SECONDS)
            except (RecollectError, apsw.Error, OSError) as error:
                self._report("", error)
                self._stopping.wait(_PULL_SECONDS * 5)

    def _work(self) -> None:
        while (zone := self._next()) is not None:
            again: float | None = None
            try:
                moved = self._keep(zone)
                if moved:
                    self._report(zone, moved)
            except (RecollectError, apsw.Error, OSError) as error:
                self._report(zone, error)
                again = time.monotonic() + _RETRY_SECONDS
            with self._changed:
                self._at_work.discard(zone)
                if again is not None:
                    self._waiting.setdefault(zone, again)
                self._changed.notify_all()

    def _next(self) -> str | None:
        """Return the zone that has waited longest; None when all is to stop."""
        with self._changed:
            while not self._stopping.is_set():
                now = time.monotonic()
                ready = [
                    (since, zone)
                    for zone, since in self._waiting.items()
                    if since <= now and zone not in self._at_work
                ]
                if ready:
                    zone = min(ready)[1]
                    del self._waiting[zone]
                    self._at_work.add(zone)
                    return zone
                self._changed.wait(_PULL_SECONDS * 5)
        return None

    def _keep(self, zone: str) -> int:
        partition = partition_of(zone)
        if partition not in self._owned:
            return self._node.follow(zone)
        return self._node.drive(
            zone, while_=lambda: partition in self._owned and not self._stopping.is_set()
        )
