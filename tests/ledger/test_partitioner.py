"""A zone lies in the partition where a Kafka producer would put it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.streams.ledger import PARTITIONS, partition_of
from recollect.streams.ledger.partitioner import murmur2

# From Kafka's own UtilsTest.testMurmur2, as the signed numbers of Java.
VECTORS = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


def signed(number: int) -> int:
    return number - 2**32 if number >= 2**31 else number


@pytest.mark.parametrize(("data", "expected"), VECTORS.items())
def test_murmur2_gives_what_kafka_publishes(data: bytes, expected: int) -> None:
    assert signed(murmur2(data)) == expected


def int32(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def as_java(data: bytes) -> int:
    """Kafka's Utils.murmur2 line by line: signed ints that wrap, `>>>` by way of 64 bits."""
    m, r = 0x5BD1E995, 24
    h = int32(int32(0x9747B28C) ^ len(data))
    for i in range(len(data) // 4):
        k = int32(
            (data[i * 4] & 0xFF)
            + ((data[i * 4 + 1] & 0xFF) << 8)
            + ((data[i * 4 + 2] & 0xFF) << 16)
            + ((data[i * 4 + 3] & 0xFF) << 24)
        )
        k = int32(k * m)
        k = int32(k ^ ((k % 2**32) >> r))
        k = int32(k * m)
        h = int32(h * m)
        h = int32(h ^ k)
    tail = len(data) & ~3
    left = len(data) % 4
    if left == 3:
        h = int32(h ^ int32(data[tail + 2] << 16))
    if left >= 2:
        h = int32(h ^ int32(data[tail + 1] << 8))
    if left >= 1:
        h = int32(h ^ data[tail])
        h = int32(h * m)
    h = int32(h ^ ((h % 2**32) >> 13))
    h = int32(h * m)
    return int32(h ^ ((h % 2**32) >> 15))


@pytest.mark.parametrize(("data", "expected"), VECTORS.items())
def test_the_oracle_gives_it_too(data: bytes, expected: int) -> None:
    assert as_java(data) == expected


@given(st.binary(max_size=70))
@example(b"")
@example(b"\xff" * 7)
def test_murmur2_is_the_java_method(data: bytes) -> None:
    assert signed(murmur2(data)) == as_java(data)


@given(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", fullmatch=True))
def test_the_partition_is_that_of_the_default_partitioner(zone: str) -> None:
    assert partition_of(zone) == (as_java(zone.encode()) & 0x7FFFFFFF) % 12
    assert 0 <= partition_of(zone) < PARTITIONS


def test_the_number_of_partitions_is_fixed_for_ever() -> None:
    assert PARTITIONS == 12


def test_the_partitions_of_some_zones_are_what_they_were() -> None:
    """A ledger that exists has its zones there."""
    zones = ("default", "a", "tenant-1", "acme.eu")
    assert [partition_of(zone) for zone in zones] == [7, 4, 7, 2]
