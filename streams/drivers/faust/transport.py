"""How Faust reads Kafka here: from the handler's cursors, each partition for itself, in chunks.

Faust's own consumer seeks to what was committed to Kafka, reads all partitions in one loop, and
makes two tasks of each message. This one seeks to the handler's cursors whenever the group has
changed, reads each partition in a task of its own, so that a slow one holds up no other, and
makes one message of up to a few hundred records. Kafka's commits are written for those who watch
the lag, and never read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import IllegalStateError, KafkaError, OffsetOutOfRangeError
from aiokafka.structs import ConsumerRecord, OffsetAndMetadata
from faust import Schema
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, credentials_to_aiokafka_auth
from faust.transport.drivers.aiokafka import Consumer as FaustConsumer
from faust.transport.drivers.aiokafka import Transport as FaustTransport
from faust.types import TP, AppT, EventT, Message
from faust.types.tuples import ConsumerMessage
from mode import ServiceT

from schemas.errors import RecollectError
from streams.drivers.faust.delivery import Chunk, Delivery
from streams.drivers.faust.handler import Delivered, DeliveryFailed, Settings

# Milliseconds the broker may hold a fetch that finds nothing. One that asks for idle partitions
# only holds up all others: with Faust's 1,500 this reads 25,000 records/s instead of 180,000.
_FETCH_WAIT_MS = 100
# A worker is in its group as long as its process lives: a slow delivery is the handler's business.
# (aiokafka leaves the group after this, and never comes back if Faust is not reading just then.)
_NEVER_MS = 10 * 365 * 86_400_000
# Seconds a read waits for records; a read that is not needed any more is cancelled, so this only
# says how often nothing is asked for.
_READ_SECONDS = 10.0
# Faust gives a seek as long as a request (90 s), and then stands still for ever.
_SEEK_SECONDS = 60.0


class Chunks(Schema):  # type: ignore[type-arg]
    """Nothing to decode: the value of a message is a chunk already."""

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
            # Gives the same partition of all topics to the same worker; Faust itself takes
            # another one as soon as there are neither tables nor standbys.
            partition_assignment_strategy=[self.app.assignor],
            # A log that does not hold what is asked for is an error, never a reason to start over.
            auto_offset_reset="none",
            enable_auto_commit=False,
            session_timeout_ms=int(settings.session_timeout * 1_000),
            heartbeat_interval_ms=int(settings.session_timeout * 1_000 / 4),
            rebalance_timeout_ms=int(settings.rebalance_timeout * 1_000),
            max_poll_interval_ms=_NEVER_MS,
            fetch_max_wait_ms=_FETCH_WAIT_MS,
            **credentials_to_aiokafka_auth(self.app.conf.broker_credentials),
        )

    async def read(self, tp: TP, most: int) -> Sequence[ConsumerRecord[bytes, bytes]]:
        """Return the next records of a partition, or none if there are none for a while."""
        return await asyncio.wrap_future(
            asyncio.run_coroutine_threadsafe(self._read(tp, most), self.thread_loop)
        )

    async def _read(self, tp: TP, most: int) -> Sequence[ConsumerRecord[bytes, bytes]]:
        consumer = self._ensure_consumer()
        partition = TopicPartition(*tp)
        records = await consumer.getmany(
            partition, timeout_ms=int(_READ_SECONDS * 1_000), max_records=most
        )
        if consumer._fetcher.error_future.done():
            # Nobody else notices when aiokafka's fetching has died.
            consumer._fetcher.error_future.result()
        return cast(Sequence[Any], records.get(partition, ()))

    async def _commit(self, offsets: Mapping[TP, int]) -> bool:
        """Commit a hint; Faust's own crashes the worker when that fails."""
        wanted = {TopicPartition(*tp): OffsetAndMetadata(at, "") for tp, at in offsets.items()}
        try:
            await self._ensure_consumer().commit(wanted)
        except KafkaError as error:
            self.log.info("the offsets were not committed, which does no harm: %r", error)
            return False
        return True


class Consumer(FaustConsumer):
    """Reads what the delivery is to go on with; see the module."""

    transport: Transport
    _thread: ReadingThread

    def _new_consumer_thread(self) -> ReadingThread:
        return ReadingThread(self, loop=self.loop, beacon=self.beacon)

    @property
    def _delivery(self) -> Delivery:
        return self.transport.delivery

    async def on_partitions_revoked(self, revoked: set[TP]) -> None:
        """End the term, then let Faust do its part."""
        try:
            await self._delivery.revoked(revoked)
        except Exception as error:
            # aiokafka would log it and go on.
            self._delivery.fail(error)
        await super().on_partitions_revoked(revoked)

    async def on_partitions_assigned(self, assigned: set[TP], generation_id: int = 0) -> None:
        """Open a term, then let Faust do its part, which ends in `seek_to_committed`."""
        try:
            await self._delivery.assigned(assigned)
        except Exception as error:
            self._delivery.fail(error)
        await super().on_partitions_assigned(assigned, generation_id)

    def close(self) -> None:
        """Leave it to the stop that is under way: Faust would close the client of another loop."""

    async def seek_to_committed(self) -> Mapping[TP, int]:
        """Seek every partition to where the handler's cursor is, and begin the term."""
        over = self._delivery.over
        starts: Mapping[TP, int] = {}
        try:
            starts = await self._seek_to_cursors(self.assignment())
        except Exception as error:
            if not over.is_set():
                self._delivery.fail(error)
        if over.is_set():
            raise IllegalStateError("the group changed during this seek; Faust seeks again")
        self._delivery.begun.set()
        self.add_future(self._commit(starts))
        return starts

    async def _seek_to_cursors(self, partitions: set[TP]) -> Mapping[TP, int]:
        try:
            async with asyncio.timeout(_SEEK_SECONDS):
                firsts = await self.earliest_offsets(*partitions)
                ends = await self.highwaters(*partitions)
                starts = {tp: self._delivery.start(tp, firsts[tp], ends[tp]) for tp in partitions}
                await self.seek_wait(starts)
        except (TimeoutError, KafkaError) as error:
            raise DeliveryFailed(
                f"Kafka did not say what it holds of {', '.join({tp.topic for tp in partitions})} "
                f"({error!r}); start the worker again once the broker is well"
            ) from error
        return starts

    async def _drain_messages(self, fetcher: ServiceT) -> None:
        """Keep a reader for each partition during each term."""
        try:
            while True:
                await self._delivery.begun.wait()
                await self._read_all(self._delivery.over)
        except asyncio.CancelledError:
            # Faust takes a cancelled fetcher for a broken one if the group changes just then.
            if not fetcher.should_stop:
                raise

    async def _read_all(self, over: asyncio.Event) -> None:
        readers = [
            asyncio.ensure_future(self._read(tp, over, self.app.consumer_generation_id))
            for tp in self.assignment()
        ]
        try:
            await over.wait()
        finally:
            for reader in readers:
                reader.cancel()
            await asyncio.gather(*readers, return_exceptions=True)

    async def _read(self, tp: TP, over: asyncio.Event, generation: int) -> None:
        """Read a partition chunk by chunk, the next one when the last one is durable."""
        try:
            while not over.is_set():
                try:
                    records = await self._thread.read(tp, self.transport.settings.batch)
                except OffsetOutOfRangeError:
                    # Deleted or made anew under us: an error, or to be gone on with further up.
                    await self._seek_to_cursors({tp})
                    continue
                if records:
                    await self._hand_over(tp, records, over, generation)
        except Exception as error:
            if over.is_set():
                return
            self._delivery.fail(
                error
                if isinstance(error, RecollectError)
                else DeliveryFailed(
                    f"partition {tp.partition} of topic {tp.topic} cannot be read ({error!r})"
                )
            )

    async def _hand_over(
        self,
        tp: TP,
        records: Sequence[ConsumerRecord[bytes, bytes]],
        over: asyncio.Event,
        generation: int,
    ) -> None:
        """Send a chunk through Faust to the agent, and wait until its records are durable."""
        chunk = Chunk(
            tp,
            [Delivered(each.offset, each.key, each.value, each.timestamp) for each in records],
            over,
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
        """Return what to commit: a partition's chunks are acknowledged in order.

        Faust's own looks for gaps between single messages, and counts one too far.
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
