"""Ordered delivery to the handler, with gap detection and retries.

It does not depend on Faust. Records are read and delivered within an assignment, which lasts from
one rebalance of the group to the next. When it ends, deliveries that have not begun are dropped,
and those in flight are awaited.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Container, Coroutine, Sequence, Set
from typing import Any, NamedTuple

from recollect.schemas.errors import DeliveryFailed
from recollect.streams.ledger.ledger import LedgerGap
from recollect.streams.workers.faust.handler import Delivered, Handler, Partition

# Delays between two attempts to deliver.
_INITIAL_BACKOFF_SECONDS = 0.1
_MAX_BACKOFF_SECONDS = 10.0

_log = logging.getLogger(__name__)


class Chunk(NamedTuple):
    """Records of one partition, in order; `done` is set when they are durable."""

    partition: Partition
    records: Sequence[Delivered]
    # Set when the assignment in which the records were read ends.
    assignment_ended: asyncio.Event
    done: asyncio.Future[None]


class Delivery:
    """Hands chunks to the handler, and keeps the next offset of each partition.

    `on_fatal` is called with the error after which nothing more can be delivered.
    """

    def __init__(
        self,
        topics: Sequence[str],
        handler: Handler,
        dense: Container[str],
        on_fatal: Callable[[BaseException], None],
    ) -> None:
        self._topics = topics
        self._handler = handler
        self._dense = dense
        self._on_fatal = on_fatal
        self._next: dict[Partition, int] = {}
        self._in_flight: set[asyncio.Task[None]] = set()
        # True once no further assignment may begin.
        self.closed = False
        # Set once the assignment's partitions are at the offsets where reading begins.
        self.reading_begun = asyncio.Event()
        # Set when the assignment ends; each assignment has its own event.
        self.assignment_ended = asyncio.Event()
        self.assignment_ended.set()

    def open_assignment(self, partitions: Set[Partition]) -> None:
        """Start an assignment of these partitions; reading begins when their offsets are known.

        Raises:
            DeliveryFailed: the partitions differ between the topics.
        """
        if self.closed:
            return
        self.assignment_ended = asyncio.Event()
        self._next.clear()
        shares = {frozenset(p for t, p in partitions if t == topic) for topic in self._topics}
        if len(shares) > 1:
            raise DeliveryFailed(
                "the group assigned this worker partitions that differ between the topics "
                f"{', '.join(self._topics)}: a topic was deleted, or a worker of another version "
                "is in the group; fix that, then start the workers again"
            )

    async def assigned(self, partitions: Set[Partition]) -> None:
        """Let the handler take over the partitions; its errors are raised."""
        error = await self._finish(self._handler.assigned(partitions))
        if error is not None:
            raise error

    async def revoked(self, partitions: Set[Partition]) -> None:
        """End the assignment, and give up the partitions once no delivery is in flight."""
        await self._await_in_flight()
        await self._handler.revoked(partitions)

    async def close(self) -> None:
        """End the assignment for good."""
        self.closed = True
        await self._await_in_flight()

    def fail(self, error: BaseException) -> None:
        """End the worker: no more deliveries begin."""
        self.closed = True
        self._end_assignment()
        self._on_fatal(error)

    def _end_assignment(self) -> None:
        self.assignment_ended.set()
        self.reading_begun.clear()

    async def _await_in_flight(self) -> None:
        self._end_assignment()
        while self._in_flight:
            await asyncio.wait(self._in_flight)

    def covers(self, partition: Partition, end: int) -> bool:
        """Return whether a log that ends at `end` may contain everything that was read so far."""
        return (self._next_offset(partition) or 0) <= end

    def _next_offset(self, partition: Partition) -> int | None:
        offset = self._next.get(partition)
        return self._handler.cursor(*partition) if offset is None else offset

    def start_offset(self, partition: Partition, first: int, end: int) -> int:
        """Return the offset to read from, in a log that has the offsets `first` to `end` - 1.

        Raises:
            LedgerGap: the next record to read is not in the log.
        """
        topic, number = partition
        offset = self._next_offset(partition)
        is_dense = topic in self._dense
        if offset is None:
            offset = 0 if is_dense else first
        if offset > end or (offset < first and is_dense):
            holds = f"holds the offsets {first} to {end - 1}" if end > first else "is empty"
            raise LedgerGap(
                f"partition {number} of topic {topic} {holds} and ends at {end}, but the next "
                f"offset to read is {offset}: the topic was truncated or recreated, or this home "
                "belongs to another ledger; restore the topic, or start with an empty home"
            )
        self._next[partition] = max(offset, first)
        return self._next[partition]

    async def deliver(self, chunk: Chunk) -> bool:
        """Deliver a chunk, retrying if the handler allows it; return whether it is durable.

        Never raises: a failed delivery ends the worker, and chunks of an earlier assignment are
        dropped.
        """
        try:
            return await self._deliver(chunk)
        except Exception as error:
            self.fail(error)
            return False

    async def _deliver(self, chunk: Chunk) -> bool:
        backoff = _INITIAL_BACKOFF_SECONDS
        while not chunk.assignment_ended.is_set():
            records = self._undelivered_records(chunk)
            error = await self._finish(self._handle(chunk, records)) if records else None
            if error is None:
                if not chunk.done.done():
                    chunk.done.set_result(None)
                return True
            topic, number = chunk.partition
            failure = (
                f"records {records[0].offset} to {records[-1].offset} of partition {number} of "
                f"topic {topic} could not be handled ({type(error).__name__}: {error})"
            )
            if not isinstance(error, Exception) or not self._handler.is_retryable(error):
                raise DeliveryFailed(
                    f"{failure}; fix the cause, then start the worker again: it retries these "
                    "records"
                ) from error
            _log.warning("%s; trying again in %.1f s", failure, backoff)
            await _wait(chunk.assignment_ended, backoff)
            backoff = min(2 * backoff, _MAX_BACKOFF_SECONDS)
        return False

    async def _finish(self, work: Coroutine[Any, Any, None]) -> BaseException | None:
        """Run `work` to its end, even if the waiting task is cancelled; return its error."""
        task = asyncio.ensure_future(work)
        self._in_flight.add(task)
        task.add_done_callback(self._in_flight.discard)
        await asyncio.wait([task])
        return asyncio.CancelledError("cancelled") if task.cancelled() else task.exception()

    async def _handle(self, chunk: Chunk, records: Sequence[Delivered]) -> None:
        await self._handler.deliver(*chunk.partition, records)
        self._next[chunk.partition] = records[-1].offset + 1

    def _undelivered_records(self, chunk: Chunk) -> Sequence[Delivered]:
        """Return the records of a chunk that have not been delivered yet.

        Raises:
            LedgerGap: a record is missing before or among them, in a dense topic.
        """
        topic, number = chunk.partition
        start = self._next[chunk.partition]
        records = chunk.records
        if records[0].offset < start:
            records = [record for record in records if record.offset >= start]
        if topic in self._dense and records and records[-1].offset != start + len(records) - 1:
            missing, found_offset = next(
                (offset, record.offset)
                for offset, record in enumerate(records, start)
                if record.offset != offset
            )
            raise LedgerGap(
                f"record {missing} of partition {number} of topic {topic} is missing, and the next "
                f"one is {found_offset}: records were deleted, or written in a transaction; "
                "restore the topic from a copy that has them"
            )
        return records


async def _wait(event: asyncio.Event, seconds: float) -> None:
    """Wait until the event is set, at most for `seconds`."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
