"""What is handed over, in what order, and when it is given up; without Faust and without Kafka."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence, Set
from typing import Any, cast

import pytest
from faust.types import TP

from recollect.schemas.errors import DeliveryFailed
from recollect.streams.ledger.kafka import retrying
from recollect.streams.ledger.ledger import LedgerGap
from recollect.streams.workers.faust import Delivered, Partition
from recollect.streams.workers.faust import delivery as module
from recollect.streams.workers.faust.delivery import Chunk, Delivery
from recollect.streams.workers.faust.transport import Consumer

EVENTS, INBOX = ("events", 3), ("inbox", 3)


class Recorder:
    """Keeps what it is given; `fails` are the errors of the next deliveries, None for none."""

    def __init__(self, *fails: BaseException | None) -> None:
        self.fails = list(fails)
        self.got: list[int] = []
        self.at: int | None = None
        self.calls: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def started(self) -> None: ...

    async def stopped(self) -> None: ...

    async def assigned(self, partitions: Set[Partition]) -> None:
        self.calls.append("assigned")

    async def revoked(self, partitions: Set[Partition]) -> None:
        self.calls.append("revoked")

    def cursor(self, topic: str, partition: int) -> int | None:
        return self.at

    async def deliver(self, topic: str, partition: int, records: Sequence[Delivered]) -> None:
        self.calls.append("begun")
        await self.gate.wait()
        if self.fails and (error := self.fails.pop(0)):
            raise error
        self.got += [record.offset for record in records]
        self.calls.append("done")

    def is_retryable(self, error: Exception) -> bool:
        return isinstance(error, TimeoutError)


class Room:
    """A delivery with its handler, in a term with partition 3 of both topics."""

    def __init__(self, handler: Recorder) -> None:
        self.handler = handler
        self.errors: list[BaseException] = []
        self.delivery = Delivery(["events", "inbox"], handler, {"events"}, self.errors.append)

    async def begin(self, partition: Partition = EVENTS, first: int = 0, end: int = 1_000) -> int:
        self.delivery.open_assignment({EVENTS, INBOX})
        await self.delivery.assigned({EVENTS, INBOX})
        return self.delivery.start_offset(partition, first, end)

    def chunk(self, *offsets: int, partition: Partition = EVENTS) -> Chunk:
        records = [Delivered(offset, None, b"", 0) for offset in offsets]
        return Chunk(partition, records, self.delivery.assignment_ended, asyncio.Future())


def play(story: Callable[[], Any]) -> None:
    """Run an asynchronous story."""
    asyncio.run(asyncio.wait_for(story(), 30))


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_INITIAL_BACKOFF_SECONDS", 0.001)


def test_what_was_delivered_is_dropped_when_it_comes_again() -> None:
    async def story() -> None:
        room = Room(Recorder())
        await room.begin()
        for offsets in ([0, 1, 2], [1, 2], [2, 3, 4]):
            chunk = room.chunk(*offsets)
            assert await room.delivery.deliver(chunk)
            assert chunk.done.done()
        assert room.handler.got == [0, 1, 2, 3, 4]

    play(story)


@pytest.mark.parametrize("offsets", [[1, 2], [0, 1, 3], [0, 2, 3]])
def test_a_gap_in_a_dense_topic_ends_the_worker(offsets: list[int]) -> None:
    async def story() -> None:
        room = Room(Recorder())
        await room.begin()
        chunk = room.chunk(*offsets)
        assert not await room.delivery.deliver(chunk)
        assert not chunk.done.done()
        (error,) = room.errors
        assert isinstance(error, LedgerGap)
        missing = min(set(range(4)) - set(offsets))
        assert f"record {missing} of partition 3 of topic events is missing" in str(error)
        assert room.handler.got == []
        assert not await room.delivery.deliver(room.chunk(0)), "nothing follows"

    play(story)


def test_a_gap_in_another_topic_is_passed() -> None:
    async def story() -> None:
        room = Room(Recorder())
        assert await room.begin(INBOX, first=5) == 5
        assert await room.delivery.deliver(room.chunk(7, 9, partition=INBOX))
        assert room.handler.got == [7, 9]

    play(story)


@pytest.mark.parametrize(
    ("cursor", "partition", "first", "end", "start"),
    [
        (None, EVENTS, 0, 9, 0),
        (None, EVENTS, 2, 9, None),
        (None, INBOX, 2, 9, 2),
        (4, EVENTS, 0, 9, 4),
        (9, EVENTS, 0, 9, 9),
        (10, EVENTS, 0, 9, None),
        (10, INBOX, 0, 9, None),
        (1, EVENTS, 2, 9, None),
        (1, INBOX, 2, 9, 2),
    ],
)
def test_reading_starts_at_the_cursor_if_it_is_in_the_log(
    cursor: int | None, partition: Partition, first: int, end: int, start: int | None
) -> None:
    async def story() -> None:
        room = Room(Recorder())
        room.handler.at = cursor
        if start is None:
            with pytest.raises(
                LedgerGap, match=f"ends at {end}, but the next offset to read is .*"
            ):
                await room.begin(partition, first, end)
        else:
            assert await room.begin(partition, first, end) == start

    play(story)


def test_a_failure_is_tried_again_only_where_the_handler_says_so() -> None:
    async def story() -> None:
        room = Room(Recorder(TimeoutError(), TimeoutError(), None, ValueError("no")))
        await room.begin()
        assert await room.delivery.deliver(room.chunk(0, 1))
        assert not await room.delivery.deliver(room.chunk(2, 3))
        assert room.handler.got == [0, 1]
        (error,) = room.errors
        assert isinstance(error, DeliveryFailed)
        assert "records 2 to 3 of partition 3 of topic events" in str(error)
        assert isinstance(error.__cause__, ValueError)

    play(story)


def test_a_delivery_that_was_cancelled_within_ends_the_worker() -> None:
    async def story() -> None:
        room = Room(Recorder(asyncio.CancelledError()))
        await room.begin()
        assert not await room.delivery.deliver(room.chunk(0))
        assert isinstance(room.errors[0], DeliveryFailed)

    play(story)


def test_partitions_are_given_up_when_their_last_delivery_has_ended() -> None:
    async def story() -> None:
        room = Room(Recorder())
        await room.begin()
        room.handler.gate.clear()
        under_way = asyncio.ensure_future(room.delivery.deliver(room.chunk(0, 1)))
        void = room.chunk(2)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        # Whoever waits for it may go away: the delivery goes on.
        under_way.cancel()
        revoking = asyncio.ensure_future(room.delivery.revoked({EVENTS, INBOX}))
        await asyncio.sleep(0.02)
        assert not revoking.done()
        room.handler.gate.set()
        await revoking
        assert not await room.delivery.deliver(void)
        assert room.handler.calls == ["assigned", "begun", "done", "revoked"]

    play(story)


def test_a_pause_before_another_try_ends_with_the_term(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_INITIAL_BACKOFF_SECONDS", "_MAX_BACKOFF_SECONDS"):
        monkeypatch.setattr(module, name, 3_600.0)

    async def story() -> None:
        room = Room(Recorder(TimeoutError()))
        await room.begin()
        trying = asyncio.ensure_future(room.delivery.deliver(room.chunk(0)))
        await asyncio.sleep(0.05)
        await room.delivery.revoked({EVENTS, INBOX})
        assert not await trying
        assert not room.errors

    play(story)


def test_no_term_begins_after_the_end() -> None:
    async def story() -> None:
        room = Room(Recorder())
        await room.begin()
        await room.delivery.close()
        room.delivery.open_assignment({EVENTS, INBOX})
        assert room.delivery.assignment_ended.is_set()
        assert not await room.delivery.deliver(room.chunk(0))

    play(story)


def test_a_worker_that_gets_different_partitions_of_its_topics_ends() -> None:
    async def story() -> None:
        room = Room(Recorder())
        with pytest.raises(DeliveryFailed, match="partitions that differ between the topics"):
            room.delivery.open_assignment({EVENTS, ("inbox", 4)})

    play(story)


class Asked:
    """What a consumer asks the brokers: each answer in turn is where the log ends, the last one
    for ever."""

    def __init__(self, delivery: Delivery, ends: list[int]) -> None:
        self._delivery = delivery
        self._ends = ends
        self.sought: dict[TP, int] = {}

    async def earliest_offsets(self, *partitions: TP) -> dict[TP, int]:
        return dict.fromkeys(partitions, 0)

    async def highwaters(self, *partitions: TP) -> dict[TP, int]:
        end = self._ends.pop(0) if len(self._ends) > 1 else self._ends[0]
        return dict.fromkeys(partitions, end)

    async def seek_wait(self, offsets: dict[TP, int]) -> None:
        self.sought = offsets


@pytest.mark.parametrize(
    ("ends", "starts", "seconds"), [([3, 0, 7], True, 30.0), ([3], False, 0.3)]
)
def test_a_broker_that_answers_from_the_past_is_asked_again(
    ends: list[int], starts: bool, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stood still, and does not know yet that another leads; what is gone is named at last."""
    monkeypatch.setattr(retrying, "REPEAT_SECONDS", seconds)

    async def story() -> None:
        handler = Recorder()
        handler.at = 7
        room = Room(handler)
        await room.begin(end=7)
        asked, tp = Asked(room.delivery, ends), TP(*EVENTS)
        if starts:
            await Consumer._seek_to_cursors(cast(Any, asked), {tp})
            assert asked.sought == {tp: 7}
        else:
            with pytest.raises(LedgerGap, match=r"ends at 3, but the next offset to read is 7"):
                await Consumer._seek_to_cursors(cast(Any, asked), {tp})
            assert asked.sought == {}

    play(story)
