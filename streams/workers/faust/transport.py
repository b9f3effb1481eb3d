"""Faust's transport, changed to read chunks from the handler's cursors, one task per partition.

Faust's own consumer seeks to the offsets committed to Kafka, reads all partitions in one loop, and
makes two tasks of each message. This one seeks to the handler's cursors after each rebalance. It
reads each partition in a task of its own, so that a slow one delays no other, and puts up to a few
hundred records into one message. It commits offsets to Kafka only to show the lag, and never reads
them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, TypeVar, cast

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import IllegalStateError, KafkaError, OffsetOutOfRangeError
from aiokafka.structs import ConsumerRecord, OffsetAndMetadata
from faust import Schema
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, credentials_to_aiokafka_auth
from faust.transport.drivers.aiokafka import Consumer as FaustConsumer
from faust.transport.drivers.aiokafka import Transport as FaustTransport
from faust.types import TP, AppT, EventT, Message
from faust.types.tuples import ConsumerMessage
from mode import Service, ServiceT

from recollect.schemas.errors import DeliveryFailed, RecollectError
from recollect.streams.ledger.kafka.retrying import retry_until
from recollect.streams.workers.faust.delivery import Chunk, Delivery
from recollect.streams.workers.faust.handler import Delivered, Settings

# How long the broker may hold a fetch that finds no records. A fetch for idle partitions delays all
# others: with Faust's 1,500 ms, a busy topic next to an idle one is read at a tenth of the speed.
_FETCH_WAIT_MS = 100
# Delay between two attempts to reach a broker; each attempt is logged.
_RETRY_MS = 500
# A worker stays in its group as long as its process lives, however slow a delivery is. (Otherwise
# aiokafka leaves the group, and rejoins only after a read, while reading waits for it to rejoin.)
_NEVER_MS = 10 * 365 * 86_400_000
# How long a commit may take; without a broker it would delay the worker's shutdown.
_COMMIT_SECONDS = 3.0
# How long a read waits for records. A read that is no longer needed is cancelled, so this only sets
# how often an empty read is repeated.
_READ_SECONDS = 10.0
# How long the look-up of the logs' first and end offsets may take.
_SEEK_SECONDS = 60.0
# How often membership in the group is checked.
_MEMBERSHIP_CHECK_SECONDS = 1.0

T = TypeVar("T")


class Chunks(Schema):  # type: ignore[type-arg]
    """A schema without decoding: the value of a message is already a chunk."""

    def compile(self, app: AppT, **kwargs: Any) -> Any:
        async def decode(message: Message, *, propagate: bool = False) -> EventT[Any]:
            return app.create_event(None, cast(Any, message.value), {}, message)

        return decode


class ReadingThread(AIOKafkaConsumerThread):
    """The thread that talks to Kafka."""

    consumer: Consumer

    def _create_worker_consumer(self, transport: Any) -> AIOKafkaConsumer:
        settings = self.consumer.transport.settings
        return AIOKafkaConsumer(
            bootstrap_servers=list(settings.servers),
            client_id="recollect",
            group_id=settings.group,
            group_instance_id=settings.member,
            # Assigns the same partition of all topics to the same worker. Faust would choose
            # another assignor, as there are neither tables nor standbys.
            partition_assignment_strategy=[self.app.assignor],
            # An offset that is not in the log is an error, never a reason to start over.
            auto_offset_reset="none",
            # Skip records of aborted transactions.
            isolation_level="read_committed",
            enable_auto_commit=False,
            session_timeout_ms=int(settings.session_timeout * 1_000),
            heartbeat_interval_ms=int(settings.session_timeout * 1_000 / 4),
            rebalance_timeout_ms=int(settings.rebalance_timeout * 1_000),
            max_poll_interval_ms=_NEVER_MS,
            # Joining waits for all other members, as long as a rebalance may take.
            request_timeout_ms=int((settings.rebalance_timeout + 30) * 1_000),
            fetch_max_wait_ms=_FETCH_WAIT_MS,
            retry_backoff_ms=_RETRY_MS,
            **credentials_to_aiokafka_auth(self.app.conf.broker_credentials),
        )

    async def on_thread_stop(self) -> None:
        """Stop; ignore that aiokafka, without a broker, raises for a fetch that it cancelled."""
        with suppress(asyncio.CancelledError):
            await super().on_thread_stop()

    async def check(self) -> None:
        """Raise aiokafka's fatal error, if any; aiokafka reports it only on request."""
        await self._in_thread(self._check())

    async def _check(self) -> None:
        if self._consumer is not None and self._consumer._coordinator is not None:
            self._consumer._coordinator.check_errors()

    async def read(self, tp: TP, limit: int) -> Sequence[ConsumerRecord[bytes, bytes]]:
        """Return the next records of a partition, or none after `_READ_SECONDS`."""
        return await self._in_thread(self._read(tp, limit))

    async def _in_thread(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work in the thread, concurrently with everything else.

        Faust's `call_thread` would run only two calls at once.
        """
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.thread_loop))

    async def _read(self, tp: TP, limit: int) -> Sequence[ConsumerRecord[bytes, bytes]]:
        consumer = self._ensure_consumer()
        partition = TopicPartition(*tp)
        records = await consumer.getmany(
            partition, timeout_ms=int(_READ_SECONDS * 1_000), max_records=limit
        )
        if consumer._fetcher.error_future.done():
            # Nothing else reports that aiokafka's fetcher has failed.
            consumer._fetcher.error_future.result()
        return cast(Sequence[Any], records.get(partition, ()))

    async def _commit(self, offsets: Mapping[TP, int]) -> bool:
        """Commit offsets; Faust's own method would crash the worker if that failed."""
        committed = {TopicPartition(*tp): OffsetAndMetadata(at, "") for tp, at in offsets.items()}
        try:
            async with asyncio.timeout(_COMMIT_SECONDS):
                await self._ensure_consumer().commit(committed)
        except (TimeoutError, KafkaError) as error:
            self.log.info("the offsets were not committed, which does no harm: %r", error)
            return False
        return True


class Consumer(FaustConsumer):
    """A consumer that starts at the handler's cursors; see the module's description."""

    transport: Transport
    _thread: ReadingThread

    def _new_consumer_thread(self) -> ReadingThread:
        return ReadingThread(self, loop=self.loop, beacon=self.beacon)

    @property
    def _delivery(self) -> Delivery:
        return self.transport.delivery

    @Service.task
    async def _watch(self) -> None:
        """End the worker when the group rejects it; Faust would wait for ever."""
        await self.sleep(_MEMBERSHIP_CHECK_SECONDS)
        while not (self.should_stop or self._thread.should_stop):
            try:
                await self._thread.check()
            except KafkaError as error:
                self._delivery.fail(
                    DeliveryFailed(
                        f"this worker cannot join group {self.transport.settings.group} "
                        f"({error!r}); check the group's name, its rights and session_timeout"
                    )
                )
                return
            await self.sleep(_MEMBERSHIP_CHECK_SECONDS)

    def verify_event_path(self, now: float, tp: TP) -> None:
        """Omit Faust's warnings about slow deliveries, whose advice does not apply here."""

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """End the assignment, then let Faust do its part."""
        try:
            await self._delivery.revoked(revoked)
        except Exception as error:
            # aiokafka would log the error and go on.
            self._delivery.fail(error)
        await super().on_partitions_revoked(revoked)

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Start an assignment, then let Faust do its part.

        Faust then calls `seek_to_committed` from another task. The handler takes over only there,
        because aiokafka sends no heartbeat before this method returns.
        """
        try:
            self._delivery.open_assignment(assigned)
        except Exception as error:
            self._delivery.fail(error)
        await super().on_partitions_assigned(assigned, generation_id)

    def close(self) -> None:
        """Do nothing: the stop in progress closes the client, which runs in another loop."""

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """Let the handler take over the partitions, seek to its cursors, and start reading."""
        assignment_ended = self._delivery.assignment_ended
        starts: Mapping[TP, int] = {}
        try:
            partitions = self.assignment()
            if not assignment_ended.is_set():
                await self._delivery.assigned(partitions)
            if not assignment_ended.is_set():
                starts = await self._seek_to_cursors(partitions)
        except Exception as error:
            if not assignment_ended.is_set():
                self._delivery.fail(error)
        if self._delivery.closed:
            # No other seek will follow.
            return {}
        if assignment_ended.is_set():
            raise IllegalStateError("the group changed during this seek; Faust seeks again")
        self._delivery.reading_begun.set()
        self.add_future(self._commit(starts))
        return starts

    async def _seek_to_cursors(self, partitions: set[TP]) -> Mapping[TP, int]:
        async def offsets() -> tuple[Mapping[TP, int], Mapping[TP, int]]:
            return await self.earliest_offsets(*partitions), await self.highwaters(*partitions)

        try:
            async with asyncio.timeout(_SEEK_SECONDS):
                firsts, ends = await retry_until(
                    offsets,
                    lambda answer: all(
                        self._delivery.covers(tp, answer[1][tp]) for tp in partitions
                    ),
                )
                starts = {
                    tp: self._delivery.start_offset(tp, firsts[tp], ends[tp]) for tp in partitions
                }
                await self.seek_wait(starts)
        except (TimeoutError, KafkaError) as error:
            raise DeliveryFailed(
                f"Kafka did not return the offsets of {', '.join({tp.topic for tp in partitions})} "
                f"({error!r}); start the worker again once the broker is healthy"
            ) from error
        return starts

    async def _drain_messages(self, fetcher: ServiceT) -> None:
        """Run a reading task for each partition during each assignment."""
        try:
            while True:
                await self._delivery.reading_begun.wait()
                await self._read_all(self._delivery.assignment_ended)
        except asyncio.CancelledError:
            # On a rebalance at this point Faust mistakes a cancelled fetcher for a broken one.
            if not fetcher.should_stop:
                raise

    async def _read_all(self, assignment_ended: asyncio.Event) -> None:
        readers = [
            asyncio.ensure_future(self._read(tp, assignment_ended, self.app.consumer_generation_id))
            for tp in self.assignment()
        ]
        try:
            await assignment_ended.wait()
        finally:
            for reader in readers:
                reader.cancel()
            await asyncio.gather(*readers, return_exceptions=True)

    async def _read(self, tp: TP, assignment_ended: asyncio.Event, generation: int) -> None:
        """Read a partition chunk by chunk; a chunk is read when the previous one is durable."""
        try:
            while not assignment_ended.is_set():
                try:
                    records = await self._thread.read(tp, self.transport.settings.batch)
                except OffsetOutOfRangeError:
                    # The topic was deleted or recreated. Seeking either fails or resumes at a later
                    # offset.
                    await self._seek_to_cursors({tp})
                    continue
                if records:
                    await self._send_chunk(tp, records, assignment_ended, generation)
        except Exception as error:
            if assignment_ended.is_set():
                return
            self._delivery.fail(
                error
                if isinstance(error, RecollectError)
                else DeliveryFailed(
                    f"partition {tp.partition} of topic {tp.topic} cannot be read ({error!r})"
                )
            )

    async def _send_chunk(
        self,
        tp: TP,
        records: Sequence[ConsumerRecord[bytes, bytes]],
        assignment_ended: asyncio.Event,
        generation: int,
    ) -> None:
        """Send a chunk through Faust to the agent, and wait until it is durable."""
        chunk = Chunk(
            tp,
            [
                Delivered(record.offset, record.key, record.value, record.timestamp)
                for record in records
            ],
            assignment_ended,
            self.loop.create_future(),
        )
        last = records[-1]
        await self.callback(
            ConsumerMessage(
                tp.topic,
                tp.partition,
                last.offset,
                last.timestamp / 1_000,
                last.timestamp_type,
                None,
                None,
                cast(Any, chunk),
                None,
                tp=tp,
                generation_id=generation,
            )
        )
        await chunk.done

    def _new_offset(self, tp: TP) -> int | None:
        """Return the offset to commit, after the newest acknowledged chunk of a partition.

        Chunks are acknowledged in order. Faust's own method looks for gaps between single messages,
        and is off by one.
        """
        acked = self._acked[tp]
        if not acked:
            return None
        newest = max(acked)
        acked.clear()
        self._acked_index[tp].clear()
        return newest + 1


class Transport(FaustTransport):
    """Faust's transport with the consumer above."""

    Consumer: ClassVar[Any] = Consumer

    def __init__(self, app: AppT, settings: Settings, delivery: Delivery) -> None:
        super().__init__(app.conf.broker_consumer, app)
        self.settings = settings
        self.delivery = delivery
