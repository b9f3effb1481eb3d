"""aiokafka for callers that are no coroutines: its clients, in a thread of their own."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import defaultdict
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import AsyncExitStack, suppress
from typing import Any, NamedTuple, TypeVar

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

from streams.ledger.kafka.deletion import delete_before
from streams.ledger.kafka.retrying import retry_until
from streams.ledger.kafka.settings import KafkaSettings
from streams.ledger.kafka.topics import (
    INBOX,
    MOST_RECORD_BYTES,
    NAMES,
    Topics,
    ensure_topics,
)
from streams.ledger.ledger import LedgerUnavailable

Value = TypeVar("Value")
Place = tuple[str, int]

#: How long a request may take before its caller hears of it, in seconds.
PATIENCE = 30.0
# One batch is one append on the broker: what fits into it is there as a whole, or not at all.
_BATCH_BYTES = 1_000_000
# How long a broker may take to say why it lets nobody in.
_REFUSED_SECONDS = 5.0
# Errors that callers understand.
_ANSWERS = (OffsetOutOfRangeError, TopicAuthorizationFailedError)
# What becomes of a request to a broker that is away.
_AWAY = (NodeNotReadyError, KafkaConnectionError)
# Between two looks for a group's coordinator, while the one before is away.
_COORDINATOR_SECONDS = 0.5
# What a broker answers that has too few copies beside its own.
_SHORT_OF_COPIES = (NotEnoughReplicasError.errno, NotEnoughReplicasAfterAppendError.errno)
# How long what a client still does may take, when it is to end.
_CANCEL_SECONDS = 1.0
_STOP_SECONDS = 5.0
# An idle consumer asks this often; a request behind it in the connection waits as long.
_FETCH_WAIT_MS = 50


class KeyedValue(NamedTuple):
    """What is produced: a key and a value; None ends a key in a compacted topic.

    `at` is when it came (unix ms); None: now.
    """

    key: bytes
    value: bytes | None
    at: int | None = None


class Producer(AIOKafkaProducer):  # type: ignore[misc]  # untyped
    """Knows why brokers refuse what it tries again, for ever; aiokafka tells its log only."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        #: The last answer was that there are fewer copies than `min.insync.replicas`, of this.
        self.short_of_copies: TopicPartition | None = None
        self._ask = self.client.send
        self.client.send = self._send_and_note

    async def _send_and_note(self, node_id: int, request: Any, **options: Any) -> Any:
        response = await self._ask(node_id, request, **options)
        if isinstance(request, ProduceRequest):
            short = [
                TopicPartition(topic, number)
                for topic, partitions in response.topics
                for number, code, *_ in partitions
                if code in _SHORT_OF_COPIES
            ]
            self.short_of_copies = short[0] if short else None
        return response

    async def abandon(self) -> None:
        """Stop, and do not wait for what was not delivered: that may be refused for ever."""
        sender, waiting = self._sender.sender_task, self._message_accumulator
        while sender is not None and not sender.done():
            # The first time it ends its requests, which wait for brokers; the second time itself.
            sender.cancel()
            await asyncio.wait([sender], timeout=_CANCEL_SECONDS)
        queued = [batch for batches in waiting._batches.values() for batch in batches]
        for batch in (*queued, *waiting._pending_batches):
            batch.future.cancel()
        await self.stop()


class Administrator(AIOKafkaAdminClient):  # type: ignore[misc]  # untyped
    """Asks each broker in turn until one answers; aiokafka asks any one of them, once, which may
    be the one that is away."""

    async def _send_request(self, request: Any, node_id: int | None = None) -> Any:
        if node_id is not None:
            return await super()._send_request(request, node_id)
        brokers = [broker.nodeId for broker in self._client.cluster.brokers()]
        random.shuffle(brokers)
        for broker in brokers[:-1]:
            with suppress(*_AWAY):
                return await super()._send_request(request, broker)
        return await super()._send_request(request, brokers[-1] if brokers else None)


class Clients:
    """Producer, consumer and admin of one ledger, each started when it is first needed.

    Every method may be called by any thread; topics are named without the prefix.
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
        self._asking: AIOKafkaConsumer | None = None
        self._reader: AIOKafkaConsumer | None = None
        self._reader_at: tuple[Place, int] | None = None
        self._reading = asyncio.Lock()
        self._admin: Administrator | None = None
        self._starting = asyncio.Lock()

    def ensure_topics(self) -> Topics:
        """Make or check the ledger's topics."""

        async def ensure() -> Topics:
            return await ensure_topics(await self._started_admin(), self._settings)

        return self._run(ensure())

    def ends(
        self, places: Iterable[Place], known: Mapping[Place, int] | None = None
    ) -> dict[Place, int]:
        """Return the end offset of partitions, as the broker knows it now.

        That of the inbox is before the first record of a transaction that is still open. An end
        before the offset that is `known` of the partition is asked for again for a while.
        """
        asked, least = list(places), known or {}
        return self._run(
            retry_until(
                lambda: self._ends(asked),
                lambda ends: all(ends[place] >= offset for place, offset in least.items()),
            )
        )

    def starts(self, places: Iterable[Place]) -> dict[Place, int]:
        """Return the offset of the first record that each partition still has."""
        return self._run(self._offsets("beginning_offsets", list(places)))

    def produce(self, topic: str, records: Mapping[int, Sequence[KeyedValue]]) -> dict[int, range]:
        """Append records to partitions, in order; return each one's offsets once they are safe.

        Records that fit into one batch are appended together or not at all. Where the offsets
        from the first to the last are as many as the records, nothing of others lies between.

        Raises:
            LedgerUnavailable: they were not acknowledged in time; whether they are there, nobody
                knows.
        """
        # It knows better why than who waits for it.
        return self._run(self._produce(topic, records), within=PATIENCE + _CANCEL_SECONDS)

    def assign(self, positions: Mapping[Place, int]) -> None:
        """Let `poll` read these partitions from these offsets, and no others."""
        self._run(self._assign(positions))

    def poll(self, seconds: float, most: int) -> dict[Place, list[ConsumerRecord[bytes, bytes]]]:
        """Return what came, waiting up to `seconds` for it.

        Raises:
            aiokafka.errors.OffsetOutOfRangeError: a partition does not reach so far (any more).
        """
        return self._run(self._poll(seconds, most), within=seconds + PATIENCE)

    def read(
        self, place: Place, offset: int, limit: int, known: int = 0
    ) -> list[ConsumerRecord[bytes, bytes]]:
        """Return up to `limit` records of a partition from `offset` on, from the broker itself.

        Raises:
            aiokafka.errors.OffsetOutOfRangeError: it begins after `offset`, or ends before that or
                before the offset that is `known` of it, also when it was asked again for a while.
        """

        async def read() -> list[ConsumerRecord[bytes, bytes]] | OffsetOutOfRangeError:
            try:
                return await self._read(place, offset, limit, max(offset, known))
            except OffsetOutOfRangeError as error:
                if (await self._offsets("beginning_offsets", [place]))[place] > offset:
                    # Deleted; no other broker has it.
                    raise
                return error

        found = self._run(
            retry_until(read, lambda found: not isinstance(found, OffsetOutOfRangeError))
        )
        if isinstance(found, OffsetOutOfRangeError):
            raise found
        return found

    def delete_before(self, offsets: Mapping[Place, int]) -> None:
        """Delete the records of partitions below the offsets."""

        async def delete() -> None:
            there = {self._there(place): offset for place, offset in offsets.items()}
            await delete_before(await self._started_producer(), there)

        try:
            self._run(delete())
        except _ANSWERS as error:
            raise self._unavailable(f"{type(error).__name__}: {error}") from error

    def members(self, group: str) -> int:
        """Return how many members a consumer group has that read now."""

        async def count() -> int:
            admin = await self._started_admin()
            while True:
                try:
                    coordinator = await admin.find_coordinator(group)
                except GroupCoordinatorNotAvailableError:
                    # No group has ever been on this broker.
                    return 0
                with suppress(*_AWAY):
                    (found,) = await admin.describe_consumer_groups([group], coordinator)
                    return sum(len(each[5]) for each in found.groups if each[0] == 0)
                await asyncio.sleep(_COORDINATOR_SECONDS)

        return self._run(count())

    def close(self) -> None:
        """Stop the clients and their thread."""

        async def stop() -> None:
            consumers = (self._consumer, self._asking, self._reader)
            ends = [client.stop for client in consumers if client is not None]
            if self._producer is not None:
                ends.append(self._producer.abandon)
            if self._admin is not None:
                ends.append(self._admin.close)
            for end in ends:
                with suppress(KafkaError, TimeoutError):
                    async with asyncio.timeout(_STOP_SECONDS):
                        await end()
            # What waits for a broker that never answers.
            left = asyncio.all_tasks() - {asyncio.current_task()}
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

        if self._loop.is_closed():
            return
        try:
            self._run(stop())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Value], within: float = PATIENCE) -> Value:
        """Run a coroutine in the clients' thread.

        Raises:
            LedgerUnavailable: the brokers did not do it in time.
        """
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(within + 1)
        except (TimeoutError, CancelledError) as error:
            future.cancel()
            raise self._unavailable(f"no answer within {within:.0f} s") from error
        except (KafkaError, OSError) as error:
            if isinstance(error, _ANSWERS):
                raise
            why = f"{type(error).__name__}: {error}"
            if isinstance(error, KafkaConnectionError):
                why = self._run(self._refusals()) or "nothing that speaks this protocol is there"
            raise self._unavailable(why) from error

    async def _refusals(self) -> str:
        """Return why no broker lets us in, which aiokafka tells its log only."""
        options = {**self._options}
        refusals = []
        for server in options.pop("bootstrap_servers"):
            host, _, port = server.rpartition(":")
            try:
                async with asyncio.timeout(_REFUSED_SECONDS):
                    (await create_conn(host.strip("[]"), int(port), **options)).close()
            except (KafkaError, OSError, TimeoutError) as error:
                refusals.append(f"{server}: {str(error) or type(error).__name__}")
        return "; ".join(refusals)

    def _unavailable(self, why: str) -> LedgerUnavailable:
        return LedgerUnavailable(
            f"the ledger {self._settings.url} cannot be used ({why}); see that the broker runs "
            "and RECOLLECT_LEDGER and RECOLLECT_KAFKA_* are right, then do it again"
        )

    def _there(self, place: Place) -> TopicPartition:
        return TopicPartition(self._settings.topic(place[0]), place[1])

    def _here(self, there: TopicPartition) -> Place:
        return self._names[there.topic], there.partition

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

    async def _started_reader(self) -> AIOKafkaConsumer:
        """Return the consumer of `read`; the caller holds it."""
        if self._reader is None:
            self._reader = await self._new_consumer()
        return self._reader

    async def _new_consumer(self, isolation: str = "read_committed") -> AIOKafkaConsumer:
        # No group: where to read is the reader's business, and a missing offset is an error.
        consumer = AIOKafkaConsumer(
            **self._options,
            isolation_level=isolation,
            enable_auto_commit=False,
            auto_offset_reset="none",
            fetch_max_wait_ms=_FETCH_WAIT_MS,
            max_partition_fetch_bytes=2 * MOST_RECORD_BYTES,
        )
        try:
            await consumer.start()
        except BaseException:
            await consumer.stop()
            raise
        return consumer

    async def _asking_consumer(self) -> AIOKafkaConsumer:
        """Return a consumer whose connection no fetch holds up."""
        async with self._starting:
            if self._asking is None:
                # Up to what is there, not only to the first open transaction: of the ledger and
                # its keys nothing may be taken for missing that is.
                asking = await self._new_consumer("read_uncommitted")
                # Else each topic's first question waits for a retry.
                await asking._client.set_topics(list(self._names))
                self._asking = asking
        return self._asking

    async def _offsets(self, method: str, places: list[Place]) -> dict[Place, int]:
        if not places:
            return {}
        consumer = await self._asking_consumer()
        found = await getattr(consumer, method)([self._there(place) for place in places])
        return {self._here(there): offset for there, offset in found.items()}

    async def _ends(self, places: list[Place]) -> dict[Place, int]:
        posted = [place for place in places if place[0] == INBOX]
        there = {self._there(place): place for place in posted}
        ends = await self._offsets("end_offsets", [each for each in places if each not in posted])
        if posted:
            async with self._reading:
                reader = await self._started_reader()
                found = await reader.end_offsets(list(there))
            ends |= {there[each]: end for each, end in found.items()}
        return ends

    async def _assign(self, positions: Mapping[Place, int]) -> None:
        async with self._starting:
            if self._consumer is None:
                self._consumer = await self._new_consumer()
        self._consumer.assign([self._there(place) for place in positions])
        for place, offset in positions.items():
            self._consumer.seek(self._there(place), offset)

    async def _poll(
        self, seconds: float, most: int
    ) -> dict[Place, list[ConsumerRecord[bytes, bytes]]]:
        assert self._consumer is not None
        found = await self._consumer.getmany(timeout_ms=int(seconds * 1_000), max_records=most)
        return {self._here(there): records for there, records in found.items()}

    async def _read(
        self, place: Place, offset: int, limit: int, known: int
    ) -> list[ConsumerRecord[bytes, bytes]]:
        there = self._there(place)
        end = (await self._ends([place]))[place]
        if end < known:
            raise OffsetOutOfRangeError({there: known})
        async with self._reading:
            reader = await self._started_reader()
            if self._reader_at != (place, offset):
                reader.assign([there])
                reader.seek(there, offset)
            self._reader_at = None
            found: list[ConsumerRecord[bytes, bytes]] = []
            # Not by the last record: a transaction's marker takes an offset, and is none.
            while len(found) < limit and await reader.position(there) < end:
                page = await reader.getmany(there, timeout_ms=1_000, max_records=limit - len(found))
                found += page.get(there, [])
            self._reader_at = place, found[-1].offset + 1 if found else offset
            return found

    async def _produce(
        self, topic: str, records: Mapping[int, Sequence[KeyedValue]]
    ) -> dict[int, range]:
        there = self._settings.topic(topic)
        producer = self._producer
        try:
            async with asyncio.timeout(PATIENCE), AsyncExitStack() as held:
                # One caller at a time for each partition: batches of one call lie next to each
                # other.
                for partition in sorted(records):
                    await held.enter_async_context(self._producing[topic, partition])
                producer = await self._started_producer()
                try:
                    offsets = await asyncio.gather(
                        *(_send(producer, there, *item) for item in records.items())
                    )
                    return dict(zip(records, offsets, strict=True))
                except BaseException:
                    # Whether the records are there is not known, and a producer that failed once
                    # may not be used again; the next call has a new one.
                    self._give_up(producer)
                    raise
        except TimeoutError:
            if producer is None or producer.short_of_copies is None:
                raise
            raise self._short(producer.short_of_copies) from None

    def _short(self, there: TopicPartition) -> LedgerUnavailable:
        return LedgerUnavailable(
            f"partition {there.partition} of topic {there.topic} of the ledger "
            f"{self._settings.url} has fewer than min.insync.replicas copies in sync for "
            f"{PATIENCE:.0f} s now, so nothing was acknowledged; see that the other brokers run, "
            "then do it again: what was sent twice counts once"
        )

    def _give_up(self, producer: Producer) -> None:
        """Stop a producer, once."""
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
                    max_request_size=2 * MOST_RECORD_BYTES,
                    # Twice, so that a broker which waits for copies says so before we give up.
                    request_timeout_ms=int(PATIENCE * 1_000 / 2),
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
    """Send records in batches as large as may be; return their offsets, first to last."""
    sent = []
    builder: BatchBuilder = producer.create_batch()
    for key, value, at in records:
        if builder.append(key=key, value=value, timestamp=at) is None:
            sent.append((builder, await producer.send_batch(builder, topic, partition=partition)))
            builder = producer.create_batch()
            builder.append(key=key, value=value, timestamp=at)
    builder.close()
    sent.append((builder, await producer.send_batch(builder, topic, partition=partition)))
    # Shielded: aiokafka's sender trips over a batch that somebody else has cancelled.
    placed = [
        (int((await asyncio.shield(future)).offset), builder.record_count())
        for builder, future in sent
    ]
    return range(placed[0][0], sum(placed[-1]))
