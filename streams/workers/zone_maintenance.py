"""Maintain the zones of a shared ledger: decide some zones and follow others.

A worker decides the zones of its own partitions. It follows the changes of other zones that
have files here, so that a zone is up to date if its partition moves here, and erased text is
removed from its files in time. A replica owns no partition and follows all zones.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Set

from recollect.streams.engine.node import Node
from recollect.streams.ledger import CHANGES, EVENTS, PARTITIONS, partition_of
from recollect.streams.ledger.kafka.clients import LedgerPartition
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.ledger.kafka.keys import KEY_PARTITIONS
from recollect.streams.projecting.projector import OnZoneProgress

_POLL_SECONDS = 0.2
# How long until a zone that failed is tried again.
_RETRY_SECONDS = 5.0
# Two, so that one zone is decided while another one waits for the broker.
_DECIDING_THREADS = 2
# A separate thread, so that turns are searchable at once, however long deciding takes.
_PROJECTING_THREADS = 1


class WorkQueue:
    """Threads that do one kind of work for zones.

    The zone that has waited longest comes first. Two threads never work for the same zone.
    """

    def __init__(
        self, name: str, threads: int, work: Callable[[str], int], report: OnZoneProgress
    ) -> None:
        self._work = work
        self._report = report
        self._waiting: dict[str, float] = {}
        self._running: set[str] = set()
        self._changed = threading.Condition()
        self._stopped = False
        self._threads = [
            threading.Thread(target=self._run, name=f"{name}-{number}", daemon=True)
            for number in range(threads)
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop after the current work."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def add(self, zones: Iterable[str]) -> None:
        """Queue zones that have new records."""
        now = time.monotonic()
        with self._changed:
            for zone in zones:
                self._waiting[zone] = min(now, self._waiting.get(zone, now))
            self._changed.notify_all()

    def _run(self) -> None:
        while (zone := self._next()) is not None:
            retry_at: float | None = None
            try:
                if count := self._work(zone):
                    self._report(zone, count)
            except Exception as error:
                # After any error, the thread goes on with the other zones.
                self._report(zone, error)
                retry_at = time.monotonic() + _RETRY_SECONDS
            with self._changed:
                self._running.discard(zone)
                if retry_at is not None:
                    self._waiting.setdefault(zone, retry_at)
                self._changed.notify_all()

    def _next(self) -> str | None:
        """Return the zone that has waited longest, or None to stop."""
        with self._changed:
            while not self._stopped:
                now = time.monotonic()
                ready = [
                    (since, zone)
                    for zone, since in self._waiting.items()
                    if since <= now and zone not in self._running
                ]
                if ready:
                    zone = min(ready)[1]
                    del self._waiting[zone]
                    self._running.add(zone)
                    return zone
                self._changed.wait(_RETRY_SECONDS / 5 if self._waiting else None)
        return None


class ZoneMaintenance:
    """A context manager for threads that keep zones up to date with the ledger."""

    def __init__(
        self, node: Node, ledger: KafkaLedger, report: OnZoneProgress, *, follow_all: bool
    ) -> None:
        self._node = node
        self._ledger = ledger
        self._report = report
        self._follow_all = follow_all
        self._owned: frozenset[int] = frozenset()
        self._stopping = threading.Event()
        self._polling = threading.Thread(target=self._poll, name="poll", daemon=True)
        self._projecting = WorkQueue("project", _PROJECTING_THREADS, self._project, report)
        self._deciding = WorkQueue("decide", _DECIDING_THREADS, self._catch_up, report)

    @property
    def owned(self) -> Set[int]:
        """The partitions whose zones are decided here."""
        return self._owned

    def set_partitions(self, partitions: Collection[int]) -> None:
        """From now on, decide the zones of these partitions and no others.

        The caller must deliver their events to the copy, since they are no longer polled.
        """
        self._owned = frozenset(partitions)
        copy = self._ledger.copy
        copy.hand_over((EVENTS, partition) for partition in partitions)
        copy.follow((CHANGES, partition) for partition in partitions)
        self._follow_local_zones()
        self._deciding.add(self._unfinished_zones())

    def add(self, zones: Iterable[str]) -> None:
        """Queue zones with newly delivered events."""
        self._deciding.add(zones)

    def __enter__(self) -> ZoneMaintenance:
        self._ledger.connect()
        copy = self._ledger.copy
        copy.listener = self._on_copied
        copy.follow(KEY_PARTITIONS)
        self._follow_local_zones()
        copy.refresh(copy.followed)
        self._polling.start()
        self._projecting.start()
        self._deciding.start()
        self._deciding.add(self._unfinished_zones())
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopping.set()
        self._polling.join()
        self._projecting.stop()
        self._deciding.stop()

    def _follow_local_zones(self) -> None:
        """Follow the partitions of the zones with files here."""
        partitions = set(range(PARTITIONS))
        if not self._follow_all:
            partitions = {partition_of(zone) for zone in self._node.zones()}
        self._follow(partitions)

    def _follow(self, partitions: Set[int]) -> None:
        self._ledger.copy.follow(
            (topic, partition) for topic in (EVENTS, CHANGES) for partition in partitions
        )

    def _is_maintained(self, zone: str) -> bool:
        return (
            self._follow_all or partition_of(zone) in self._owned or self._node.zone(zone).exists()
        )

    def _unfinished_zones(self) -> list[str]:
        """Return the zones maintained here that have unfinished work."""
        return [
            zone
            for zone in self._ledger.copy.file.zones()
            if self._is_maintained(zone) and self._has_unfinished_work(zone)
        ]

    def _has_unfinished_work(self, zone: str) -> bool:
        """Return whether a zone has pending records, a pending purge or pending commands.

        Commands count only for a zone that is decided here: the former owner may have died before
        it published them.
        """
        journal = self._node.journal
        if not self._node.zone(zone).exists():
            return True
        try:
            # After a power cut the journal may be ahead of the files.
            decided = self._node.decided_up_to(zone)
            is_purge_pending = self._node.is_purge_pending(zone)
        except Exception:
            # The thread that maintains the zone will report the error.
            return True
        if decided < self._ledger.copy.file.head(zone).number or is_purge_pending:
            return True
        if partition_of(zone) not in self._owned:
            return False
        return journal.outbox(zone, self._node.current(zone).chain).number < decided

    def _on_copied(self, topic: str, partition: int, zones: Set[str]) -> None:
        """Queue zones with new records in the copy; ignore changes that this process decided."""
        if topic == EVENTS or (topic == CHANGES and partition not in self._owned):
            maintained = [zone for zone in zones if self._is_maintained(zone)]
            if topic == EVENTS:
                self._projecting.add(maintained)
            self._deciding.add(maintained)

    def _poll(self) -> None:
        notified: set[LedgerPartition] = set()
        while not self._stopping.is_set():
            try:
                self._ledger.copy.poll(_POLL_SECONDS)
                for tp, error in list(self._ledger.copy.broken.items()):
                    # Report the error here: a zone without work would never report it.
                    if tp not in notified:
                        notified.add(tp)
                        self._report("", error)
            except Exception as error:
                self._report("", error)
                self._stopping.wait(_RETRY_SECONDS / 5)

    def _project(self, zone: str) -> int:
        self._node.project_turns(zone)
        return 0

    def _catch_up(self, zone: str) -> int:
        partition = partition_of(zone)
        count = 0
        if partition in self._owned:
            count = self._node.drive(
                zone,
                should_continue=lambda: partition in self._owned and not self._stopping.is_set(),
            )
        if partition not in self._owned:
            # The partition may have moved to another worker while the zone's files were created
            # here, too late for `set_partitions` to follow it.
            self._follow({partition})
            count += self._node.follow(zone, project_ahead=False)
        return count
