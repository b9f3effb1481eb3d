"""aiokafka's clients for synchronous callers; their event loop has a thread of its own."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import defaultdict
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import AsyncExitStack, suppress
from typing import Any, NamedTuple, Protocol, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.conn import create_conn
from aiokafka.errors import (
    GroupCoordinatorNotAvailableError,
    KafkaConnectionError,
    KafkaError,
    NodeNotReadyError,
    NotEnoughReplicasAfterAppendError,
    NotEnoughReplicasError,
    OffsetOutOfRangeError,
    TopicAuthorizationFailedError,
)
from aiokafka.producer.message_accumulator import BatchBuilder
from aiokafka.protocol.produce import ProduceRequest

from recollect.streams.ledger.kafka.deletion import delete_before
from recollect.streams.ledger.kafka.retrying import retry_until
from recollect.streams.ledger.kafka.settings import KafkaSettings
from recollect.streams.ledger.kafka.topics import (
    INBOX,
    MAX_TOPIC_RECORD_BYTES,
    NAMES,
    TopicCheck,
    ensure_topics,
)
from recollect.streams.ledger.ledger import LedgerUnavailable

Value = TypeVar("Value")
LedgerPartition = tuple[str, int]

#: How long a caller waits for a request before it gets an error.
REQUEST_TIMEOUT_SECONDS = 30.0
# The maximum size of a batch. The broker appends a batch as a whole or not at all.
_BATCH_BYTES = 1_000_000
# Timeout of the test connection that finds out why brokers refuse us.
_CONNECT_SECONDS = 5.0
# Errors that are passed on to callers as they are.
_PASSED_THROUGH = (OffsetOutOfRangeError, TopicAuthorizationFailedError)
# Errors of requests to an unreachable broker.
_UNREACHABLE = (NodeNotReadyError, KafkaConnectionError)
# Seconds between two searches for a group's coordinator, if the one found is unreachable.
_COORDINATOR_SECONDS = 0.5
# Error codes for a partition with too few replicas in sync.
_UNDER_REPLICATED_CODES = (NotEnoughReplicasError.errno, NotEnoughReplicasAfterAppendError.errno)
# Time limits for stopping a client with pending work.
_CANCEL_SECONDS = 1.0
_STOP_SECONDS = 5.0
# How long the broker may hold an empty fetch; later requests on the connection wait behind it.
_FETCH_WAIT_MS = 50


class DeliveredRecord(Protocol):
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


class KeyedValue(NamedTuple):
    """A record to produce: a key and a value. The value None deletes a key in a compacted topic.

    `at` is the record's time (unix ms); None: now.
    """

    key: bytes
    value: bytes | None
    at: int | None = None


class Producer(AIOKafkaProducer):  # type: ignore[misc]  # untyped
    """A producer that remembers why brokers refuse its requests.

    aiokafka retries for ever and only logs the reason.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        #: The partition last refused for having fewer replicas in sync than `min.insync.replicas`.
        self.under_replicated: TopicPartition | None = None
        self._original_send = self.client.send
        self.client.send = self._send_checking_replicas

    async def _send_checking_replicas(self, node_id: int, request: Any, **options: Any) -> Any:
        response = await self._original_send(node_id, request, **options)
        if isinstance(request, ProduceRequest):
            short = [
                TopicPartition(topic, number)
                for topic, partitions in response.topics
                for number, code, *_ in partitions
                if code in _UNDER_REPLICATED_CODES
            ]
            self.under_replicated = short[0] if short else None
        return response

    async def abandon(self) -> None:
        """Stop without waiting for undelivered records, which may be refused for ever."""
        sender, accumulator = self._sender.sender_task, self._message_accumulator
        while sender is not None and not sender.done():
            # The first cancel ends its requests to brokers, the second ends the task itself.
            sender.cancel()
            await asyncio.wait([sender], timeout=_CANCEL_SECONDS)
        queued = [batch for batches in accumulator._batches.values() for batch in batches]
        for batch in (*queued, *accumulator._pending_batches):
            batch.future.cancel()
        await self.stop()


class Administrator(AIOKafkaAdminClient):  # type: ignore[misc]  # untyped
    """An admin client that asks each broker in turn until one answers.

    aiokafka's own client asks a single broker, which may be unreachable.
    """

    async def _send_request(self, request: Any, node_id: int | None = None) -> Any:
        if node_id is not None:
            return await super()._send_request(request, node_id)
        brokers = await retry_until(self._brokers, bool)
        random.shuffle(brokers)
        for broker in brokers[:-1]:
            with suppress(*_UNREACHABLE):
                return await super()._send_request(request, broker)
        return await super()._send_request(request, brokers[-1] if brokers else None)

    async def _brokers(self) -> list[int]:
        """Return the known brokers; after a pause, a cluster may list none for a while."""
        if not self._client.cluster.brokers():
            await self._client.force_metadata_update()
        return [broker.nodeId for broker in self._client.cluster.brokers()]


class Clients:
    """Producer, consumer and admin of one ledger, each started when it is first needed.

    Any thread may call any method. Topics are named without the prefix.
    """

    def __init__(self, settings: KafkaSettings) -> None:
        self._settings = settings
        self._options = settings.client_options()
        self._names = {settings.topic(name): name for name in NAMES}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="kafka-clients", daemon=True
        )
        self._thread.start()
        self._producer: Producer | None = None
        self._abandoned: set[asyncio.Task[None]] = set()
        self._producing: defaultdict[tuple[str, int], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._consumer: AIOKafkaConsumer | None = None
        self._metadata_consumer: AIOKafkaConsumer | None = None
        self._read_consumer: AIOKafkaConsumer | None = None
        self._read_position: tuple[LedgerPartition, int] | None = None
        self._read_lock = asyncio.Lock()
        self._admin: Administrator | None = None
        self._starting = asyncio.Lock()

    def ensure_topics(self) -> TopicCheck:
        """Create the ledger's topics, or check those that exist."""

        async def ensure() -> TopicCheck:
            return await ensure_topics(await self._started_admin(), self._settings)

        return self._run(ensure())

    def ends(
        self, tps: Iterable[LedgerPartition], known: Mapping[LedgerPartition, int] | None = None
    ) -> dict[LedgerPartition, int]:
        """Return the end offset of partitions, as the broker knows it now.

        For the inbox that is the last stable offset, before any open transaction. If an end is
        below the partition's offset in `known`, the answer may be outdated, so the broker is asked
        again for a while.
        """
        asked, min_ends = list(tps), known or {}
        return self._run(
            retry_until(
                lambda: self._ends(asked),
                lambda ends: all(ends[tp] >= offset for tp, offset in min_ends.items()),
            )
        )

    def starts(self, tps: Iterable[LedgerPartition]) -> dict[LedgerPartition, int]:
        """Return the offset of the first record that each partition still has."""
        return self._run(self._offsets("beginning_offsets", list(tps)))

    def produce(self, topic: str, records: Mapping[int, Sequence[KeyedValue]]) -> dict[int, range]:
        """Append records to partitions, in order; return their offsets once they are acknowledged.

        Records that fit into one batch are appended together or not at all. If the offsets are
        consecutive, no record of another producer lies between them.

        Raises:
            LedgerUnavailable: they were not acknowledged in time, and may or may not be appended.
        """
        # Longer than the producer's timeout, because the producer's error states a reason.
        return self._run(
            self._produce(topic, records), within=REQUEST_TIMEOUT_SECONDS + _CANCEL_SECONDS
        )

    def assign(self, positions: Mapping[LedgerPartition, int]) -> None:
        """Make `poll` read exactly these partitions, from these offsets on."""
        self._run(self._assign(positions))

    def poll(
        self, seconds: float, limit: int
    ) -> dict[LedgerPartition, list[ConsumerRecord[bytes, bytes]]]:
        """Return new records, waiting up to `seconds` for them.

        Raises:
            aiokafka.errors.OffsetOutOfRangeError: the offset does not exist, or no longer exists.
        """
        return self._run(self._poll(seconds, limit), within=seconds + REQUEST_TIMEOUT_SECONDS)

    def read(
        self, tp: LedgerPartition, offset: int, limit: int, known: int = 0
    ) -> list[ConsumerRecord[bytes, bytes]]:
        """Return up to `limit` records of a partition from `offset` on, read from the broker.

        `known`: an end that the partition is known to have reached.

        Raises:
            aiokafka.errors.OffsetOutOfRangeError: the partition begins after `offset`, or ends
                before `offset` or `known`, even after several attempts.
        """

        async def read() -> list[ConsumerRecord[bytes, bytes]] | OffsetOutOfRangeError:
            try:
                return await self._read(tp, offset, limit, max(offset, known))
            except OffsetOutOfRangeError as error:
                if (await self._offsets("beginning_offsets", [tp]))[tp] > offset:
                    # The record was deleted; no other broker has it.
                    raise
                return error

        records = self._run(
            retry_until(read, lambda found: not isinstance(found, OffsetOutOfRangeError))
        )
        if isinstance(records, OffsetOutOfRangeError):
            raise records
        return records

    def delete_before(self, offsets: Mapping[LedgerPartition, int]) -> None:
        """Delete the records of partitions below the offsets."""

        async def delete() -> None:
            on_broker = {self._on_broker(tp): offset for tp, offset in offsets.items()}
            await delete_before(await self._started_producer(), on_broker)

        try:
            self._run(delete())
        except _PASSED_THROUGH as error:
            raise self._unavailable(f"{type(error).__name__}: {error}") from error

    def members(self, group: str) -> int:
        """Return how many active members a consumer group has."""

        async def count() -> int:
            admin = await self._started_admin()
            while True:
                try:
                    coordinator = await admin.find_coordinator(group)
                except GroupCoordinatorNotAvailableError:
                    # The cluster has never had a consumer group.
                    return 0
                with suppress(*_UNREACHABLE):
                    (description,) = await admin.describe_consumer_groups([group], coordinator)
                    return sum(len(member[5]) for member in description.groups if member[0] == 0)
                await asyncio.sleep(_COORDINATOR_SECONDS)

        return self._run(count())

    def close(self) -> None:
        """Stop the clients and their thread."""

        async def stop() -> None:
            consumers = (self._consumer, self._metadata_consumer, self._read_consumer)
            ends = [client.stop for client in consumers if client is not None]
            if self._producer is not None:
                ends.append(self._producer.abandon)
            if self._admin is not None:
                ends.append(self._admin.close)
            for end in ends:
                with suppress(KafkaError, TimeoutError):
                    async with asyncio.timeout(_STOP_SECONDS):
                        await end()
            # Tasks that wait for a broker which never answers.
            unfinished = asyncio.all_tasks() - {asyncio.current_task()}
            for task in unfinished:
                task.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)

        if self._loop.is_closed():
            return
        try:
            self._run(stop())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _run(
        self, work: Coroutine[Any, Any, Value], within: float = REQUEST_TIMEOUT_SECONDS
    ) -> Value:
        """Run a coroutine in the clients' thread.

        Raises:
            LedgerUnavailable: the brokers did not answer in time.
        """
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(within + 1)
        except (TimeoutError, CancelledError) as error:
            future.cancel()
            raise self._unavailable(f"no answer within {within:.0f} s") from error
        except (KafkaError, OSError) as error:
            if isinstance(error, _PASSED_THROUGH):
                raise
            why = f"{type(error).__name__}: {error}"
            if isinstance(error, KafkaConnectionError):
                why = (
                    self._run(self._refusal_reasons())
                    or "nothing that speaks this protocol is there"
                )
            raise self._unavailable(why) from error

    async def _refusal_reasons(self) -> str:
        """Return why the brokers refuse connections; aiokafka only logs the reasons."""
        options = {**self._options}
        refusals = []
        for server in options.pop("bootstrap_servers"):
            host, _, port = server.rpartition(":")
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    (await create_conn(host.strip("[]"), int(port), **options)).close()
            except (KafkaError, OSError, TimeoutError) as error:
                refusals.append(f"{server}: {str(error) or type(error).__name__}")
        return "; ".join(refusals)

    def _unavailable(self, why: str) -> LedgerUnavailable:
        return LedgerUnavailable(
            f"the ledger {self._settings.url} cannot be used ({why}); check that the broker "
            "runs and that RECOLLECT_LEDGER and RECOLLECT_KAFKA_* are right, then try again"
        )

    def _on_broker(self, tp: LedgerPartition) -> TopicPartition:
        return TopicPartition(self._settings.topic(tp[0]), tp[1])

    def _without_prefix(self, broker_partition: TopicPartition) -> LedgerPartition:
        return self._names[broker_partition.topic], broker_partition.partition

    async def _started_admin(self) -> Administrator:
        async with self._starting:
            if self._admin is None:
                admin = Administrator(**self._options)
                try:
                    await admin.start()
                except BaseException:
                    await admin.close()
                    raise
                self._admin = admin
        return self._admin

    async def _started_read_consumer(self) -> AIOKafkaConsumer:
        """Return the consumer of `read`; the caller holds `_read_lock`."""
        if self._read_consumer is None:
            self._read_consumer = await self._new_consumer()
        return self._read_consumer

    async def _new_consumer(self, isolation: str = "read_committed") -> AIOKafkaConsumer:
        # No group: the caller sets the position, and a missing offset is an error.
        consumer = AIOKafkaConsumer(
            **self._options,
            isolation_level=isolation,
            enable_auto_commit=False,
            auto_offset_reset="none",
            fetch_max_wait_ms=_FETCH_WAIT_MS,
            max_partition_fetch_bytes=2 * MAX_TOPIC_RECORD_BYTES,
        )
        try:
            await consumer.start()
        except BaseException:
            await consumer.stop()
            raise
        return consumer

    async def _offsets_consumer(self) -> AIOKafkaConsumer:
        """Return a consumer that never fetches, so that no fetch delays its requests."""
        async with self._starting:
            if self._metadata_consumer is None:
                # Uncommitted records count too, since no record of the ledger or of its keys may
                # seem to be missing.
                consumer = await self._new_consumer("read_uncommitted")
                # Without this, the first request for each topic waits for a retry.
                await consumer._client.set_topics(list(self._names))
                self._metadata_consumer = consumer
        return self._metadata_consumer

    async def _offsets(self, method: str, tps: list[LedgerPartition]) -> dict[LedgerPartition, int]:
        if not tps:
            return {}
        consumer = await self._offsets_consumer()
        found = await getattr(consumer, method)([self._on_broker(tp) for tp in tps])
        return {self._without_prefix(each): offset for each, offset in found.items()}

    async def _ends(self, tps: list[LedgerPartition]) -> dict[LedgerPartition, int]:
        of_inbox = {self._on_broker(tp): tp for tp in tps if tp[0] == INBOX}
        ends = await self._offsets("end_offsets", [tp for tp in tps if tp[0] != INBOX])
        if of_inbox:
            async with self._read_lock:
                consumer = await self._started_read_consumer()
                found = await consumer.end_offsets(list(of_inbox))
            ends |= {of_inbox[each]: end for each, end in found.items()}
        return ends

    async def _assign(self, positions: Mapping[LedgerPartition, int]) -> None:
        async with self._starting:
            if self._consumer is None:
                self._consumer = await self._new_consumer()
        self._consumer.assign([self._on_broker(tp) for tp in positions])
        for tp, offset in positions.items():
            self._consumer.seek(self._on_broker(tp), offset)

    async def _poll(
        self, seconds: float, limit: int
    ) -> dict[LedgerPartition, list[ConsumerRecord[bytes, bytes]]]:
        assert self._consumer is not None
        found = await self._consumer.getmany(timeout_ms=int(seconds * 1_000), max_records=limit)
        return {self._without_prefix(each): records for each, records in found.items()}

    async def _read(
        self, tp: LedgerPartition, offset: int, limit: int, known: int
    ) -> list[ConsumerRecord[bytes, bytes]]:
        broker_tp = self._on_broker(tp)
        end = (await self._ends([tp]))[tp]
        if end < known:
            raise OffsetOutOfRangeError({broker_tp: known})
        async with self._read_lock:
            consumer = await self._started_read_consumer()
            if self._read_position != (tp, offset):
                consumer.assign([broker_tp])
                consumer.seek(broker_tp, offset)
            self._read_position = None
            records: list[ConsumerRecord[bytes, bytes]] = []
            # Not the offset of the last record: transaction markers take up offsets too.
            while len(records) < limit and await consumer.position(broker_tp) < end:
                page = await consumer.getmany(
                    broker_tp, timeout_ms=1_000, max_records=limit - len(records)
                )
                records += page.get(broker_tp, [])
            self._read_position = tp, records[-1].offset + 1 if records else offset
            return records

    async def _produce(
        self, topic: str, records: Mapping[int, Sequence[KeyedValue]]
    ) -> dict[int, range]:
        broker_topic = self._settings.topic(topic)
        producer = self._producer
        try:
            async with asyncio.timeout(REQUEST_TIMEOUT_SECONDS), AsyncExitStack() as stack:
                # One caller at a time for each partition, so that the batches of a call are
                # adjacent.
                for partition in sorted(records):
                    await stack.enter_async_context(self._producing[topic, partition])
                producer = await self._started_producer()
                try:
                    offsets = await asyncio.gather(
                        *(_send(producer, broker_topic, *item) for item in records.items())
                    )
                    return dict(zip(records, offsets, strict=True))
                except BaseException:
                    # The records may or may not be appended. A producer that failed must not be
                    # used again, so the next call creates a new one.
                    self._give_up(producer)
                    raise
        except TimeoutError:
            if producer is None or producer.under_replicated is None:
                raise
            raise self._under_replicated(producer.under_replicated) from None

    def _under_replicated(self, tp: TopicPartition) -> LedgerUnavailable:
        return LedgerUnavailable(
            f"partition {tp.partition} of topic {tp.topic} of the ledger "
            f"{self._settings.url} has had fewer than min.insync.replicas in sync for "
            f"{REQUEST_TIMEOUT_SECONDS:.0f} s, so nothing was acknowledged; check the other "
            "brokers, then try again: duplicates count once"
        )

    def _give_up(self, producer: Producer) -> None:
        """Abandon a producer, unless that was done already."""
        if self._producer is not None and self._producer is producer:
            task = asyncio.ensure_future(producer.abandon())
            self._abandoned.add(task)
            task.add_done_callback(self._abandoned.discard)
            self._producer = None

    async def _started_producer(self) -> Producer:
        async with self._starting:
            if self._producer is None:
                producer = Producer(
                    **self._options,
                    acks="all",
                    enable_idempotence=True,
                    max_batch_size=_BATCH_BYTES,
                    max_request_size=2 * MAX_TOPIC_RECORD_BYTES,
                    # Half of our timeout: a broker that waits for replicas must report this before
                    # we give up.
                    request_timeout_ms=int(REQUEST_TIMEOUT_SECONDS * 1_000 / 2),
                )
                try:
                    await producer.start()
                except BaseException:
                    await producer.stop()
                    raise
                self._producer = producer
        return self._producer


async def _send(
    producer: Producer, topic: str, partition: int, records: Sequence[KeyedValue]
) -> range:
    """Send records in batches as large as allowed; return the range of their offsets."""
    sent = []
    builder: BatchBuilder = producer.create_batch()
    for key, value, at in records:
        if builder.append(key=key, value=value, timestamp=at) is None:
            sent.append((builder, await producer.send_batch(builder, topic, partition=partition)))
            builder = producer.create_batch()
            builder.append(key=key, value=value, timestamp=at)
    builder.close()
    sent.append((builder, await producer.send_batch(builder, topic, partition=partition)))
    # The futures are shielded, because aiokafka's sender fails on a cancelled batch.
    placed = [
        (int((await asyncio.shield(future)).offset), builder.record_count())
        for builder, future in sent
    ]
    return range(placed[0][0], sum(placed[-1]))
