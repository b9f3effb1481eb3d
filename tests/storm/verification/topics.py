"""Reading whole topics with plain aiokafka, from the first record that is left to the end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import OffsetOutOfRangeError

PARTITIONS = 12
# So long without a record that must be there, and something is wrong with the broker.
_PATIENCE_SECONDS = 60.0


class Raw(NamedTuple):
    """A record as it stands in a topic."""

    offset: int
    key: bytes | None
    value: bytes | None


#: The records of each partition of a topic, in order.
Log: TypeAlias = Mapping[int, Sequence[Raw]]


class Topics(NamedTuple):
    """What the ledger is made of, and what has not been taken into it."""

    inbox: Log
    events: Log
    changes: Log
    keys: Log


def read_topics(servers: str) -> Topics:
    """Return every record that the topics hold now.

    Raises:
        TimeoutError: the broker does not deliver them.
    """
    return asyncio.run(_read(servers))


async def _read(servers: str) -> Topics:
    found: dict[str, dict[int, list[Raw]]] = {
        topic: {partition: [] for partition in range(PARTITIONS)} for topic in Topics._fields
    }
    consumer = AIOKafkaConsumer(
        bootstrap_servers=servers,
        enable_auto_commit=False,
        auto_offset_reset="none",
        fetch_max_wait_ms=50,
    )
    await consumer.start()
    try:
        places = [TopicPartition(topic, number) for topic in found for number in range(PARTITIONS)]
        ends = await consumer.end_offsets(places)
        starts = await consumer.beginning_offsets(places)
        left = {place for place in places if starts[place] < ends[place]}
        consumer.assign(list(left))
        for place in left:
            consumer.seek(place, starts[place])
        heard = time.monotonic()
        while left:
            try:
                page = await consumer.getmany(timeout_ms=1_000)
            except OffsetOutOfRangeError as error:
                # The inbox was emptied meanwhile: it begins further up.
                page = {}
                for place, start in (await consumer.beginning_offsets(list(error.args[0]))).items():
                    found[place.topic][place.partition].clear()
                    consumer.seek(place, start)
                    if start >= ends[place]:
                        left.discard(place)
            for place, records in page.items():
                heard = time.monotonic()
                found[place.topic][place.partition] += [
                    Raw(record.offset, record.key, record.value)
                    for record in records
                    if record.offset < ends[place]
                ]
                if records[-1].offset + 1 >= ends[place]:
                    left.discard(place)
            if time.monotonic() - heard > _PATIENCE_SECONDS:
                raise TimeoutError(f"the broker does not deliver {sorted(left)}")
    finally:
        await consumer.stop()
    return Topics(**found)
