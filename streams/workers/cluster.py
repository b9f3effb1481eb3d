"""One worker of many on Kafka: sequences the inbox of its partitions, decides their zones.

Faust brings the records of `inbox` and `events`; what is done with them does not depend on when
or how often it does. An inbox record that was published to the ledger before is a duplicate
there. An event is taken into this node's copy, whose end is the cursor. From there a process of its
own makes it searchable, and another one decides.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence, Set
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import apsw
from aiokafka.errors import OffsetOutOfRangeError

from projections.private import FILE_MODE
from schemas.errors import RecollectError, UnknownVersion
from streams.engine.node import Node
from streams.ledger import (
    CHANGES,
    EVENTS,
    PARTITIONS,
    LedgerGap,
    LedgerUnavailable,
    partition_of,
)
from streams.ledger.kafka.copy import Received
from streams.ledger.kafka.inbox_retention import is_marker
from streams.ledger.kafka.kafka_ledger import KafkaLedger
from streams.ledger.kafka.settings import KafkaSettings
from streams.ledger.kafka.topics import INBOX
from streams.publishing.inbox import Posted, park_lost, take_in
from streams.workers.deciding_process import Own, deciding_process
from streams.workers.faust import Delivered, Partition, Sasl, Settings, run
from streams.workers.group_commit import Together
from streams.workers.processes import Opens, SideProcess
from streams.workers.projecting_process import projecting_process
from streams.workers.upkeep import Report

# What was sequenced is deleted from the inbox this often.
_DELETE_SECONDS = 1.0
# How often it looks for what was deleted unread, and for what is to leave the disks.
_LOOK_SECONDS = 5.0
_PERIOD_SECONDS = 300.0
_AT_ONCE = 500
_COPIERS = 2


def work(
    opens: Opens,
    report: Report,
    *,
    member: str | None = None,
    periodic: Callable[[Node, str], None] | None = None,
    heartbeat: Path,
) -> None:
    """Be one of the workers until SIGINT or SIGTERM.

    `opens` opens the home's node, in each of the worker's processes. `periodic` is called now
    and then with a zone that this worker owns: it appends what is due, such as ticks. `member` is
    this worker's name in the group, kept over a restart. `heartbeat` is a file that is touched
    while the work goes on.

    Raises:
        LedgerGap: a topic is not what it was when it was read before.
    """
    node, ledger = opens()
    try:
        # The topics are there before Faust joins the group.
        ledger.connect()
        bringing, projected = multiprocessing.get_context("spawn").Pipe()
        with (
            deciding_process(opens, report, projected) as deciding,
            projecting_process(opens, report, bringing) as projecting,
        ):
            projected.close()
            bringing.close()
            run(
                _settings(ledger.settings, member),
                [ledger.settings.topic(INBOX), ledger.settings.topic(EVENTS)],
                _Worker(node, ledger, deciding, projecting, report, periodic, heartbeat),
                dense={ledger.settings.topic(EVENTS)},
            )
    finally:
        node.close()


def sequence_inbox(ledger: KafkaLedger, report: Report) -> None:
    """Publish what the inbox holds now, as the workers would, and delete it there.

    Others may do so at the same time: what comes second is a duplicate.
    """
    everywhere = range(PARTITIONS)
    _tell_of_lost(ledger, everywhere, report)
    places = [(INBOX, partition) for partition in everywhere]
    starts, ends = ledger.clients.starts(places), ledger.clients.ends(places)
    for place in places:
        offset = starts[place]
        while offset < ends[place]:
            try:
                records = ledger.clients.read(place, offset, min(_AT_ONCE, ends[place] - offset))
            except OffsetOutOfRangeError:
                # Another sequencer was faster, and has deleted them.
                offset = ledger.clients.starts([place])[place]
                continue
            take_in(ledger, _posted(records))
            # What a transaction leaves takes an offset, and is no record.
            offset = records[-1].offset + 1 if records else ends[place]
            if (upto := _taken(records)) is not None or not records:
                ledger.inbox.delete_before({place[1]: offset if upto is None else upto})
    ledger.finish_erasures(everywhere)


def _posted(records: Iterable[Received]) -> list[Posted]:
    return [
        Posted(record.key, record.value, record.timestamp)
        for record in records
        if not is_marker(record.key, record.value)
    ]


def _taken(records: Iterable[Received]) -> int | None:
    """Return up to which offset these records can be deleted; a marker stays at the end."""
    offsets = [record.offset for record in records if not is_marker(record.key, record.value)]
    return offsets[-1] + 1 if offsets else None


def _tell_of_lost(ledger: KafkaLedger, partitions: Collection[int], report: Report) -> None:
    """Say, and park, what was deleted from the inbox before anybody took it in."""
    for partition, offsets in ledger.inbox.missing(partitions).items():
        now = time.time_ns() // 1_000_000
        report("", LedgerGap(park_lost(ledger, partition, offsets, now)))
        ledger.inbox.note({partition: offsets.stop})


def _settings(settings: KafkaSettings, member: str | None) -> Settings:
    sasl = None
    if settings.protocol.startswith("SASL"):
        assert settings.username is not None
        assert settings.password is not None
        sasl = Sasl(
            mechanism=settings.mechanism, username=settings.username, password=settings.password
        )
    return Settings(
        servers=settings.servers,
        group=settings.group,
        member=member,
        session_timeout=settings.session_seconds,
        tls=settings.ssl_context(),
        sasl=sasl,
    )


class _Worker:
    """What Faust delivers to."""

    def __init__(
        self,
        node: Node,
        ledger: KafkaLedger,
        deciding: SideProcess,
        projecting: SideProcess,
        report: Report,
        periodic: Callable[[Node, str], None] | None,
        heartbeat: Path,
    ) -> None:
        self._node = node
        self._ledger = ledger
        self._deciding = deciding
        self._projecting = projecting
        self._owned: frozenset[int] = frozenset()
        self._report = report
        self._periodic = periodic
        self._heartbeat = heartbeat
        self._inbox = ledger.settings.topic(INBOX)
        self._sequenced: dict[int, int] = {}
        self._stopping = threading.Event()
        # Who sequences waits until the events that he wrote are copied: apart, or all threads wait.
        self._sequencing = ThreadPoolExecutor(1, thread_name_prefix="sequence")
        self._posted = Together(self._sequence)
        self._copying = ThreadPoolExecutor(_COPIERS, thread_name_prefix="copy")
        self._housekeeping = threading.Thread(target=self._keep_house, daemon=True)
        ledger.copy.listener = self._taken

    async def _run(
        self, executor: Executor, work: Callable[..., object], *arguments: object
    ) -> None:
        await asyncio.get_running_loop().run_in_executor(executor, work, *arguments)

    async def started(self) -> None:
        self._housekeeping.start()

    async def stopped(self) -> None:
        self._stopping.set()
        await self._run(self._copying, self._housekeeping.join)
        self._sequencing.shutdown()
        self._copying.shutdown()

    async def assigned(self, partitions: Set[Partition]) -> None:
        owned = frozenset(number for _, number in partitions)
        await self._run(self._copying, self._take_over, owned)

    def _take_over(self, owned: frozenset[int]) -> None:
        # Whoever had them may have written until now: what is there is followed first (rule 4 of
        # docs/commit.md).
        self._ledger.copy.refresh(
            [(topic, number) for topic in (EVENTS, CHANGES) for number in owned]
        )
        _tell_of_lost(self._ledger, owned, self._report)
        self._own(owned)

    async def revoked(self, partitions: Set[Partition]) -> None:
        await self._run(self._copying, self._own, frozenset())

    def _own(self, owned: frozenset[int]) -> None:
        self._owned = owned
        self._ledger.copy.deliver((EVENTS, partition) for partition in owned)
        self._deciding.tell(Own(owned))

    def _taken(self, topic: str, partition: int, zones: Set[str]) -> None:
        """Called by the copy when records came."""
        if topic == EVENTS and partition in self._owned:
            self._projecting.tell(zones)

    def cursor(self, topic: str, partition: int) -> int | None:
        if topic == self._inbox:
            # What is left of it has not been sequenced.
            return None
        return self._ledger.copy.position((EVENTS, partition))

    async def deliver(self, topic: str, partition: int, records: Sequence[Delivered]) -> None:
        if topic == self._inbox:
            if (upto := _taken(records)) is not None:
                await self._posted.done(_posted(records))
                self._sequenced[partition] = upto
        else:
            await self._run(self._copying, self._ledger.copy.take, (EVENTS, partition), records)

    async def _sequence(self, posted: Sequence[Posted]) -> None:
        await self._run(self._sequencing, take_in, self._ledger, posted)

    def retryable(self, error: Exception) -> bool:
        # A full disk may be emptied, a broker come back, a newer worker take a zone over that this
        # one cannot read; a ledger that changed does not heal.
        return isinstance(
            error, LedgerUnavailable | UnknownVersion | OSError | apsw.Error
        ) and not isinstance(error, LedgerGap)

    def _keep_house(self) -> None:
        """Empty the inbox of what was sequenced, see that it leaves the brokers' disks, end the
        keys of what came second, beat, and do what is due now and then."""
        worked = looked = time.monotonic()
        while not self._stopping.wait(_DELETE_SECONDS):
            try:
                self._delete_sequenced()
                if time.monotonic() - looked > _LOOK_SECONDS:
                    looked = time.monotonic()
                    _tell_of_lost(self._ledger, self._owned, self._report)
                    self._ledger.finish_erasures(self._owned)
                for partition in self._owned:
                    self._ledger.destroy_void_keys(partition)
                self._heartbeat.touch(FILE_MODE)
                if self._periodic and time.monotonic() - worked > _PERIOD_SECONDS:
                    worked = time.monotonic()
                    for zone in self._ledger.copy.file.zones():
                        if partition_of(zone) in self._owned:
                            self._periodic(self._node, zone)
            except (RecollectError, OSError, apsw.Error) as error:
                self._report("", error)

    def _delete_sequenced(self) -> None:
        sequenced = dict(self._sequenced)
        if sequenced:
            self._ledger.inbox.delete_before(sequenced)
            for partition, offset in sequenced.items():
                if self._sequenced.get(partition) == offset:
                    del self._sequenced[partition]
