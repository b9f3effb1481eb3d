"""Three brokers keep what they acknowledged, and what the controller decided can be counted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from tests.broker.cluster import Cluster, History, Member

TOPIC = "kept"
PLACE = (TOPIC, 0)


async def make_topic(address: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=address)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(TOPIC, 1, 3)])
    finally:
        await admin.close()


async def append(address: str, values: Sequence[bytes]) -> None:
    """Return when every value is acknowledged."""
    async with AIOKafkaProducer(
        bootstrap_servers=address, enable_idempotence=True, acks="all"
    ) as producer:
        for sent in [await producer.send(TOPIC, value, partition=0) for value in values]:
            await sent


async def read(address: str) -> list[bytes | None]:
    """Return all that the partition holds."""
    async with AIOKafkaConsumer(bootstrap_servers=address, group_id=None) as consumer:
        place = TopicPartition(TOPIC, 0)
        consumer.assign([place])
        await consumer.seek_to_beginning(place)
        end = (await consumer.end_offsets([place]))[place]
        found: list[bytes | None] = []
        while await consumer.position(place) < end:
            for records in (await consumer.getmany(timeout_ms=500)).values():
                found += [record.value for record in records]
        return found


def leader(cluster: Cluster) -> Member:
    """Return the broker that leads the partition."""
    cluster.wait_until_whole()
    return cluster.brokers[cluster.brokers[0].look()[PLACE].leader - 1]


@pytest.mark.kafka
def test_what_was_acknowledged_outlives_a_kill_a_lost_disk_and_one_copy_in_sync(
    tmp_path: Path,
) -> None:
    some = [[b"%d of %d" % (number, part) for number in range(100)] for part in range(4)]
    with Cluster(tmp_path) as cluster:
        asyncio.run(make_topic(cluster.address))
        cluster.wait_until_whole()
        asyncio.run(append(cluster.address, some[0]))

        first = leader(cluster)
        first.kill()
        asyncio.run(append(cluster.address, some[1]))
        first.lose_disk()
        first.start()
        cluster.wait_until_whole()
        assert asyncio.run(read(cluster.address)) == some[0] + some[1]

        # Who has just got its copy back is the only one in sync, and acknowledges nothing.
        others = [broker for broker in cluster.brokers if broker is not first]
        for broker in others:
            broker.pause()
        cluster.wait_until(lambda known: known[PLACE].in_sync == {first.number}, "one is in sync")
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(asyncio.run, append(first.address, some[2]))
            with pytest.raises(TimeoutError):
                waiting.result(3)
            for broker in others:
                broker.resume()
            waiting.result(60)
        cluster.wait_until_whole()

        # A leader that stood still is led on past, and takes its place behind the others.
        stopped = leader(cluster)
        stopped.pause()
        rest = ",".join(broker.address for broker in cluster.up)
        time.sleep(4)
        asyncio.run(append(rest, some[3]))
        stopped.resume()
        cluster.wait_until_whole()
        assert asyncio.run(read(cluster.address)) == some[0] + some[1] + some[2] + some[3]

        history = cluster.history()
    assert history.leader_changes >= 2
    assert history.below_two == 1
    assert history.unclean == 0


def test_what_the_controller_decided_is_counted() -> None:
    def topic(name: str) -> dict[str, object]:
        return {"type": "TOPIC_RECORD", "data": {"name": name, "topicId": name}}

    def place(kind: str, name: str, **fields: object) -> dict[str, object]:
        data = {"topicId": name, "partitionId": 0, **fields}
        return {"type": kind, "data": data}

    made, change = "PARTITION_RECORD", "PARTITION_CHANGE_RECORD"
    history = History.of(
        [
            topic("events"),
            topic("__consumer_offsets"),
            place(made, "events", leader=1, isr=[1, 2, 3]),
            place(made, "__consumer_offsets", leader=1, isr=[1, 2, 3]),
            place(change, "__consumer_offsets", leader=2, isr=[2]),
            place(change, "events", leader=2, isr=[2, 3]),
            place(change, "events", isr=[2]),
            place(change, "events", isr=[], leader=-1),
            place(change, "events", isr=[2], leader=2),
            place(change, "events", isr=[2, 1]),
            place(change, "events", leader=3, leaderRecoveryState=1, isr=[3]),
        ]
    )
    assert history == History(leader_changes=2, shrinks=4, below_two=3, unclean=1)
