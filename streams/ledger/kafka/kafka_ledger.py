"""The ledger on Kafka: topics that nodes share; each node reads them through its local copy.

Concurrency is optimistic: events and changes are appended unconditionally, their order in the
topics decides, and a record that does not extend its chain is void.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

import msgspec
from aiokafka.errors import OffsetOutOfRangeError

from recollect.projections.generations import DEFAULT_AGENTS, OWN_AGENTS
from recollect.schemas.errors import HomeError
from recollect.schemas.events import Draft
from recollect.schemas.ledger.records import Envelope
from recollect.schemas.wire import Receipt
from recollect.schemas.zones import check_zone
from recollect.streams.ledger.kafka.clients import Clients, KeyedValue, LedgerPartition
from recollect.streams.ledger.kafka.inbox_retention import Inbox
from recollect.streams.ledger.kafka.keys import KEY_PARTITIONS, KafkaKeys
from recollect.streams.ledger.kafka.local_copy import LocalCopy, to_record
from recollect.streams.ledger.kafka.settings import NO_ENCODER, NO_READER, KafkaSettings
from recollect.streams.ledger.kafka.topics import INBOX, KEYS, TopicCheck
from recollect.streams.ledger.ledger import (
    CHANGES,
    EVENTS,
    PARTITIONS,
    RECORDINGS,
    TOPICS,
    Head,
    Ledger,
    LedgerGap,
    LedgerUnavailable,
    Record,
)
from recollect.streams.ledger.ledger_file import Appended
from recollect.streams.ledger.partitioner import partition_of
from recollect.streams.ledger.sequencer import KnownEvent, Sequenced, known_event, sequence
from recollect.streams.system.failpoints import failpoint

# Names of values that all nodes share.
_AGENTS = "agents"
_READER = "reader"
# Poll interval for topics that this process does not follow.
_POLL_INTERVAL_SECONDS = 0.05
# How often `publish` retries after losing a race. Each lost race means that another sequencer had
# an event accepted.
_MAX_RETRIES = 100
_BATCH_SIZE = 2_000
#: How long the number of workers is cached, in seconds.
_WORKERS_CACHE_SECONDS = 2.0


class KafkaLedger(Ledger):
    """A Kafka ledger, as a node in `directory` sees it.

    `follows`: another thread or process polls continuously, so reads use the copy as it is;
    otherwise each read first brings the copy up to the topic's end. Either way, when `append` or
    `publish` returns, the copy holds what it appended. `writes` False: a replica, which appends
    nothing. All nodes of a ledger must have the same `encoder` (its exact name) and the same
    `agents`. All nodes that decide must have the same `reader`. `secret`: the secret of an embedded
    ledger that moves to these topics.

    A pickle contains what is needed to open the ledger again; the reopened ledger reads the copy as
    it is.
    """

    shared = True

    def __init__(
        self,
        settings: KafkaSettings,
        directory: Path,
        *,
        encoder: str = NO_ENCODER,
        reader: str = NO_READER,
        agents: tuple[str, ...] = DEFAULT_AGENTS,
        follows: bool = False,
        writes: bool = True,
        secret: bytes | None = None,
    ) -> None:
        self.settings = settings
        self._encoder = encoder
        self._reader = reader
        self._agents = agents
        self._secret = secret
        self._follows = follows
        self._writes = writes
        self._publishing = [threading.Lock() for _ in range(PARTITIONS)]
        self._cached_workers = (-_WORKERS_CACHE_SECONDS, 0)
        self._connecting = threading.RLock()
        self._keys: KafkaKeys | None = None
        self._inbox: Inbox | None = None
        #: The result of checking the topics; None until they are checked.
        self.topics: TopicCheck | None = None
        #: The clients of the brokers; they connect on first use.
        self.clients = Clients(settings)
        #: This node's copy of the topics that it reads.
        self.copy = LocalCopy(directory, self.clients)
        self._directory = directory

    def __reduce__(self) -> tuple[Callable[..., KafkaLedger], tuple[object, ...]]:
        reopen = partial(
            KafkaLedger,
            encoder=self._encoder,
            reader=self._reader,
            agents=self._agents,
            follows=True,
            writes=self._writes,
        )
        return reopen, (self.settings, self._directory)

    @property
    def keys(self) -> KafkaKeys:
        self.connect()
        assert self._keys is not None
        return self._keys

    @property
    def inbox(self) -> Inbox:
        """The topic to which clients publish."""
        self.connect()
        assert self._inbox is not None
        return self._inbox

    def flush_deletions(self, partitions: Collection[int]) -> None:
        """Make the brokers purge destroyed keys and deleted records from their disks.

        They would not while nothing else is written, so the owner of the partitions calls this
        periodically.
        """
        self.connect()
        assert self.topics is not None
        self.inbox.roll_segments(partitions)
        self.keys.roll_segments(partitions, self.topics.roll_seconds[KEYS])

    def durability_warnings(self) -> list[str]:
        """Return warnings about unsafe broker settings, and about records deleted unsequenced."""
        self.connect()
        assert self.topics is not None
        return [
            *self.topics.warnings,
            *(
                f"inbox/{partition}: {len(gone)} records were deleted before they were sequenced"
                for partition, gone in self.inbox.deleted_unsequenced(range(PARTITIONS)).items()
            ),
        ]

    def connect(self) -> None:
        """Create or check the topics, and compare settings with the other nodes, once.

        Called only when the brokers are needed: reading a followed copy works without them.
        """
        with self._connecting:
            if self._keys is None:
                self.topics = self.clients.ensure_topics()
                keys = KafkaKeys(
                    self.clients,
                    self.copy.keys,
                    lambda: self.copy.refresh(KEY_PARTITIONS),
                    writes=self._writes,
                    secret=self._secret,
                )
                self._check_encoder(keys)
                self._check_agents(keys)
                if self._writes:
                    self._check_reader(keys)
                if self._writes:
                    tps = [(INBOX, partition) for partition in range(PARTITIONS)]
                    keys.begin_inbox(lambda: list(self.clients.starts(tps).values()))
                self._inbox = Inbox(self.clients, keys, self.topics.roll_seconds[INBOX])
                self._keys = keys

    def _check_encoder(self, keys: KafkaKeys) -> None:
        """Raise HomeError if the ledger's vectors come from another encoder."""
        shared = keys.get_or_set_shared("encoder", self._encoder.encode()).decode()
        if shared != self._encoder:
            raise HomeError(
                f"the nodes of {self.settings.url} use the encoder {shared}, but this home has "
                f"{self._encoder}: create a home with their encoder (recollect init --encoder)"
            )

    def _check_agents(self, keys: KafkaKeys) -> None:
        """Raise HomeError if other agents decide in this ledger.

        If there are events but no agents are recorded, an older build wrote the events. Such builds
        had only recollect's own agents.
        """
        agents = self._agents
        if self.copy.keys.shared_value(_AGENTS) is None:
            if not self._writes:
                # A replica decides nothing, and no decider has written yet.
                return
            if self._has_events():
                agents = OWN_AGENTS
        shared = keys.get_or_set_shared(_AGENTS, ",".join(agents).encode()).decode()
        if shared != (own_agents := ",".join(self._agents)):
            raise HomeError(
                f"the nodes of {self.settings.url} decide with the agents {shared}, but this home "
                f"uses {own_agents}: set it to the same agents (recollect init --agents {shared}), "
                "or start over under another prefix (kafka://host:port/prefix)"
            )

    def _check_reader(self, keys: KafkaKeys) -> None:
        """Raise HomeError if decisions in this ledger rest on another reader.

        If there are events but no reader is recorded, an older build without a reader wrote them.
        """
        unknown = self.copy.keys.shared_value(_READER) is None
        reader = NO_READER if unknown and self._has_events() else self._reader
        shared = keys.get_or_set_shared(_READER, reader.encode()).decode()
        if shared != self._reader:
            raise HomeError(
                f"the nodes of {self.settings.url} read texts with the reader {shared}, but this "
                f"home uses {self._reader}: set it to the same reader (recollect init --reader)"
            )

    def _has_events(self) -> bool:
        tps = [(EVENTS, partition) for partition in range(PARTITIONS)]
        return any(self.clients.ends(tps).values())

    def publish(self, zone: str, drafts: Sequence[Draft]) -> list[Receipt]:
        return self.publish_all({zone: drafts})[zone]

    def publish_all(self, drafts: Mapping[str, Sequence[Draft]]) -> dict[str, list[Receipt]]:
        """Publish to several zones with one wait for the brokers."""
        tps = {(EVENTS, partition_of(check_zone(zone))) for zone in drafts}
        receipts: dict[str, list[Receipt]] = {}
        ours: dict[str, set[int]] = {zone: set() for zone in drafts}
        with ExitStack() as stack:
            for _, partition in sorted(tps):
                stack.enter_context(self._publishing[partition])
            for _ in range(_MAX_RETRIES):
                self._refresh(tps)
                attempts = {
                    zone: self._sequence(zone, zone_drafts)
                    for zone, zone_drafts in drafts.items()
                    if zone not in receipts
                }
                self._append_sequenced(
                    {zone: records for zone, (_, records) in attempts.items() if records}
                )
                for zone, (zone_receipts, records) in attempts.items():
                    ours[zone] |= {
                        record.number
                        for record in records
                        if self.copy.file.event_of_source(zone, record.source) == record.value
                    }
                    if all(record.number in ours[zone] for record in records):
                        receipts[zone] = _as_new(zone_receipts, ours[zone])
                if len(receipts) == len(drafts):
                    return receipts
        raise LedgerUnavailable(
            f"zone {min(drafts.keys() - receipts.keys())}: in {_MAX_RETRIES} attempts, another "
            "writer always appended before this one; try again"
        )

    def _sequence(
        self, zone: str, drafts: Sequence[Draft]
    ) -> tuple[list[Receipt], list[Sequenced]]:
        receipts, records, _ = sequence(
            zone,
            drafts,
            self.copy.file.chain_end(zone),
            secret=self.keys.secret,
            now=time.time_ns() // 1_000_000,
            find_known=lambda source: self._known_event(zone, source),
        )
        return receipts, records

    def _append_sequenced(self, records: Mapping[str, Sequence[Sequenced]]) -> None:
        """Append events of zones to the topic and the local copy; destroy the keys of void ones."""
        self.keys.add(
            {
                record.key_id: record.key
                for zone_records in records.values()
                for record in zone_records
            }
        )
        failpoint("append.keys")
        self._append(
            EVENTS,
            {
                zone: [record.value for record in zone_records]
                for zone, zone_records in records.items()
            },
        )
        failpoint("append.committed")
        for partition in {partition_of(zone) for zone in records}:
            self.destroy_void_keys(partition)

    def destroy_void_keys(self, partition: int) -> None:
        """Destroy the keys of void events.

        Their text may have to be forgotten, but no erasure would ever destroy such a key. Keys that
        an accepted event of any zone may use are kept.
        """
        if void := self.copy.file.void_keys(partition, self.keys.secret):
            self.keys.destroy(void)
            self.copy.file.forget_void_keys(void)

    def append(self, topic: str, zone: str, values: Sequence[bytes]) -> None:
        _tp(topic, partition_of(check_zone(zone)))
        if values:
            self._append(topic, {zone: values})

    def _append(self, topic: str, values: Mapping[str, Sequence[bytes]]) -> None:
        """Append records of zones, and copy them."""
        now = time.time_ns() // 1_000_000
        appended: dict[int, list[Appended]] = {}
        for zone, zone_values in values.items():
            appended.setdefault(partition_of(zone), []).extend(
                Appended(zone, value, now) for value in zone_values
            )
        self.connect()
        for partition in appended:
            self.copy.check((topic, partition))
        offsets = self.clients.produce(
            topic,
            {
                partition: [KeyedValue(record.zone.encode(), *record[1:]) for record in records]
                for partition, records in appended.items()
            },
        )
        behind = self.copy.append_own(
            {
                (topic, partition): (offsets[partition], records)
                for partition, records in appended.items()
            }
        )
        self.copy.wait_for_offsets({tp: offsets[tp[1]].stop for tp in behind})

    def read(
        self, topic: str, partition: int, offset: int, limit: int, zone: str | None = None
    ) -> list[Record]:
        tp = _tp(topic, partition)
        if zone is None:
            return self._read_all(tp, offset, limit)
        self.copy.check(tp)
        # Recordings are not polled, but copied on demand.
        polled = self._follows and topic != RECORDINGS
        if self._follows or self.copy.has_more(tp, offset + limit):
            # Another worker's change may rest on events beyond the end of this copy; they are
            # fetched below.
            with suppress(LedgerGap):
                records = self.copy.file.read(topic, partition, offset, limit, zone)
                if polled or len(records) == limit:
                    return records
        if not self._follows:
            self.connect()
        # A reader of a zone's changes reads its events too, so both are fetched at once.
        self.copy.refresh(
            [tp] if topic == RECORDINGS else [(EVENTS, partition), (CHANGES, partition)]
        )
        return self.copy.file.read(topic, partition, offset, limit, zone)

    def _read_all(
        self, tp: LedgerPartition, offset: int, limit: int, known: int = 0
    ) -> list[Record]:
        """Return records of a partition from the broker, not from the copy.

        Raises:
            LedgerGap: a record is missing, or the partition ends before the offset `known`.
        """
        name = f"{tp[0]}/{tp[1]}"
        self.connect()
        try:
            fetched = self.clients.read(tp, offset, limit, known)
        except OffsetOutOfRangeError:
            start, end = self.clients.starts([tp])[tp], self.clients.ends([tp])[tp]
            problem = (
                f"begins at offset {start}, after {offset}"
                if start > offset
                else f"ends at offset {end}, but {max(offset, known)} was read before"
            )
            raise LedgerGap(
                f"{name} {problem}: records are missing; restore the topic from a backup that has "
                "them"
            ) from None
        records = [to_record(record) for record in fetched]
        for expected, record in enumerate(records, offset):
            if record.offset != expected:
                raise LedgerGap(
                    f"{name}: offset {expected} is missing; restore the topic from a backup that "
                    "has it"
                )
        return records

    def end(self, topic: str, partition: int) -> int:
        tp = _tp(topic, partition)
        if self._follows:
            return self.copy.next(tp)
        self.connect()
        return self.clients.ends([tp])[tp]

    def appended_at(self, topic: str, partition: int, offset: int) -> int | None:
        return self.copy.file.appended_at(topic, partition, offset)

    def zones(self) -> list[str]:
        self._refresh([(EVENTS, partition) for partition in range(PARTITIONS)])
        return self.copy.file.zones()

    def head(self, zone: str) -> Head:
        self._refresh([(EVENTS, partition_of(zone))])
        return self.copy.file.head(zone)

    def events_of_kind(self, zone: str, kind: str, offset: int) -> list[Record]:
        # A key's deletion may arrive before the erasure that explains it, so fetch all events.
        self.connect()
        self.copy.refresh([(EVENTS, partition_of(zone))])
        return self.copy.file.events_of_kind(zone, kind, offset)

    def platforms(self, zone: str) -> list[str]:
        self._refresh([(EVENTS, partition_of(zone))])
        return self.copy.file.platforms(zone)

    def event_of_source(self, zone: str, source: bytes) -> bytes | None:
        self._refresh([(EVENTS, partition_of(zone))])
        return self.copy.file.event_of_source(zone, source)

    def unfetched_count(self, zone: str) -> int:
        tp = (EVENTS, partition_of(zone))
        return self.end(*tp) - self.copy.next(tp)

    def seek(self, zone: str, number: int) -> tuple[int, int, bytes]:
        return self.copy.file.seek(zone, number)

    def check(self, zone: str, events: Sequence[tuple[int, Envelope]], head: Head) -> list[str]:
        partition = partition_of(zone)
        problems = self.copy.file.check(zone, events, head)
        for topic in TOPICS:
            problems += self._compare((topic, partition))
        return problems

    def _compare(self, tp: LedgerPartition) -> list[str]:
        """Return the differences between the copy of a partition and the broker's."""
        offset = 0
        while copied := self.copy.file.read(*tp, offset, _BATCH_SIZE):
            try:
                on_broker = self._read_all(tp, offset, len(copied), offset + len(copied))
            except LedgerGap as error:
                return [str(error)]
            for ours, theirs in zip(copied, on_broker, strict=True):
                if ours != theirs:
                    return [
                        f"{tp[0]}/{tp[1]} offset {ours.offset}: this node's copy differs from "
                        "the topic; if the topic is intact, stop this home's processes and "
                        "delete its folder copy"
                    ]
            offset += len(copied)
        return []

    def wait(
        self,
        ends: Mapping[tuple[str, int], int],
        timeout: float,
        stopped: threading.Event | None = None,
    ) -> bool:
        deadline = time.monotonic() + timeout
        self._refresh(ends)
        self.copy.follow(ends)
        while True:
            for tp in ends:
                self.copy.check(tp)
            if any(self.copy.next(tp) > end for tp, end in ends.items()):
                return True
            left = deadline - time.monotonic()
            if left <= 0 or (stopped is not None and stopped.is_set()):
                return False
            self.copy.poll(min(left, _POLL_INTERVAL_SECONDS))

    def workers(self) -> int:
        if (at := time.monotonic()) - self._cached_workers[0] > _WORKERS_CACHE_SECONDS:
            self._cached_workers = at, self.clients.members(self.settings.group)
        return self._cached_workers[1]

    def close(self) -> None:
        self.clients.close()
        self.copy.close()

    def _refresh(self, tps: Iterable[LedgerPartition]) -> None:
        if self._follows:
            for tp in tps:
                self.copy.check(tp)
        else:
            self.connect()
            self.copy.refresh(tps)

    def _known_event(self, zone: str, source: bytes) -> KnownEvent | None:
        record = self.copy.file.event_of_source(zone, source)
        return None if record is None else known_event(record, self.keys)


def _tp(topic: str, partition: int) -> LedgerPartition:
    if topic not in TOPICS:
        raise ValueError(f"no topic is called {topic}")
    if not 0 <= partition < PARTITIONS:
        raise ValueError(f"partition {partition} is not one of 0..{PARTITIONS - 1}")
    return topic, partition


def _as_new(receipts: Sequence[Receipt], own_numbers: set[int]) -> list[Receipt]:
    """Give status "new" to the receipts of events that an attempt of this call published."""
    unclaimed = set(own_numbers)
    found = []
    for receipt in receipts:
        if receipt.number in unclaimed:
            unclaimed.remove(receipt.number)
            receipt = msgspec.structs.replace(receipt, status="new")
        found.append(receipt)
    return found
