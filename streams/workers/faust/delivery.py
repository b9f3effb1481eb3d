"""Between reading and the handler: order, gaps, retries, and when to give up.

It does not depend on Faust. Reading and delivering belong to a term, the time between two changes
in the group. When a term is over, deliveries that have not begun are dropped, and those that have
begun are waited for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Container, Coroutine, Sequence, Set
from typing import Any, NamedTuple

from recollect.streams.ledger.ledger import LedgerGap
from recollect.streams.workers.faust.handler import Delivered, DeliveryFailed, Handler, Partition

# Seconds between two tries of a delivery: the first pause, and the longest.
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 10.0

_log = logging.getLogger(__name__)


class Chunk(NamedTuple):
    """Records of one partition, in order; `done` is set when they are durable."""

    partition: Partition
    records: Sequence[Delivered]
    # Set when the term in which the records were read is over.
    over: asyncio.Event
    done: asyncio.Future[None]


class Delivery:
    """Hands chunks to the handler, and keeps the offset with which each partition goes on.

    `end` is called with the error after which nothing can be delivered any more.
    """

    def __init__(
        self,
        topics: Sequence[str],
        handler: Handler,
        dense: Container[str],
        end: Callable[[BaseException], None],
    ) -> None:
        self._topics = topics
        self._handler = handler
        self._dense = dense
        self._end = end
        self._next: dict[Partition, int] = {}
        self._under_way: set[asyncio.Task[None]] = set()
        # True once no other term may begin.
        self.closed = False
        # Set once the partitions of the term are at the offsets where reading begins.
        self.begun = asyncio.Event()
        # Set when the term is over; each term has its own.
        self.over = asyncio.Event()
        self.over.set()

    def open(self, partitions: Set[Partition]) -> None:
        """Open a term with these partitions; it begins when their offsets are known.

        Raises:
            DeliveryFailed: the partitions differ between the topics.
        """
        if self.closed:
            return
        self.over = asyncio.Event()
        self._next.clear()
        shares = {frozenset(p for t, p in partitions if t == topic) for topic in self._topics}
        if len(shares) > 1:
            raise DeliveryFailed(
                f"the group gave this worker other partitions of one of the topics "
                f"{', '.join(self._topics)} than of the others: one was deleted, or a worker of "
                "another version is in the group; mend that, then start the workers again"
            )

    async def assigned(self, partitions: Set[Partition]) -> None:
        """Let the handler take over the partitions; its errors are passed on."""
        error = await self._finish(self._handler.assigned(partitions))
        if error is not None:
            raise error

    async def revoked(self, partitions: Set[Partition]) -> None:
        """End the term, and give up the partitions once no delivery is under way."""
        await self._settle()
        await self._handler.revoked(partitions)

    async def close(self) -> None:
        """End the term; no other begins."""
        self.closed = True
        await self._settle()

    def fail(self, error: BaseException) -> None:
        """End the worker: no delivery begins any more."""
        self.closed = True
        self._over()
        self._end(error)

    def _over(self) -> None:
        self.over.set()
        self.begun.clear()

    async def _settle(self) -> None:
        self._over()
        while self._under_way:
            await asyncio.wait(self._under_way)

    def reaches(self, partition: Partition, end: int) -> bool:
        """Return whether a log with this end may hold everything that was read."""
        return (self._wanted(partition) or 0) <= end

    def _wanted(self, partition: Partition) -> int | None:
        wanted = self._next.get(partition)
        return self._handler.cursor(*partition) if wanted is None else wanted

    def start(self, partition: Partition, first: int, end: int) -> int:
        """Return the offset to read from, in a log that holds `first` to `end` - 1.

        Raises:
            LedgerGap: the next record to read is not in the log.
        """
        topic, number = partition
        wanted = self._wanted(partition)
        dense = topic in self._dense
        if wanted is None:
            wanted = 0 if dense else first
        if wanted > end or (wanted < first and dense):
            holds = f"holds the offsets {first} to {end - 1}" if end > first else "is empty"
            raise LedgerGap(
                f"partition {number} of topic {topic} {holds} and ends at {end}, but {wanted} is "
                "to be read next: the topic was truncated or made anew, or this home belongs to "
                "another; restore the topic, or begin with an empty home"
            )
        self._next[partition] = max(wanted, first)
        return self._next[partition]

    async def deliver(self, chunk: Chunk) -> bool:
        """Deliver a chunk, again if the handler says so; return whether it is durable.

        Never raises: a failed delivery ends the worker, and chunks of an earlier term are dropped.
        """
        try:
            return await self._deliver(chunk)
        except Exception as error:
            self.fail(error)
            return False

    async def _deliver(self, chunk: Chunk) -> bool:
        pause = _FIRST_PAUSE
        while not chunk.over.is_set():
            records = self._expected(chunk)
            error = await self._finish(self._hand_over(chunk, records)) if records else None
            if error is None:
                if not chunk.done.done():
                    chunk.done.set_result(None)
                return True
            topic, number = chunk.partition
            what = (
                f"records {records[0].offset} to {records[-1].offset} of partition {number} of "
                f"topic {topic} could not be handled ({type(error).__name__}: {error})"
            )
            if not isinstance(error, Exception) or not self._handler.retryable(error):
                raise DeliveryFailed(
                    f"{what}; they are the first that the next worker gets"
                ) from error
            _log.warning("%s; trying again in %.1f s", what, pause)
            await _elapsed(chunk.over, pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return False

    async def _finish(self, work: Coroutine[Any, Any, None]) -> BaseException | None:
        """Run to the end, even if the waiting task is cancelled; return the error."""
        task = asyncio.ensure_future(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        await asyncio.wait([task])
        return asyncio.CancelledError("cancelled") if task.cancelled() else task.exception()

    async def _hand_over(self, chunk: Chunk, records: Sequence[Delivered]) -> None:
        await self._handler.deliver(*chunk.partition, records)
        self._next[chunk.partition] = records[-1].offset + 1

    def _expected(self, chunk: Chunk) -> Sequence[Delivered]:
        """Return the records of a chunk that were not delivered yet.

        Raises:
            LedgerGap: one is missing before or among them, in a dense topic.
        """
        topic, number = chunk.partition
        wanted = self._next[chunk.partition]
        records = chunk.records
        if records[0].offset < wanted:
            records = [record for record in records if record.offset >= wanted]
        if topic in self._dense and records and records[-1].offset != wanted + len(records) - 1:
            missing, found = next(
                (offset, record.offset)
                for offset, record in enumerate(records, wanted)
                if record.offset != offset
            )
            raise LedgerGap(
                f"record {missing} of partition {number} of topic {topic} is missing, the next "
                f"one there is {found}: records were deleted, or written in a transaction; "
                "restore the topic from a copy that has them"
            )
        return records


async def _elapsed(event: asyncio.Event, seconds: float) -> None:
    """Wait `seconds`, or until the event."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
