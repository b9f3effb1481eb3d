"""Deleting the oldest records of partitions.

aiokafka's admin client can delete records too, but each time it fetches the metadata of every topic
of the cluster. With a thousand partitions, reading that answer takes longer than everything else
that a worker does in a second.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.client import ConnectionGroup
from aiokafka.errors import LeaderNotAvailableError, for_code
from aiokafka.protocol.admin import DeleteRecordsRequest

# A broker answers once all replicas have deleted the records, or after this time.
_TIMEOUT_MS = 10_000


async def delete_before(producer: AIOKafkaProducer, offsets: Mapping[TopicPartition, int]) -> None:
    """Delete the records below the offsets, using the cluster metadata of a running producer.

    Raises:
        aiokafka.errors.KafkaError: a partition has no leader now, or a broker failed to delete.
    """
    requests: dict[int, dict[str, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for tp, offset in offsets.items():
        await producer.partitions_for(tp.topic)
        leader = producer.client.cluster.leader_for_partition(tp)
        if leader is None or leader < 0:
            producer.client.force_metadata_update()
            raise LeaderNotAvailableError(f"{tp.topic}/{tp.partition}")
        requests[leader][tp.topic].append((tp.partition, offset))
    for leader, topics in requests.items():
        request = DeleteRecordsRequest(topics.items(), _TIMEOUT_MS)
        # Sent on another connection than the producer's, so that no records wait behind it.
        response = await producer.client.send(leader, request, group=ConnectionGroup.COORDINATION)
        for topic, partitions, *_ in response.topics:
            for partition, _, code, *_ in partitions:
                if code:
                    producer.client.force_metadata_update()
                    raise for_code(code)(f"{topic}/{partition}")
