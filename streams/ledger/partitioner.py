"""The partition of a zone: Kafka's default partitioner, so that a promotion keeps all offsets."""

from __future__ import annotations

from functools import lru_cache

from recollect.streams.ledger.ledger import PARTITIONS

_M = 0x5BD1E995
_MASK = 0xFFFFFFFF


def murmur2(data: bytes) -> int:
    """Return Austin Appleby's MurmurHash2 with Kafka's seed, as an unsigned 32-bit number."""
    h = 0x9747B28C ^ len(data)
    aligned = len(data) & ~3
    for index in range(0, aligned, 4):
        k = int.from_bytes(data[index : index + 4], "little") * _M & _MASK
        h = h * _M & _MASK ^ (k ^ k >> 24) * _M & _MASK
    if tail := data[aligned:]:
        h = (h ^ int.from_bytes(tail, "little")) * _M & _MASK
    h = (h ^ h >> 13) * _M & _MASK
    return h ^ h >> 15


@lru_cache(maxsize=65_536)
def partition_of(zone: str) -> int:
    """Return the partition that a Kafka producer chooses for a zone as the key."""
    return partition_of_key(zone.encode())


def partition_of_key(key: bytes) -> int:
    """Return the partition that a Kafka producer gives to a record with this key."""
    return (murmur2(key) & 0x7FFFFFFF) % PARTITIONS
