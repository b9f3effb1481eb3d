"""A node's copy of a Kafka ledger: the partitions that it reads, indexed by zone.

Kafka finds records by offset only; agents and read models need them by zone. So each node keeps
what it reads in a `LedgerFile` of its own. The end of that file is the node's cursor. The offsets
that Kafka commits for a group only inform operators.

Reading goes on with the last record that was copied, and each process compares that record before
it serves anything. If it differs, the topic was restored from an older backup or created again, and
nothing is served.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from aiokafka.errors import OffsetOutOfRangeError, TopicAuthorizationFailedError

from recollect.projections.private import make_directory
from recollect.schemas.errors import InvalidInput
from recollect.schemas.zones import check_zone
from recollect.streams.ledger.kafka.clients import PATIENCE, Clients, LedgerPartition
from recollect.streams.ledger.kafka.keys import KeysCopy
from recollect.streams.ledger.kafka.topics import KEYS
from recollect.streams.ledger.ledger import LedgerGap, LedgerUnavailable, Record
from recollect.streams.ledger.ledger_file import Appended, LedgerFile
from recollect.streams.system.locks import exclusive


class Received(Protocol):
    """A record as Kafka delivers it; `timestamp` is unix ms."""

    @property
    def offset(self) -> int:
        """The record's position in the partition."""
        ...

    @property
    def key(self) -> bytes | None:
        """The key, which chooses the partition."""
        ...

    @property
    def value(self) -> bytes | None:
        """The content; None: a tombstone."""
        ...

    @property
    def timestamp(self) -> int:
        """When the broker received it, in unix ms."""
        ...


_PAGE = 5_000
#: How often a followed partition is compared with the broker, in seconds.
AUDIT_SECONDS = 5.0
# After so long without a record that the broker has, its delivery is taken to have stopped.
_DELIVERED_SECONDS = 0.5


class Copy:
    """copy/ledger.db and copy/keys.db of a node, and the reading that brings them up to the
    topics.
    """

    def __init__(self, directory: Path, clients: Clients) -> None:
        make_directory(directory)
        with exclusive(directory / "copy.lock"):
            self.file = LedgerFile(directory / "ledger.db", durable=False)
            self.keys = KeysCopy(directory / "keys.db")
        self._clients = clients
        #: Called with the topic, the partition and the zones of newly copied records.
        self.listener: Callable[[str, int, Set[str]], None] | None = None
        self._followed: set[LedgerPartition] = set()
        self._delivered: set[LedgerPartition] = set()
        self._compared: set[LedgerPartition] = set()
        # The offset up to which the listener was notified, whichever process of this home copied.
        self._notified: dict[LedgerPartition, int] = {}
        self._broken: dict[LedgerPartition, LedgerGap] = {}
        self._assigned: set[LedgerPartition] = set()
        self._audited = 0.0
        self._pulling = threading.Lock()
        self._grown = threading.Condition()

    def next(self, tp: LedgerPartition) -> int:
        """Return the offset of the next record to copy from a partition."""
        topic, partition = tp
        return self.keys.next(partition) if topic == KEYS else self.file.end(topic, partition)

    @property
    def followed(self) -> Set[LedgerPartition]:
        """The partitions that this object reads."""
        return self._followed

    @property
    def broken(self) -> Mapping[LedgerPartition, LedgerGap]:
        """Why partitions are not read any more, by partition."""
        return self._broken

    def follow(self, tps: Iterable[LedgerPartition]) -> None:
        """Read these partitions too from now on, and notify the listener of what they get."""
        tps = set(tps) - self._delivered
        self._notify_from_here(tps - self._followed)
        self._followed |= tps

    def deliver(self, tps: Iterable[LedgerPartition]) -> None:
        """Stop reading these partitions: a caller of `take` delivers their records, and the
        listener is notified of what they get from now on.

        The caller has compared its first records with the copy.
        """
        self._followed |= self._delivered
        self._delivered = set(tps)
        self._notify_from_here(self._delivered)
        self._followed -= self._delivered
        self._compared |= self._delivered

    def _notify_from_here(self, tps: Iterable[LedgerPartition]) -> None:
        """Let the listener hear of every record from the copy's end on.

        Reading may begin later than that, and other processes of this home may copy meanwhile.
        """
        for tp in tps:
            if tp[0] != KEYS and tp not in self._notified:
                self._notified[tp] = self.next(tp)

    def position(self, tp: LedgerPartition) -> int:
        """Return the offset from which to go on reading: that of the last copied record, to compare
        it, or of the first that the listener was not notified of.
        """
        copied = self.next(tp)
        if tp[0] == KEYS:
            return copied
        return max(min(copied, self._notified.get(tp, copied)) - 1, 0)

    def check(self, tp: LedgerPartition) -> None:
        """Raise the error of a partition that is broken.

        Raises:
            LedgerGap: records are missing, or differ from those that were copied.
        """
        if tp in self._broken:
            raise self._broken[tp]

    def refresh(self, tps: Iterable[LedgerPartition]) -> None:
        """Copy partitions up to the end that they have on the broker now."""
        self.reach(self._clients.ends(tps))

    def reach(self, ends: Mapping[LedgerPartition, int], patience: float = PATIENCE) -> None:
        """Wait until the copy has every record before the given ends.

        `patience` is how many seconds may pass without a new record.

        Raises:
            LedgerGap: a partition ends before the copy does, or has other records.
            LedgerUnavailable: the broker does not deliver the records.
        """
        for tp, end in ends.items():
            self.check(tp)
            if end < (copied := self.next(tp)) and self._shrunk(tp, copied):
                raise self._broken[tp]
        behind = {tp for tp, end in ends.items() if self._behind(tp, end)}
        unread = behind - self._followed - self._delivered
        try:
            self._reach(behind, ends, patience)
        finally:
            # A partition that is read for this alone is not followed, and notifies nobody.
            self._followed -= unread
            for tp in unread - self._delivered:
                self._notified.pop(tp, None)

    def _reach(
        self, behind: set[LedgerPartition], ends: Mapping[LedgerPartition, int], patience: float
    ) -> None:
        began = time.monotonic()
        deadline = began + patience
        copied = sum(map(self.next, behind))
        while behind:
            self.follow(behind)
            left = deadline - time.monotonic()
            if left <= 0:
                topic, partition = min(behind)
                raise LedgerUnavailable(
                    f"{topic}/{partition} does not deliver its records within {patience:.0f} s; "
                    "see that the broker runs, then do it again"
                )
            if behind <= self._delivered:
                # `take` notifies this thread; in `pull` it would wait for other partitions.
                self.wait(min(left, 0.02))
            else:
                self.pull(min(left, 0.1))
            for tp in behind:
                self.check(tp)
            if (grown := sum(map(self.next, behind))) != copied:
                copied, deadline = grown, time.monotonic() + patience
            behind = {tp for tp in behind if self._behind(tp, ends[tp])}
            if behind & self._delivered and time.monotonic() - began > _DELIVERED_SECONDS:
                # At the end of a term nothing is delivered any more, and the end of the term waits
                # for this thread: so it reads the partitions itself until `deliver` is called.
                self._delivered -= behind

    def has_more(self, tp: LedgerPartition, end: int) -> bool:
        """Return whether the copy has records after `end`, and was compared with the broker."""
        return tp in self._compared and self.next(tp) > end

    def _behind(self, tp: LedgerPartition, end: int) -> bool:
        """Return whether records before `end` are missing, or were not compared with the broker
        yet.
        """
        copied = self.next(tp)
        return copied < end or (copied > 0 and tp[0] != KEYS and tp not in self._compared)

    def pull(self, seconds: float) -> None:
        """Copy the records that arrive within `seconds`, or wait for the thread that is reading."""
        if not self._pulling.acquire(blocking=False):
            with self._grown:
                self._grown.wait(min(seconds, 0.02))
            return
        try:
            self._audit()
            if self._followed - self._broken.keys():
                self._pull(seconds)
            else:
                time.sleep(seconds)
        finally:
            self._pulling.release()
            self.notify()

    def notify(self) -> None:
        """Wake the threads that wait for records."""
        with self._grown:
            self._grown.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait for new records, at most `seconds`."""
        with self._grown:
            self._grown.wait(seconds)

    def take(self, tp: LedgerPartition, records: Sequence[Received]) -> None:
        """Copy records of a partition; the first may be one that was copied before.

        Raises:
            LedgerGap: a record differs from the one that was copied, or one is missing between.
        """
        topic, partition = tp
        if topic == KEYS:
            self.keys.take(partition, records)
            return
        with self.file.writing():
            end = self.file.end(topic, partition)
            fresh = [record for record in records if record.offset >= end]
            if records[0].offset < end:
                (copied,) = self.file.read(topic, partition, records[0].offset, 1)
                if copied != received(records[0]):
                    raise LedgerGap(
                        f"{topic}/{partition} offset {copied.offset} is not the record that was "
                        "there before: the topic was restored from another history or made anew; "
                        "restore it, or give the home up and start a new one"
                    )
            for expected, record in enumerate(fresh, end):
                if record.offset != expected:
                    raise LedgerGap(
                        f"{topic}/{partition}: offset {expected} is missing; restore the topic "
                        "from a backup that has it"
                    )
            self.file.write(
                topic,
                partition,
                end,
                [
                    Appended(_zone_of(record.key), record.value or b"", record.timestamp)
                    for record in fresh
                ],
            )
        if records[0].offset < end or end == 0:
            self._compared.add(tp)
        self._notify_listener(
            tp, [(record.offset, _zone_of(record.key)) for record in records], end
        )

    def take_own(
        self, appended: Mapping[LedgerPartition, tuple[range, Sequence[Appended]]]
    ) -> set[LedgerPartition]:
        """Copy what this process has appended to partitions, at these offsets.

        The broker has named their offsets. Records that follow the copy's end need not be read
        back; if they are delivered again, they are the same.

        Return the partitions that must be read first, because records of others come before.
        """
        taken: set[LedgerPartition] = set()
        with self.file.writing():
            for tp, (offsets, records) in appended.items():
                there = len(offsets) == len(records) and self.next(tp) == offsets.start
                if there and not self._behind(tp, offsets.start):
                    self.file.write(*tp, offsets.start, records)
                    taken.add(tp)
        for tp in taken:
            offsets, records = appended[tp]
            zones = [record.zone for record in records]
            self._notify_listener(tp, list(zip(offsets, zones, strict=True)), offsets.start)
        return appended.keys() - taken

    def _notify_listener(
        self, tp: LedgerPartition, records: Sequence[tuple[int, str]], end: int
    ) -> None:
        """Wake waiting threads, and call the listener for new records (offset, zone).

        `end` was the copy's end before. Another process of this home may have copied them already.
        """
        self.notify()
        notified = self._notified.get(tp, end)
        new = {zone for offset, zone in records if zone and offset >= min(notified, end)}
        self._notified[tp] = max(notified, records[-1][0] + 1)
        if self.listener and new:
            self.listener(*tp, new)

    def close(self) -> None:
        """Close the files."""
        self.file.close()
        self.keys.close()

    def _pull(self, seconds: float) -> None:
        wanted = self._followed - self._broken.keys()
        if wanted != self._assigned:
            self._assigned = set()
            self._clients.assign({tp: self.position(tp) for tp in wanted})
            self._assigned = wanted
        try:
            found = self._clients.poll(seconds, _PAGE)
        except OffsetOutOfRangeError as error:
            self._assigned = set()
            self._out_of_range(error)
            return
        except TopicAuthorizationFailedError as error:
            raise LedgerUnavailable(
                f"this user may not read {error}; allow it to, then do it again"
            ) from None
        for tp, records in found.items():
            try:
                self.take(tp, records)
            except LedgerGap as error:
                self._break(tp, error)
            except BaseException:
                # Records that were not written must be delivered again.
                self._assigned = set()
                raise

    def _audit(self) -> None:
        """Compare followed partitions with the broker from time to time: start, end, last copied
        record.
        """
        now = time.monotonic()
        if now - self._audited < AUDIT_SECONDS or not self._assigned:
            return
        first, self._audited = self._audited == 0.0, now
        if first:
            return
        tps = self._assigned
        copied = {tp: self.next(tp) for tp in tps}
        for tp, end in self._clients.ends(tps).items():
            if end < copied[tp]:
                self._shrunk(tp, copied[tp])
        for tp, start in self._clients.starts(tps).items():
            if start > 0 and tp[0] != KEYS:
                self._truncated(tp, start)
        # The next pull begins with the last copied record.
        self._assigned = set()

    def _out_of_range(self, error: OffsetOutOfRangeError) -> None:
        tps = self._followed - self._broken.keys()
        ends, starts = self._clients.ends(tps), self._clients.starts(tps)
        for tp in tps:
            if ends[tp] < (copied := self.next(tp)):
                self._shrunk(tp, copied)
            elif starts[tp] > max(copied - 1, 0) and tp[0] != KEYS:
                self._truncated(tp, starts[tp])

    def _shrunk(self, tp: LedgerPartition, copied: int) -> bool:
        """Note that a partition ends before the copy does; return False if it no longer does."""
        # The end was read before the copy, which grows meanwhile.
        end = self._clients.ends([tp], {tp: copied})[tp]
        if end >= copied:
            return False
        topic, partition = tp
        self._break(
            tp,
            LedgerGap(
                f"{topic}/{partition} ends at offset {end}, but {copied} was read before: records "
                "are missing; restore the topic from a backup that has them"
            ),
        )
        return True

    def _truncated(self, tp: LedgerPartition, start: int) -> None:
        topic, partition = tp
        self._break(
            tp,
            LedgerGap(
                f"{topic}/{partition} begins at offset {start}: the records before were deleted; "
                "restore the topic from a backup that has them"
            ),
        )

    def _break(self, tp: LedgerPartition, error: LedgerGap) -> None:
        self._broken[tp] = error
        self._assigned = set()


def received(record: Received) -> Record:
    """Return a Kafka record as a ledger record; without a zone's name it belongs to no zone."""
    return Record(record.offset, _zone_of(record.key), record.value or b"")


@lru_cache(4_096)
def _zone_of(key: bytes | None) -> str:
    try:
        return check_zone((key or b"").decode())
    except (UnicodeDecodeError, InvalidInput):
        return ""
