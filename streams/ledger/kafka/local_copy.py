"""A node's copy of a Kafka ledger: the partitions that it reads, indexed by zone.

Kafka finds records by offset only; agents and read models need them by zone. So each node keeps the
records it has read in a `LedgerFile` of its own. The end of that file is the node's cursor. The
offsets that the consumer group commits to Kafka only inform operators.

Reading resumes at the last copied record, and each process compares that record with the topic's
before it serves anything. If it differs, the topic was restored from an older backup or created
again, and nothing is served.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from pathlib import Path

from aiokafka.errors import OffsetOutOfRangeError, TopicAuthorizationFailedError

from recollect.projections.file_permissions import make_directory
from recollect.schemas.errors import InvalidInput
from recollect.schemas.zones import check_zone
from recollect.streams.ledger.kafka.clients import (
    REQUEST_TIMEOUT_SECONDS,
    Clients,
    DeliveredRecord,
    LedgerPartition,
)
from recollect.streams.ledger.kafka.keys import KeysCopy
from recollect.streams.ledger.kafka.topics import KEYS
from recollect.streams.ledger.ledger import LedgerGap, LedgerUnavailable, Record
from recollect.streams.ledger.ledger_file import Appended, LedgerFile
from recollect.streams.system.locks import exclusive

_BATCH_SIZE = 5_000
#: How often a followed partition is compared with the broker, in seconds.
AUDIT_SECONDS = 5.0
# How long deliveries may lag behind the broker before they are assumed to have stopped.
_DELIVERY_TIMEOUT_SECONDS = 0.5


class LocalCopy:
    """copy/ledger.db and copy/keys.db of a node, and the polling that keeps them up to date."""

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
        # The offset up to which the listener was notified, whichever process copied the records.
        self._notified: dict[LedgerPartition, int] = {}
        self._broken: dict[LedgerPartition, LedgerGap] = {}
        self._assigned: set[LedgerPartition] = set()
        self._audited = 0.0
        self._poll_lock = threading.Lock()
        self._grown = threading.Condition()

    def next(self, tp: LedgerPartition) -> int:
        """Return the offset of the next record to copy from a partition."""
        topic, partition = tp
        return self.keys.next(partition) if topic == KEYS else self.file.end(topic, partition)

    @property
    def followed(self) -> Set[LedgerPartition]:
        """The partitions that this object polls."""
        return self._followed

    @property
    def broken(self) -> Mapping[LedgerPartition, LedgerGap]:
        """The errors of partitions that are no longer read."""
        return self._broken

    def follow(self, tps: Iterable[LedgerPartition]) -> None:
        """Poll these partitions too from now on, and notify the listener of their records."""
        tps = set(tps) - self._delivered
        self._notify_from_here(tps - self._followed)
        self._followed |= tps

    def hand_over(self, tps: Iterable[LedgerPartition]) -> None:
        """Stop polling these partitions: the caller delivers their records from now on.

        It does so through `append_delivered`, and the listener is notified. The caller must have
        compared the partitions' last copied records with the topic's.
        """
        self._followed |= self._delivered
        self._delivered = set(tps)
        self._notify_from_here(self._delivered)
        self._followed -= self._delivered
        self._compared |= self._delivered

    def _notify_from_here(self, tps: Iterable[LedgerPartition]) -> None:
        """Notify the listener, from now on, of every record after the copy's current end.

        This includes records that other processes of this home copy before polling begins here.
        """
        for tp in tps:
            if tp[0] != KEYS and tp not in self._notified:
                self._notified[tp] = self.next(tp)

    def position(self, tp: LedgerPartition) -> int:
        """Return the offset at which to resume reading.

        It is the offset of the last copied record, which is then compared with the topic's, or of
        the last record of which the listener was notified, if that is earlier.
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
        """Copy partitions up to their current end on the broker."""
        self.wait_for_offsets(self._clients.ends(tps))

    def wait_for_offsets(
        self, ends: Mapping[LedgerPartition, int], stall_seconds: float = REQUEST_TIMEOUT_SECONDS
    ) -> None:
        """Wait until the copy has every record before the given ends.

        `stall_seconds`: how long no new record may arrive before the wait fails.

        Raises:
            LedgerGap: a partition ends before the copy does, or its records differ from the copy.
            LedgerUnavailable: the broker does not deliver the records.
        """
        for tp, end in ends.items():
            self.check(tp)
            if end < (copied := self.next(tp)) and self._mark_if_shrunk(tp, copied):
                raise self._broken[tp]
        behind = {tp for tp, end in ends.items() if self._behind(tp, end)}
        polled_for_wait = behind - self._followed - self._delivered
        try:
            self._wait_for_offsets(behind, ends, stall_seconds)
        finally:
            # Partitions polled only for this wait are not followed, and do not notify the listener.
            self._followed -= polled_for_wait
            for tp in polled_for_wait - self._delivered:
                self._notified.pop(tp, None)

    def _wait_for_offsets(
        self,
        behind: set[LedgerPartition],
        ends: Mapping[LedgerPartition, int],
        stall_seconds: float,
    ) -> None:
        began = time.monotonic()
        deadline = began + stall_seconds
        copied = sum(map(self.next, behind))
        while behind:
            self.follow(behind)
            left = deadline - time.monotonic()
            if left <= 0:
                topic, partition = min(behind)
                raise LedgerUnavailable(
                    f"{topic}/{partition} delivered no records within {stall_seconds:.0f} s; "
                    "check that the broker runs, then try again"
                )
            if behind <= self._delivered:
                # `append_delivered` wakes this thread; `poll` would wait for other partitions.
                self.wait(min(left, 0.02))
            else:
                self.poll(min(left, 0.1))
            for tp in behind:
                self.check(tp)
            if (grown := sum(map(self.next, behind))) != copied:
                copied, deadline = grown, time.monotonic() + stall_seconds
            behind = {tp for tp in behind if self._behind(tp, ends[tp])}
            if behind & self._delivered and time.monotonic() - began > _DELIVERY_TIMEOUT_SECONDS:
                # During a rebalance nothing is delivered, and the rebalance waits for this thread.
                # So this thread polls the partitions itself, until `hand_over` is called.
                self._delivered -= behind

    def has_more(self, tp: LedgerPartition, end: int) -> bool:
        """Return whether the copy goes beyond the offset `end` and was compared with the broker."""
        return tp in self._compared and self.next(tp) > end

    def _behind(self, tp: LedgerPartition, end: int) -> bool:
        """Return whether records before `end` are missing or not yet compared with the broker."""
        copied = self.next(tp)
        return copied < end or (copied > 0 and tp[0] != KEYS and tp not in self._compared)

    def poll(self, seconds: float) -> None:
        """Copy the records that arrive within `seconds`; if another thread polls, wait for it."""
        if not self._poll_lock.acquire(blocking=False):
            with self._grown:
                self._grown.wait(min(seconds, 0.02))
            return
        try:
            self._audit()
            if self._followed - self._broken.keys():
                self._poll(seconds)
            else:
                time.sleep(seconds)
        finally:
            self._poll_lock.release()
            self.notify()

    def notify(self) -> None:
        """Wake the threads that wait for records."""
        with self._grown:
            self._grown.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait for new records, at most `seconds`."""
        with self._grown:
            self._grown.wait(seconds)

    def append_delivered(self, tp: LedgerPartition, records: Sequence[DeliveredRecord]) -> None:
        """Append records of a partition; the first may repeat the last copied record.

        Raises:
            LedgerGap: the repeated record differs from the copied one, or a record is missing.
        """
        topic, partition = tp
        if topic == KEYS:
            self.keys.append_delivered(partition, records)
            return
        with self.file.writing():
            end = self.file.end(topic, partition)
            fresh = [record for record in records if record.offset >= end]
            if records[0].offset < end:
                (copied,) = self.file.read(topic, partition, records[0].offset, 1)
                if copied != to_record(records[0]):
                    raise LedgerGap(
                        f"{topic}/{partition} offset {copied.offset} is not the record that was "
                        "there before: the topic was restored from another history or created "
                        "again; restore the topic, or start with a new home"
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

    def append_own(
        self, appended: Mapping[LedgerPartition, tuple[range, Sequence[Appended]]]
    ) -> set[LedgerPartition]:
        """Append records that this process produced, at the offsets that the broker gave them.

        Only records that directly follow the copy's end are appended. If they are delivered later,
        that changes nothing. Return the other partitions: they must be polled, because records of
        other processes come first.
        """
        written: set[LedgerPartition] = set()
        with self.file.writing():
            for tp, (offsets, records) in appended.items():
                is_next = len(offsets) == len(records) and self.next(tp) == offsets.start
                if is_next and not self._behind(tp, offsets.start):
                    self.file.write(*tp, offsets.start, records)
                    written.add(tp)
        for tp in written:
            offsets, records = appended[tp]
            zones = [record.zone for record in records]
            self._notify_listener(tp, list(zip(offsets, zones, strict=True)), offsets.start)
        return appended.keys() - written

    def _notify_listener(
        self, tp: LedgerPartition, records: Sequence[tuple[int, str]], end: int
    ) -> None:
        """Wake waiting threads, and call the listener for new records (offset, zone).

        `end` is the copy's end before them. Another process of this home may have copied them
        already.
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

    def _poll(self, seconds: float) -> None:
        readable = self._followed - self._broken.keys()
        if readable != self._assigned:
            self._assigned = set()
            self._clients.assign({tp: self.position(tp) for tp in readable})
            self._assigned = readable
        try:
            polled = self._clients.poll(seconds, _BATCH_SIZE)
        except OffsetOutOfRangeError as error:
            self._assigned = set()
            self._mark_out_of_range(error)
            return
        except TopicAuthorizationFailedError as error:
            raise LedgerUnavailable(
                f"this Kafka user is not allowed to read: {error}; grant it read access, and "
                "try again"
            ) from None
        for tp, records in polled.items():
            try:
                self.append_delivered(tp, records)
            except LedgerGap as error:
                self._mark_broken(tp, error)
            except BaseException:
                # Records that were not written must be delivered again.
                self._assigned = set()
                raise

    def _audit(self) -> None:
        """Every `AUDIT_SECONDS`, compare followed partitions with the broker.

        Their starts, ends and last copied records are compared.
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
                self._mark_if_shrunk(tp, copied[tp])
        for tp, start in self._clients.starts(tps).items():
            if start > 0 and tp[0] != KEYS:
                self._mark_truncated(tp, start)
        # The next poll begins with the last copied records, and so compares them.
        self._assigned = set()

    def _mark_out_of_range(self, error: OffsetOutOfRangeError) -> None:
        tps = self._followed - self._broken.keys()
        ends, starts = self._clients.ends(tps), self._clients.starts(tps)
        for tp in tps:
            if ends[tp] < (copied := self.next(tp)):
                self._mark_if_shrunk(tp, copied)
            elif starts[tp] > max(copied - 1, 0) and tp[0] != KEYS:
                self._mark_truncated(tp, starts[tp])

    def _mark_if_shrunk(self, tp: LedgerPartition, copied: int) -> bool:
        """Mark a partition broken if it ends before the copy does; return whether it does."""
        # The end that the caller has seen may be outdated.
        end = self._clients.ends([tp], {tp: copied})[tp]
        if end >= copied:
            return False
        topic, partition = tp
        self._mark_broken(
            tp,
            LedgerGap(
                f"{topic}/{partition} ends at offset {end}, but {copied} was read before: records "
                "are missing; restore the topic from a backup that has them"
            ),
        )
        return True

    def _mark_truncated(self, tp: LedgerPartition, start: int) -> None:
        topic, partition = tp
        self._mark_broken(
            tp,
            LedgerGap(
                f"{topic}/{partition} begins at offset {start}: the records before were deleted; "
                "restore the topic from a backup that has them"
            ),
        )

    def _mark_broken(self, tp: LedgerPartition, error: LedgerGap) -> None:
        self._broken[tp] = error
        self._assigned = set()


def to_record(record: DeliveredRecord) -> Record:
    """Convert a Kafka record to a ledger record; a key that names no zone gives an empty zone."""
    return Record(record.offset, _zone_of(record.key), record.value or b"")


@lru_cache(4_096)
def _zone_of(key: bytes | None) -> str:
    try:
        return check_zone((key or b"").decode())
    except (UnicodeDecodeError, InvalidInput):
        return ""
