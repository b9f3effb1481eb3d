"""A Kafka worker: sequences the inbox of its partitions, and decides their zones.

Faust delivers each record of `inbox` and `events` at least once. That is enough: the ledger drops
an inbox record as a duplicate if it was published before, and this node's copy of `events` resumes
at its own end. One child process projects the copied events, and another decides them.
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

from recollect.projections.file_permissions import FILE_MODE
from recollect.schemas.errors import NewerFormat, RecollectError
from recollect.streams.engine.node import Node
from recollect.streams.ledger import (
    CHANGES,
    EVENTS,
    PARTITIONS,
    LedgerGap,
    LedgerUnavailable,
    partition_of,
)
from recollect.streams.ledger.kafka.clients import DeliveredRecord
from recollect.streams.ledger.kafka.inbox_retention import is_marker
from recollect.streams.ledger.kafka.kafka_ledger import KafkaLedger
from recollect.streams.ledger.kafka.settings import KafkaSettings
from recollect.streams.ledger.kafka.topics import INBOX
from recollect.streams.projecting.projector import OnZoneProgress
from recollect.streams.publishing.inbox import InboxRecord, ingest_records, park_gap
from recollect.streams.workers.deciding_process import OwnPartitions, deciding_process
from recollect.streams.workers.faust import Delivered, Partition, Sasl, Settings, run
from recollect.streams.workers.group_commit import GroupCommit
from recollect.streams.workers.processes import OpenNode, WorkerProcess
from recollect.streams.workers.projecting_process import projecting_process

# How often sequenced records are deleted from the inbox, in seconds.
_DELETE_INTERVAL_SECONDS = 1.0
# How often the inbox is checked for gaps, and its segments are rolled to free the brokers' disks.
_GAP_CHECK_SECONDS = 5.0
# How often `periodic` is called.
_PERIODIC_SECONDS = 30.0
_BATCH_SIZE = 500
_COPIERS = 2


def run_worker(
    open_node: OpenNode,
    report: OnZoneProgress,
    *,
    member: str | None = None,
    periodic: Callable[[Node, str], None] | None = None,
    on_ownership: Callable[[frozenset[int]], None] | None = None,
    heartbeat: Path,
) -> None:
    """Run a worker until SIGINT or SIGTERM.

    `open_node` is called in each of the worker's processes. `periodic` is called every 30 seconds
    with each zone that this worker owns, to append events that are due, such as ticks.
    `on_ownership` is called with this worker's partitions whenever they change. `member`: the
    worker's static member id in the consumer group. `heartbeat`: a file that is touched while the
    worker is healthy.

    Raises:
        LedgerGap: a topic has lost records, or was recreated with others.
    """
    node, ledger = open_node()
    try:
        # The topics must exist before Faust joins the group.
        ledger.connect()
        projected_writer, projected_reader = multiprocessing.get_context("spawn").Pipe()
        with (
            deciding_process(open_node, report, projected_reader) as deciding,
            projecting_process(open_node, report, projected_writer) as projecting,
        ):
            projected_reader.close()
            projected_writer.close()
            run(
                _settings(ledger.settings, member),
                [ledger.settings.topic(INBOX), ledger.settings.topic(EVENTS)],
                _Worker(
                    node, ledger, deciding, projecting, report, periodic, on_ownership, heartbeat
                ),
                dense={ledger.settings.topic(EVENTS)},
            )
    finally:
        node.close()


def sequence_inbox(ledger: KafkaLedger, report: OnZoneProgress) -> None:
    """Publish the current records of the inbox, as a worker would, and delete them from the inbox.

    Several processes may do so at the same time: an event that was already published is dropped as
    a duplicate.
    """
    partitions = range(PARTITIONS)
    _report_gaps(ledger, partitions, report)
    tps = [(INBOX, partition) for partition in partitions]
    starts, ends = ledger.clients.starts(tps), ledger.clients.ends(tps)
    for tp in tps:
        offset = starts[tp]
        while offset < ends[tp]:
            try:
                records = ledger.clients.read(tp, offset, min(_BATCH_SIZE, ends[tp] - offset))
            except OffsetOutOfRangeError:
                # Another sequencer was faster and has deleted the records.
                offset = ledger.clients.starts([tp])[tp]
                continue
            ingest_records(ledger, _to_inbox_records(records))
            # A transaction marker has an offset, but is not a record.
            offset = records[-1].offset + 1 if records else ends[tp]
            if (upto := _deletable_up_to(records)) is not None or not records:
                ledger.inbox.delete_before({tp[1]: offset if upto is None else upto})
    ledger.flush_deletions(partitions)


def _to_inbox_records(records: Iterable[DeliveredRecord]) -> list[InboxRecord]:
    return [
        InboxRecord(record.key, record.value, record.timestamp)
        for record in records
        if not is_marker(record.key, record.value)
    ]


def _deletable_up_to(records: Iterable[DeliveredRecord]) -> int | None:
    """Return the offset after the last record that is not a marker; None if all are markers."""
    offsets = [record.offset for record in records if not is_marker(record.key, record.value)]
    return offsets[-1] + 1 if offsets else None


def _report_gaps(ledger: KafkaLedger, partitions: Collection[int], report: OnZoneProgress) -> None:
    """Report and park records that were deleted from the inbox before they were sequenced."""
    for partition, offsets in ledger.inbox.deleted_unsequenced(partitions).items():
        now = time.time_ns() // 1_000_000
        report("", LedgerGap(park_gap(ledger, partition, offsets, now)))
        ledger.inbox.save_sequenced({partition: offsets.stop})


def _settings(settings: KafkaSettings, member: str | None) -> Settings:
    sasl = None
    if settings.uses_sasl:
        assert settings.username is not None
        assert settings.password is not None
        sasl = Sasl(
            mechanism=settings.sasl_mechanism,
            username=settings.username,
            password=settings.password,
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
    """Handles the records that Faust delivers."""

    def __init__(
        self,
        node: Node,
        ledger: KafkaLedger,
        deciding: WorkerProcess,
        projecting: WorkerProcess,
        report: OnZoneProgress,
        periodic: Callable[[Node, str], None] | None,
        on_ownership: Callable[[frozenset[int]], None] | None,
        heartbeat: Path,
    ) -> None:
        self._node = node
        self._ledger = ledger
        self._deciding = deciding
        self._projecting = projecting
        self._owned: frozenset[int] = frozenset()
        self._report = report
        self._periodic = periodic
        self._on_ownership = on_ownership
        self._heartbeat = heartbeat
        self._inbox = ledger.settings.topic(INBOX)
        self._sequenced: dict[int, int] = {}
        self._stopping = threading.Event()
        # Sequencing waits until its events are copied, so copying needs threads of its own.
        self._sequencing = ThreadPoolExecutor(1, thread_name_prefix="sequence")
        self._group_commit = GroupCommit(self._sequence)
        self._copying = ThreadPoolExecutor(_COPIERS, thread_name_prefix="copy")
        self._housekeeping = threading.Thread(target=self._run_housekeeping, daemon=True)
        ledger.copy.listener = self._on_copied

    async def _run(
        self, executor: Executor, function: Callable[..., object], *arguments: object
    ) -> None:
        await asyncio.get_running_loop().run_in_executor(executor, function, *arguments)

    async def started(self) -> None:
        self._housekeeping.start()

    async def stopped(self) -> None:
        self._stopping.set()
        if self._on_ownership is not None:
            self._on_ownership(frozenset())
        await self._run(self._copying, self._housekeeping.join)
        self._sequencing.shutdown()
        self._copying.shutdown()

    async def assigned(self, partitions: Set[Partition]) -> None:
        owned = frozenset(number for _, number in partitions)
        await self._run(self._copying, self._take_over, owned)

    def _take_over(self, owned: frozenset[int]) -> None:
        # The former owner may have written until now: copy its records first (rule 4 of
        # docs/commit.md).
        self._ledger.copy.refresh(
            [(topic, number) for topic in (EVENTS, CHANGES) for number in owned]
        )
        _report_gaps(self._ledger, owned, self._report)
        self._set_owned(owned)

    async def revoked(self, partitions: Set[Partition]) -> None:
        await self._run(self._copying, self._set_owned, frozenset())

    def _set_owned(self, owned: frozenset[int]) -> None:
        self._owned = owned
        self._ledger.copy.hand_over((EVENTS, partition) for partition in owned)
        self._deciding.send(OwnPartitions(owned))
        if self._on_ownership is not None:
            self._on_ownership(owned)

    def _on_copied(self, topic: str, partition: int, zones: Set[str]) -> None:
        """Pass zones with new events on to the projecting process."""
        if topic == EVENTS and partition in self._owned:
            self._projecting.send(zones)

    def cursor(self, topic: str, partition: int) -> int | None:
        if topic == self._inbox:
            # Read from the start: no record that is left in the inbox has been sequenced.
            return None
        return self._ledger.copy.position((EVENTS, partition))

    async def deliver(self, topic: str, partition: int, records: Sequence[Delivered]) -> None:
        if topic == self._inbox:
            if (upto := _deletable_up_to(records)) is not None:
                await self._group_commit.submit(_to_inbox_records(records))
                self._sequenced[partition] = upto
        else:
            await self._run(
                self._copying, self._ledger.copy.append_delivered, (EVENTS, partition), records
            )

    async def _sequence(self, records: Sequence[InboxRecord]) -> None:
        await self._run(self._sequencing, ingest_records, self._ledger, records)

    def is_retryable(self, error: Exception) -> bool:
        # Space may be freed, a broker may come back, and a newer worker may take over a zone that
        # this one cannot read; a gap in the ledger is permanent.
        return isinstance(
            error, LedgerUnavailable | NewerFormat | OSError | apsw.Error
        ) and not isinstance(error, LedgerGap)

    def _run_housekeeping(self) -> None:
        """Do what is due periodically, until the worker stops.

        Delete sequenced records from the inbox and the brokers' disks, destroy the keys of void
        events, touch the heartbeat, and run the periodic work.
        """
        last_periodic = last_gap_check = time.monotonic()
        while not self._stopping.wait(_DELETE_INTERVAL_SECONDS):
            try:
                self._delete_sequenced()
                if time.monotonic() - last_gap_check > _GAP_CHECK_SECONDS:
                    last_gap_check = time.monotonic()
                    _report_gaps(self._ledger, self._owned, self._report)
                    self._ledger.flush_deletions(self._owned)
                for partition in self._owned:
                    self._ledger.destroy_void_keys(partition)
                self._heartbeat.touch(FILE_MODE)
                if self._periodic and time.monotonic() - last_periodic > _PERIODIC_SECONDS:
                    last_periodic = time.monotonic()
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
