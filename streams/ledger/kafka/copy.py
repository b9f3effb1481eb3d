"""A node's copy of a Kafka ledger: the partitions that it reads, indexed by zone, kept in step.

Kafka finds records by offset only; agents and read models ask for a zone's. So each node keeps
what it reads in a `LedgerFile` of its own. Its end is the cursor: whatever the node does next is
decided from there, and what Kafka has committed for a group is a hint to operators.

The copy is read on with one record of overlap, and each process looks at that record before it
serves anything. Where it is another than the one that was copied, the topic was restored from an
older backup or made anew, and nothing is served.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from aiokafka.errors import OffsetOutOfRangeError, TopicAuthorizationFailedError

from projections.private import make_directory
from schemas.errors import InvalidInput
from schemas.zones import check_zone
from streams.ledger.kafka.clients import PATIENCE, Clients, Place
from streams.ledger.kafka.keys import KeysCopy
from streams.ledger.kafka.topics import KEYS
from streams.ledger.ledger import LedgerGap, LedgerUnavailable, Record
from streams.ledger.ledger_file import Appended, LedgerFile
from streams.system.locks import exclusive


class Received(Protocol):
    """A record as Kafka delivers it; `timestamp` is unix ms."""

    @property
    def offset(self) -> int:
        """Its place in the partition."""
        ...

    @property
    def key(self) -> bytes | None:
        """What chooses its partition."""
        ...

    @property
    def value(self) -> bytes | None:
        """Its content; None: a tombstone."""
        ...

    @property
    def timestamp(self) -> int:
        """When the broker took it, in unix ms."""
        ...


_PAGE = 5_000
#: How often a place that is followed is compared with the broker, in seconds.
AUDIT_SECONDS = 5.0
# Who brings records here that are on the broker is taken to have stopped after so long.
_DELIVERED_SECONDS = 0.5


class Copy:
    """copy/ledger.db and copy/keys.db of a node, and what brings them up to the topics."""

    def __init__(self, directory: Path, clients: Clients) -> None:
        make_directory(directory)
        with exclusive(directory / "copy.lock"):
            self.file = LedgerFile(directory / "ledger.db", durable=False)
            self.keys = KeysCopy(directory / "keys.db")
        self._clients = clients
        #: Called with the topic, the partition and the zones of records that were taken in.
        self.listener: Callable[[str, int, Set[str]], None] | None = None
        self._followed: set[Place] = set()
        self._delivered: set[Place] = set()
        self._compared: set[Place] = set()
        # Up to where the listener knows of records, whichever process of this home copied them.
        self._told: dict[Place, int] = {}
        self._broken: dict[Place, LedgerGap] = {}
        self._assigned: set[Place] = set()
        self._audited = 0.0
        self._pulling = threading.Lock()
        self._grown = threading.Condition()

    def next(self, place: Place) -> int:
        """Return the offset of the next record to take from a partition."""
        topic, partition = place
        return self.keys.next(partition) if topic == KEYS else self.file.end(topic, partition)

    @property
    def followed(self) -> Set[Place]:
        """The partitions that are read."""
        return self._followed

    @property
    def broken(self) -> Mapping[Place, LedgerGap]:
        """What is wrong with partitions that are not read any more."""
        return self._broken

    def follow(self, places: Iterable[Place]) -> None:
        """Read these partitions from now on, besides those that are read already."""
        self._followed |= set(places) - self._delivered

    def deliver(self, places: Iterable[Place]) -> None:
        """Do not read these partitions any more, and no others less: others bring them here.

        Whoever does so has compared them with the broker's.
        """
        self._followed |= self._delivered
        self._delivered = set(places)
        self._followed -= self._delivered
        self._compared |= self._delivered

    def position(self, place: Place) -> int:
        """Return the offset to read a partition on from: that of the last record that was copied,
        to see that it is still the same, or of the first that the listener was not told of."""
        copied = self.next(place)
        if place[0] == KEYS:
            return copied
        return max(min(copied, self._told.setdefault(place, copied)) - 1, 0)

    def check(self, place: Place) -> None:
        """Raise what is wrong with a partition.

        Raises:
            LedgerGap: records are missing, or are not those that were copied.
        """
        if place in self._broken:
            raise self._broken[place]

    def refresh(self, places: Iterable[Place]) -> None:
        """Bring the copy of partitions up to the end that they have on the broker now."""
        self.reach(self._clients.ends(places))

    def reach(self, ends: Mapping[Place, int], patience: float = PATIENCE) -> None:
        """Wait until the copy has every record before the given ends.

        `patience` is how many seconds may pass without any of them.

        Raises:
            LedgerGap: a partition ends before what was copied, or has other records there.
            LedgerUnavailable: the broker does not deliver the records.
        """
        for place, end in ends.items():
            self.check(place)
            if end < (copied := self.next(place)) and self._shrunk(place, copied):
                raise self._broken[place]
        behind = {place for place, end in ends.items() if self._behind(place, end)}
        unread = behind - self._followed - self._delivered
        try:
            self._reach(behind, ends, patience)
        finally:
            # What is read for this alone is not followed, and nobody is told of it.
            self._followed -= unread
            for place in unread:
                self._told.pop(place, None)

    def _reach(self, behind: set[Place], ends: Mapping[Place, int], patience: float) -> None:
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
                # Who brings them says so; in `pull` this thread would wait for other partitions.
                self.wait(min(left, 0.02))
            else:
                self.pull(min(left, 0.1))
            for place in behind:
                self.check(place)
            if (grown := sum(map(self.next, behind))) != copied:
                copied, deadline = grown, time.monotonic() + patience
            behind = {place for place in behind if self._behind(place, ends[place])}
            if behind & self._delivered and time.monotonic() - began > _DELIVERED_SECONDS:
                # At the end of a term nothing is delivered any more, and whoever ends it waits
                # for this: from now on they are read here as well, until `deliver` is called.
                self._delivered -= behind

    def has_more(self, place: Place, end: int) -> bool:
        """Return whether the copy goes on after `end`, and was seen to be the broker's."""
        return place in self._compared and self.next(place) > end

    def _behind(self, place: Place, end: int) -> bool:
        """Return whether records before `end` are missing, or may be others than the broker's."""
        copied = self.next(place)
        return copied < end or (copied > 0 and place[0] != KEYS and place not in self._compared)

    def pull(self, seconds: float) -> None:
        """Take in what comes within `seconds`, or wait for the thread that is at it."""
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
        """Wake those who wait for records."""
        with self._grown:
            self._grown.notify_all()

    def wait(self, seconds: float) -> None:
        """Wait until records came, at most `seconds`."""
        with self._grown:
            self._grown.wait(seconds)

    def take(self, place: Place, records: Sequence[Received]) -> None:
        """Take records of a partition in; the first may be one that was copied.

        Raises:
            LedgerGap: there is another record than that, or one between is missing.
        """
        topic, partition = place
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
            self._compared.add(place)
        self._tell(place, [(record.offset, _zone_of(record.key)) for record in records], end)

    def take_own(self, appended: Mapping[Place, tuple[range, Sequence[Appended]]]) -> set[Place]:
        """Take in what this process has appended to partitions, at these offsets.

        The broker said where they are: right after the copy's end there is nothing else, and
        they need not be read back. Whoever brings them again brings what is there.

        Return the partitions whose copy has to be brought there: records of others come first.
        """
        taken: set[Place] = set()
        with self.file.writing():
            for place, (offsets, records) in appended.items():
                there = len(offsets) == len(records) and self.next(place) == offsets.start
                if there and not self._behind(place, offsets.start):
                    self.file.write(*place, offsets.start, records)
                    taken.add(place)
        for place in taken:
            offsets, records = appended[place]
            zones = [record.zone for record in records]
            self._tell(place, list(zip(offsets, zones, strict=True)), offsets.start)
        return appended.keys() - taken

    def _tell(self, place: Place, records: Sequence[tuple[int, str]], end: int) -> None:
        """Wake who waits, and call the listener, of records (offset, zone) that are copied now.

        `end` was the copy's before. Another process of this home may have copied them already.
        """
        self.notify()
        told = self._told.get(place, end)
        new = {zone for offset, zone in records if zone and offset >= min(told, end)}
        self._told[place] = max(told, records[-1][0] + 1)
        if self.listener and new:
            self.listener(*place, new)

    def close(self) -> None:
        """Close the files."""
        self.file.close()
        self.keys.close()

    def _pull(self, seconds: float) -> None:
        wanted = self._followed - self._broken.keys()
        if wanted != self._assigned:
            self._assigned = set()
            self._clients.assign({place: self.position(place) for place in wanted})
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
        for place, records in found.items():
            try:
                self.take(place, records)
            except LedgerGap as error:
                self._break(place, error)
            except BaseException:
                # What was not written down must be delivered again.
                self._assigned = set()
                raise

    def _audit(self) -> None:
        """Compare followed partitions with the broker now and then: ends, starts, the overlap."""
        now = time.monotonic()
        if now - self._audited < AUDIT_SECONDS or not self._assigned:
            return
        first, self._audited = self._audited == 0.0, now
        if first:
            return
        places = self._assigned
        copied = {place: self.next(place) for place in places}
        for place, end in self._clients.ends(places).items():
            if end < copied[place]:
                self._shrunk(place, copied[place])
        for place, start in self._clients.starts(places).items():
            if start > 0 and place[0] != KEYS:
                self._truncated(place, start)
        # The next pull begins with the overlap.
        self._assigned = set()

    def _out_of_range(self, error: OffsetOutOfRangeError) -> None:
        places = self._followed - self._broken.keys()
        ends, starts = self._clients.ends(places), self._clients.starts(places)
        for place in places:
            if ends[place] < (copied := self.next(place)):
                self._shrunk(place, copied)
            elif starts[place] > max(copied - 1, 0) and place[0] != KEYS:
                self._truncated(place, starts[place])

    def _shrunk(self, place: Place, copied: int) -> bool:
        """Note that a partition ends before what was copied; False if it does so no more."""
        # The end was asked for before the copy was looked at, which grows meanwhile.
        end = self._clients.ends([place], {place: copied})[place]
        if end >= copied:
            return False
        topic, partition = place
        self._break(
            place,
            LedgerGap(
                f"{topic}/{partition} ends at offset {end}, but {copied} was read before: records "
                "are missing; restore the topic from a backup that has them"
            ),
        )
        return True

    def _truncated(self, place: Place, start: int) -> None:
        topic, partition = place
        self._break(
            place,
            LedgerGap(
                f"{topic}/{partition} begins at offset {start}: the records before were deleted; "
                "restore the topic from a backup that has them"
            ),
        )

    def _break(self, place: Place, error: LedgerGap) -> None:
        self._broken[place] = error
        self._assigned = set()


def received(record: Received) -> Record:
    """Return a Kafka record as one of the ledger; one that names no zone belongs to none."""
    return Record(record.offset, _zone_of(record.key), record.value or b"")


@lru_cache(4_096)
def _zone_of(key: bytes | None) -> str:
    try:
        return check_zone((key or b"").decode())
    except (UnicodeDecodeError, InvalidInput):
        return ""
